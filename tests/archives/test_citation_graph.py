"""Walks along citations, against networkx and a naive reference."""

import tempfile
from pathlib import Path

import networkx as nx  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.citation_graph import broken_links, graph_from, most_cited, most_cited_unarchived, whole_graph
from dowse.errors import StoreDamaged
from tests.archives.sample_archives import captured_page, document_titled, make_database

NUMBERS = st.integers(0, 9)
EDGES = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=30)


def notes(edges: list[tuple[int, int]], count: int = 10) -> dict[str, str]:
    return {
        f"{n}.md": f"# D{n}\n\n" + " ".join(f"[x]({target}.md)" for source, target in edges if source == n) + "\n"
        for n in range(count)
    }


def numbered(database: ArchiveDatabase) -> dict[str, int]:
    return {document.title: document.number for document in database.documents().values()}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edges=EDGES, starts=st.lists(NUMBERS, min_size=1, max_size=3, unique=True), depth=st.integers(1, 3))
def test_a_walk_reaches_what_a_naive_one_reaches(edges: list[tuple[int, int]], starts: list[int], depth: int) -> None:
    reference = nx.DiGraph([(source, target) for source, target in edges if source != target])
    reference.add_nodes_from(range(10))
    distances = nx.multi_source_dijkstra_path_length(reference.to_undirected(), set(starts))
    near = {node for node, distance in distances.items() if distance <= depth}
    followed = {
        (f"D{source}", f"D{target}")
        for source, target in reference.edges
        if min(distances.get(source, 99), distances.get(target, 99)) < depth
    }
    with tempfile.TemporaryDirectory() as folder:
        database = make_database(Path(folder), notes(edges))
        numbers = numbered(database)
        found = graph_from(database, [numbers[f"D{start}"] for start in starts], depth)
        titles = {node.document.id: node.document.title for node in found.nodes}
        database.close()
    assert sorted(titles.values()) == sorted(f"D{node}" for node in near)
    assert {(titles[edge.source], titles[edge.target]) for edge in found.edges} == followed
    assert len(found.edges) == len(followed)
    for node in found.nodes:
        is_source = any(edge.source == node.document.id for edge in found.edges)
        is_target = any(edge.target == node.document.id for edge in found.edges)
        assert node.type == ("both" if is_source and is_target else "target" if is_target else "source")


def test_a_graph_that_is_too_large_is_cut_and_says_so(tmp_path: Path) -> None:
    database = make_database(tmp_path, notes([(0, n) for n in range(1, 40)], 40))
    start = numbered(database)["D0"]
    found = graph_from(database, [start], 1, max_nodes=10)
    assert len(found.nodes) == 10
    assert "30 more documents" in found.truncation
    ids = {node.document.id for node in found.nodes}
    assert all({edge.source, edge.target} <= ids for edge in found.edges)
    assert "29 more citations" in graph_from(database, [start], 1, max_edges=10).truncation
    assert len(whole_graph(database).nodes) == 40


@pytest.fixture
def database(tmp_path: Path) -> ArchiveDatabase:
    research = {
        "a.md": "# A\n\n[b](b.md) [b](b.md) [gone](gone.md) [[Nothing]] [code](x.py) https://out.org/1\n",
        "b.md": "# B\n\n[p](https://example.com/p) https://out.org/1 https://out.org/2\n",
        "c.md": "# C\n\n[b](b.md)\n",
        "x.py": "code = 1\n",
    }
    return make_database(tmp_path, research, {"p1": captured_page("https://example.com/p", "P", "One.")})


def test_what_is_cited_most_counts_documents_and_citations(database: ArchiveDatabase) -> None:
    found = [(document.title, *counts) for document, *counts in most_cited(database, 10)]
    assert found[0] == ("B", 2, 3)
    assert most_cited_unarchived(database, 1) == [("https://out.org/1", 2, 2)]


def test_broken_links_are_those_to_nothing_at_all(database: ArchiveDatabase) -> None:
    found, total = broken_links(database, 100)
    assert [(one.target_url, one.fault) for one in found] == [
        ("gone.md", "no such document"), ("[[Nothing]]", "no such document"),
    ]  # fmt: skip
    assert total == 2
    assert {one.source_id for one in found} == {document_titled(database, "A").id}


def test_a_value_of_another_type_is_damage(tmp_path: Path) -> None:
    """It once ended in a TypeError."""
    database = make_database(tmp_path, notes([(1, 2)]))
    with database.transaction() as connection:
        connection.execute("UPDATE citations SET confidence = 'three'")
    with (
        pytest.raises(StoreDamaged, match=r"citations\.confidence have another type"),
        database.odd_values_are_damage(),
    ):
        whole_graph(database)
