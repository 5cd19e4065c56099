"""One index of a root serves its project and its documents; the documents change no reply about the project."""

import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from dowse.cli.composition import ComposedServer, Offer
from dowse.indexes.document_search import DocumentQuery, find_documents
from dowse.indexes.index import ProjectIndex
from dowse.keeping.served_index import Service
from dowse.searching.query_terms import parse_search_query
from dowse.sources.project_files import ProjectFiles
from dowse.types import Entry, View
from mcp import Client
from tests.sample_data import index, write_tree

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
FILES = {
    "src/orchard.py": "def prune_apple_tree(tree):\n    '''Prune a tree in winter.'''\n    return tree\n",
    "src/harvest.py": "def harvest(tree, basket):\n    return basket + tree.apples\n",
    "README.md": "---\ntitle: The orchard\n---\n# Orchard\n\nPrune the apple tree in winter, harvest in autumn.\n",
    "docs/pruning.md": "# Pruning\n\nCut above a bud. See [grafting](grafting.html).\n\n## Tools\n\nSecateurs and a saw.\n",
    "docs/grafting.html": "<html><head><title>Grafting</title></head><body><h1>Grafting</h1><p>Join two trees.</p></body></html>",
    "docs/storing.rst": "Storing\n=======\n\nKeep apples cool, in a basket.\n",
    "docs/pests.adoc": "= Pests\n\nThe codling moth eats apples.\n",
    "docs/notebook.ipynb": '{"cells": [{"cell_type": "markdown", "source": ["# Yield of apples"]}], "nbformat": 4}',
    "docs/page.mdx": "# Cider\n\n<Note>Press the apples twice.</Note>\n",
    "memo.txt": "Buy secateurs\nand a ladder\n",
    "CMakeLists.txt": "project(orchard)\nadd_library(apple apple.c)\n",
    ".github/CONTRIBUTING.md": "# Contributing\n\nPrune before you plant an apple tree.\n",
}
QUERIES = ("prune apple tree", "apples basket", "secateurs", "aple tre grafting")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "orchard", FILES)
    with zipfile.ZipFile(root / "plan.docx", "w") as package:
        paragraph = "<w:p><w:r><w:t>Plant twenty apple trees.</w:t></w:r></w:p>"
        package.writestr("word/document.xml", f'<w:document xmlns:w="{WORD}"><w:body>{paragraph}</w:body></w:document>')
    return root


def update(root: Path, *views: View) -> None:
    for view in views:
        index(root, view=view)


def replies(root: Path) -> list[Any]:
    """Return the replies of `search_code` and `search_docs` to all queries, without their times."""

    async def ask() -> list[Any]:
        found = []
        server = ComposedServer(Service([root]), root, Offer(("code",))).server()
        async with Client(server) as client:
            for tool in ("search_code", "search_docs"):
                for query in QUERIES:
                    content = (await client.call_tool(tool, {"query": query})).structured_content or {}
                    found.append({key: value for key, value in content.items() if key != "searchTimeMs"})
        return found

    return anyio.run(ask)


def forget(root: Path) -> None:
    shutil.rmtree(ProjectIndex(root).folder)


def documents(root: Path, query: str, **options: Any) -> list[str]:
    index = ProjectIndex(root, View.DOCUMENTS)
    found = find_documents(index, DocumentQuery(parse_search_query(query), **options)).matches
    index.close()
    return [one.document.path for one in found.found]


@pytest.mark.parametrize(
    "views",
    [(View.PROJECT, View.DOCUMENTS), (View.DOCUMENTS, View.PROJECT), (View.BOTH,)],
    ids=["documents later", "documents first", "in one pass"],
)
def test_documents_change_no_reply_about_the_project(root: Path, views: tuple[View, ...]) -> None:
    changes = {
        "docs/grafting.html": "<title>Budding</title><p>A bud and an apple tree.</p>",
        "memo.txt": "Sell apples\n",
    }
    update(root, View.PROJECT)
    expected = replies(root)
    assert sum(bool(reply["results"]) for reply in expected) > len(QUERIES)
    write_tree(root, changes)
    update(root, View.PROJECT)
    expected_later = replies(root)
    forget(root)
    write_tree(root, {path: FILES[path] for path in changes})
    update(root, *views)
    assert replies(root) == expected
    write_tree(root, changes)
    update(root, View.PROJECT)
    assert replies(root) == expected_later


def test_documents_are_found_the_same_with_and_without_the_project(root: Path) -> None:
    update(root, View.DOCUMENTS)
    alone = [documents(root, query) for query in QUERIES]
    update(root, View.PROJECT)
    assert [documents(root, query) for query in QUERIES] == alone
    assert documents(root, "plant twenty") == ["plan.docx"]


def test_each_file_is_stored_once_for_each_way_it_is_shown(root: Path) -> None:
    update(root, View.BOTH)
    index = ProjectIndex(root)
    shown = {path: [document.views for document in index.whole.documents_at(path)] for path in index.whole.paths()}
    both, twice = [View.BOTH], [View.PROJECT, View.DOCUMENTS]
    assert shown == {
        ".github/CONTRIBUTING.md": [View.PROJECT],
        "CMakeLists.txt": twice,
        "README.md": both,
        "docs/grafting.html": twice,
        "docs/notebook.ipynb": twice,
        "docs/page.mdx": twice,
        "docs/pests.adoc": twice,
        "docs/pruning.md": both,
        "docs/storing.rst": twice,
        "memo.txt": both,
        "plan.docx": both,
        "src/harvest.py": [View.PROJECT],
        "src/orchard.py": [View.PROJECT],
    }
    assert index.check() == []
    index.close()


def test_a_root_with_documents_is_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = ProjectFiles.read

    def note(files: ProjectFiles, entry: Entry) -> Any:
        read.append(entry.path)
        return original(files, entry)

    monkeypatch.setattr(ProjectFiles, "read", note)
    update(root, View.BOTH)
    assert sorted(read) == sorted([*FILES, "plan.docx"])


def test_an_index_of_documents_is_none_of_a_project(root: Path) -> None:
    update(root, View.DOCUMENTS)
    index = ProjectIndex(root)
    assert index.has_catalog
    assert not index.exists
    assert index.status().state == "not_found"
    assert index.seen_as(View.DOCUMENTS).status().state == "ready"
    assert "src/orchard.py" not in index.whole.paths()
    index.close()


def test_a_rebuild_keeps_the_views(root: Path) -> None:
    update(root, View.BOTH)
    index = ProjectIndex(root)
    index.rebuild()
    assert index.whole.views() is View.BOTH
    index.close()
    assert documents(root, "grafting") == ["docs/grafting.html", "docs/pruning.md"]


def test_an_index_whose_catalog_was_lost_gets_its_views_back(root: Path) -> None:
    update(root, View.BOTH)
    for file in ProjectIndex(root).folder.glob("catalog.sqlite*"):
        file.unlink()
    update(root, View.PROJECT)
    assert documents(root, "grafting") == ["docs/grafting.html", "docs/pruning.md"]


def test_a_view_that_another_process_adds_is_kept_by_this_one(root: Path) -> None:
    """A process that has compared the files for the project alone must not remove the documents."""
    update(root, View.PROJECT)
    ours = ProjectIndex(root)
    (root / "docs/grafting.html").write_text("<title>Budding</title><p>Join a bud.</p>", encoding="utf-8")
    drift = ours.drift()
    ours.whole.begin_work()
    update(root, View.DOCUMENTS)
    ours.apply(drift)
    assert [document.views for document in ours.whole.documents_at("docs/grafting.html")] == [
        View.PROJECT,
        View.DOCUMENTS,
    ]
    assert ours.check() == []
    ours.close()


def test_an_index_that_another_process_replaces_is_seen_after_the_moment_of_an_answer(root: Path) -> None:
    update(root, View.PROJECT)
    with closing(ProjectIndex(root)) as ours, closing(ProjectIndex(root)) as theirs:
        before = ours.whole.catalog.id
        with ours.at_one_moment():
            theirs.rebuild()
            assert ours.whole.catalog.id == before
            ours.look_again()
            assert ours.whole.catalog.id == theirs.whole.catalog.id != before
        with ours.at_one_moment():
            held = ours.whole.catalog.sequence()
            (root / "src/new.py").write_text("def graft(): pass\n", encoding="utf-8")
            theirs.reindex(["src/new.py"])
            assert ours.whole.catalog.sequence() == held != theirs.whole.catalog.sequence()
            ours.reindex([])  # as a search does that meets a file that has changed
            assert ours.whole.catalog.sequence() == theirs.whole.catalog.sequence()
        assert ours.whole.document("src/new.py")


def test_the_moment_of_an_answer_is_of_one_thread_and_ends_with_a_deleted_index(root: Path) -> None:
    update(root, View.PROJECT)
    with closing(ProjectIndex(root)) as ours, ThreadPoolExecutor(1) as pool:
        assert ours.exists
        with ours.at_one_moment():
            forget(root)
            assert ours.has_catalog
            assert not pool.submit(lambda: ours.has_catalog).result()
        assert not ours.exists


def test_a_word_only_in_the_title_of_the_front_matter_is_not_content(root: Path) -> None:
    write_tree(root, {"zebra.md": "---\ntitle: >-\n  About\n  zebras\ntags: [striped]\n---\n# Horses\n\nThey run.\n"})
    update(root, View.DOCUMENTS)
    assert documents(root, "zebras", place="content") == []
    assert documents(root, "zebras", place="title") == documents(root, "zebras") == ["zebra.md"]
    assert documents(root, "striped", place="content") == ["zebra.md"]


def test_meaning_answers_only_where_no_word_matches(root: Path) -> None:
    write_tree(root, {"foxes.html": "<title>Foxes</title><p>Foxes hunt mice at night in winter.</p>"})
    update(root, View.DOCUMENTS)
    index = ProjectIndex(root, View.DOCUMENTS)

    def ask(text: str) -> Any:
        return find_documents(index, DocumentQuery(parse_search_query(text))).matches

    found = ask("predators catching rodents after dark")
    assert found.total == 0
    assert [(one.document.path, one.place) for one in found.found] == [("foxes.html", "meaning")]
    assert {one.place for one in ask("codling predators").found} == {"content"}
    assert ask("xqzvw").found == ask("+predators +rodents").found == ask("predators -dark").found == []
    index.close()
