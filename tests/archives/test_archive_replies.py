"""The graph in other formats, read by other programs."""

import json
import re

import networkx as nx  # type: ignore[import-untyped]
import pytest

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_replies import as_bibtex, as_graphml
from dowse.archives.citation_graph import whole_graph
from tests.archives.sample_archives import HOSTILE, captured_page, make_database


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> ArchiveDatabase:
    """Every hostile text as the title of a report that cites the next one, and of a captured page."""
    count = len(HOSTILE)
    research = {
        f"{n}.md": f"---\ntitle: {json.dumps(title)}\ndate: 2025-01-{n % 28 + 1:02}\n---\n[next]({(n + 1) % count}.md)\n{title}\n"
        for n, title in enumerate(HOSTILE)
    }
    pages = {f"p{n}": captured_page(f"https://e.org/{n}", title, "[x](/0)") for n, title in enumerate(HOSTILE)}
    return make_database(tmp_path_factory.mktemp("hostile"), research, pages)


def test_graphml_is_read_by_networkx(database: ArchiveDatabase) -> None:
    graph = whole_graph(database)
    read = nx.parse_graphml(as_graphml(graph))
    assert set(read.nodes) == {node.document.id for node in graph.nodes}
    assert set(read.edges) == {(edge.source, edge.target) for edge in graph.edges}
    titles = {node.document.title for node in graph.nodes}
    labels = {title for title in titles if title.isascii() and title.isprintable()}
    assert labels <= {label for _, label in read.nodes(data="label")}


def test_bibtex_has_every_document(database: ArchiveDatabase) -> None:
    documents = list(database.documents().values())
    text = as_bibtex(documents)
    assert len(re.findall(r"^@(?:misc|online)\{doc-", text, re.MULTILINE)) == len(documents)
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
