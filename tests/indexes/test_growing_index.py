"""The first answers about a project: files that are not indexed yet are searched directly."""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.errors import WordsMissing
from dowse.indexes import growing_index, project_search
from dowse.indexes.document_search import DocumentQuery, find_documents
from dowse.indexes.first_search import prepare_index
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import ExactQuery, coverage, find_all_now, search, search_now
from dowse.searching.direct_index import DirectIndex
from dowse.searching.joined_store import JoinedStore
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import Answer, SearchOptions
from dowse.store import lexical_follower
from dowse.store.lexical import LexicalIndex
from dowse.system.platform import Lock
from dowse.types import Entry, Scored, TextQuery, View
from tests.end_to_end.security.fake_secrets import GITHUB
from tests.sample_data import damaged_words, make_words_older, write_tree

FILES = {
    "package.json": "{}\n",
    ".gitignore": "ignored/\n",
    ".env": "APPLE_TOKEN=1\n",
    "ignored/apple.py": "apple = 1\n",
    "src/apple.py": "def apple():\n    return 'red'\n",
    "src/pear.py": "def pear():\n    return 'green'\n",
    "docs/fruit.md": "# Fruit\n\nAn apple a day.\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProjectIndex:
    monkeypatch.setattr(growing_index, "FIRST_ANSWER_SECONDS", 0.0)
    monkeypatch.setattr(growing_index, "FIRST_HITS_SECONDS", 0.0)
    return ProjectIndex(write_tree(tmp_path / "project", FILES))


@contextlib.contextmanager
def being_indexed(project: ProjectIndex) -> Iterator[None]:
    project.folder.mkdir(parents=True, exist_ok=True)
    with Lock(project.folder / "index.lock").held(1.0):
        yield


def update_all(project: ProjectIndex) -> None:
    project.update()
    while project.drift().pending:  # the files were read in the same clock tick in which they were written
        time.sleep(0.01)
        project.update()


def ask(project: ProjectIndex, text: str, **options: object) -> Answer:
    return search_now(project, parse_search_query(text), SearchOptions(**options))  # type: ignore[arg-type]


def paths(answer: Answer) -> list[str]:
    return [hit.path for hit in answer.hits]


def test_files_are_read_before_the_first_question_until_it_comes(project: ProjectIndex) -> None:
    """A server that resumed a killed build searched once for itself, and the first question waited for that."""
    update_all(project)
    write_tree(project.root, {f"new/{number}.py": f"def banana_{number}(): ...\n" for number in range(4)})
    project.whole.set_fact("state", "running")
    searched, calls = list[ProjectIndex](), iter([False, False, True])
    assert prepare_index(project, None, searched.append, lambda: next(calls))
    assert not searched
    kept = project.kept_files()
    read = [path for path in sorted(project.root.glob("new/*")) if f"new/{path.name}" in kept._files]
    assert len(read) == 2
    with being_indexed(project):
        assert len(ask(project, "banana").hits) == 4
    project.whole.set_fact("state", "complete")
    assert prepare_index(project, None, searched.append)
    assert searched == [project]


def test_before_anything_is_indexed_all_files_are_searched(project: ProjectIndex) -> None:
    with being_indexed(project):
        found = ask(project, "apple")
        covered = coverage(project, 0, found.searched)
    assert paths(found) == ["src/apple.py", "docs/fruit.md"]
    assert all(hit.is_direct for hit in found.hits)
    assert (covered.files, covered.direct, covered.expected, covered.is_indexing) == (0, 5, 5, True)
    assert not covered.is_complete
    assert found.methods == {"words": 1.0}


def test_a_large_index_answers_as_it_is_while_it_is_updated(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each search of 50,000 files walked through all of them for as long as a run lasted."""
    project.update()
    (project.root / "src" / "apple_tart.py").write_text("def apple_tart(): ...\n", encoding="utf-8")
    with being_indexed(project):
        assert "src/apple_tart.py" in paths(ask(project, "apple tart"))
        monkeypatch.setattr(growing_index, "MAX_WALKED_FILES", 4)
        monkeypatch.setattr(project.source, "entries", lambda *_: pytest.fail("the files were walked through"))
        found = ask(project, "apple")
        covered = coverage(project, 0, found.searched)
    assert paths(found) == ["src/apple.py", "docs/fruit.md"]
    assert covered.is_indexing
    assert not covered.is_complete


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"kind": "docs"}, ["docs/fruit.md"]),
        ({"kind": "code"}, ["src/apple.py"]),
        ({"path_glob": "src/**"}, ["src/apple.py"]),
        ({"language": "Python"}, ["src/apple.py"]),
        ({"limit": 1}, ["src/apple.py"]),
    ],
)
def test_the_filters_of_a_search_hold_for_files_that_are_not_indexed(
    project: ProjectIndex, options: dict[str, object], expected: list[str]
) -> None:
    with being_indexed(project):
        assert paths(ask(project, "apple", **options)) == expected


def test_what_the_policy_denies_is_not_searched_directly(project: ProjectIndex) -> None:
    with being_indexed(project):
        for query in ("APPLE_TOKEN", "ignored apple", ".env"):
            assert not {".env", "ignored/apple.py"} & set(paths(ask(project, query)))


def test_secrets_of_files_that_are_searched_directly_are_masked(project: ProjectIndex) -> None:
    write_tree(project.root, {"src/plum.py": f"def plum():\n    return '{GITHUB}'\n"})
    with being_indexed(project):
        (hit,) = [hit for hit in ask(project, "plum").hits if hit.path == "src/plum.py"]
    assert hit.is_direct
    assert "[masked: github-pat]" in hit.passages[0].text
    assert GITHUB not in hit.passages[0].text


def test_files_are_searched_beside_those_that_are_indexed(project: ProjectIndex) -> None:
    project.update()
    more = {f"new/apple_{number}.py": f"def apple_{number}(): ...\n" for number in range(2)}
    write_tree(project.root, {**more, "src/pear.py": "def apple_pear(): ...\n"})
    with being_indexed(project):
        found = ask(project, "apple")
        covered = coverage(project, 0, found.searched)
    direct = {hit.path: hit.is_direct for hit in found.hits}
    assert {path for path, is_direct in direct.items() if is_direct} >= {
        "new/apple_0.py",
        "new/apple_1.py",
        "src/pear.py",
    }
    assert "docs/fruit.md" in direct
    assert covered.files + covered.direct == covered.expected == 7
    assert [hit.passages[0].text for hit in found.hits if hit.path == "src/pear.py"] == ["def apple_pear(): ..."]


def test_an_index_that_lacks_most_files_takes_part_and_is_ranked_with_them(project: ProjectIndex) -> None:
    """Hits of the index and of files were ranked by statistics of their own: one kind came before all of the other."""
    update_all(project)
    others = {f"new/m{number}.py": f"def apple_{number}():\n    return pear\n" for number in range(20)}
    write_tree(project.root, others)
    with being_indexed(project):
        found = ask(project, "apple red", limit=50)
        covered = coverage(project, 0, found.searched)
    assert (found.hits[0].path, found.hits[0].is_direct) == ("src/apple.py", False)
    assert (covered.files, covered.direct) == (5, 20)


def test_a_file_has_the_same_score_in_the_index_and_beside_it(project: ProjectIndex) -> None:
    write_tree(project.root, {f"src/m{number}.py": "def other():\n    return 'green'\n" for number in range(30)})
    project.update()
    query = TextQuery(("apple", "red"), {"parts": 0.9, "words": 0.45})
    alone = project.store.find_chunks(query, 10)
    write_tree(project.root, {"src/apple2.py": FILES["src/apple.py"]})
    entries = [one for one in project.source.entries() if isinstance(one, Entry) and one.path == "src/apple2.py"]
    files = DirectIndex(entries, project.source.read, parse_search_query("apple red"), 60)
    both = JoinedStore.beside(project.store, files).find_chunks(query, 10)
    assert both[0].score == pytest.approx(both[1].score, rel=1e-4)
    assert {both[0].id > 0, both[1].id > 0} == {True, False}
    assert both[0].score < alone[0].score  # the words are less rare than they were


def test_a_file_is_as_near_in_meaning_beside_the_index_as_in_it(project: ProjectIndex) -> None:
    """Files that had just changed had no vectors: of 18 that answer, most were pushed back by others that were near."""
    update_all(project)
    table = project.table()
    assert table is not None
    vector = table.encode_query("which fruit is red")
    stored = project.store.nearest(table.version, vector, 10, kind="code")
    write_tree(project.root, {"src/apple.py": FILES["src/apple.py"] + "\n"})
    seen = list[JoinedStore]()

    def ask_near(files: object) -> list[Scored]:
        assert isinstance(files, JoinedStore)
        seen.append(files)
        return files.nearest(table.version, vector, 10, kind="code")

    with being_indexed(project):
        query = parse_search_query("which fruit is red")
        beside, _ = growing_index.search_growing_index(project, query, SearchOptions(), ask_near, bool)
    assert [hit.score for hit in beside] == pytest.approx([hit.score for hit in stored], abs=0.02)
    assert sum(hit.document_id < 0 for hit in beside) == 1
    assert 0.0 < seen[0].stored_share < 1.0


def test_files_whose_words_are_not_in_the_index_after_a_kill_are_searched_directly(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was killed left files in the catalog alone: they counted as indexed, and their words were not found."""
    update_all(project)
    monkeypatch.setattr(lexical_follower, "QUICK_DOCUMENTS", 0)

    def die(*_: object) -> None:
        raise SystemExit

    write_tree(project.root, {f"new/{number}.py": f"def banana_{number}(): ...\n" for number in range(4)})
    with monkeypatch.context() as killed:
        killed.setattr(LexicalIndex, "write", die)
        with pytest.raises(SystemExit):
            project.update()
    again = ProjectIndex(project.root)
    found = ask(again, "banana")
    covered = coverage(again, 0, found.searched)
    assert (sorted(paths(found)), found.unknown) == ([f"new/{number}.py" for number in range(4)], ())
    assert (covered.files, covered.direct, covered.expected) == (5, 4, 9)
    assert not covered.is_complete


def test_no_word_is_called_unknown_while_files_are_not_read(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    with being_indexed(project):
        assert ask(project, "apple zebra").unknown == ("zebra",)
        monkeypatch.setattr(growing_index, "DIRECT_SECONDS", 0.0)
        found = ask(project, "apple zebra")
    assert (found.searched.unread, found.unknown) == (5, ())


def test_an_index_that_is_complete_in_time_answers_alone(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing_index, "FIRST_ANSWER_SECONDS", 60.0)
    run = threading.Thread(target=ProjectIndex(project.root).update)
    with being_indexed(project):
        run.start()
    found = ask(project, "apple")
    run.join()
    assert paths(found) == ["src/apple.py", "docs/fruit.md"]
    assert (found.searched.direct, found.hits[0].is_direct) == (0, False)


def test_meaning_alone_waits_for_the_first_indexed_files(project: ProjectIndex) -> None:
    project.update()
    with being_indexed(project):
        assert ask(project, "apple", mode="vector").searched.direct == 0


def test_a_small_project_is_indexed_before_its_first_answer(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_search, "start_in_background", lambda _command: pytest.fail("it is small"))
    found, covered = search(project, "apple", SearchOptions())
    assert (covered.is_complete, found.searched.direct) == (True, 0)


def test_many_changed_files_are_searched_directly_while_they_are_indexed_in_the_background(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    update_all(project)
    started: list[list[str]] = []
    monkeypatch.setattr(project_search, "start_in_background", started.append)
    monkeypatch.setattr(project_search, "AT_ONCE_FILES", 2)
    write_tree(project.root, {f"many/{number}.py": f"banana_{number} = 1\n" for number in range(3)})
    found, covered = search(project, "banana", SearchOptions())
    assert (len(started), sorted(paths(found))) == (1, ["many/0.py", "many/1.py", "many/2.py"])
    assert (covered.files, covered.direct, covered.is_indexing) == (5, 3, True)


def test_a_large_index_of_an_older_format_is_built_again_behind_the_answer(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first search after an update of dowse waited for the words of 140,000 chunks: 218 s."""
    documents = project.seen_as(View.DOCUMENTS)
    for one in (project, documents):
        one.update()
    started: list[list[str]] = []
    monkeypatch.setattr(project_search, "start_in_background", started.append)
    monkeypatch.setattr(lexical_follower, "QUICK_DOCUMENTS", 0)
    make_words_older(project.folder)
    assert paths(ask(project, "apple")) == ["src/apple.py", "docs/fruit.md"]
    found, covered = search(project, "apple", SearchOptions())
    assert (len(started), found.searched.direct, covered.direct, covered.is_indexing) == (1, 5, 5, True)
    by_title = find_documents(documents, DocumentQuery(parse_search_query("fruit")))
    assert ([one.document.path for one in by_title.matches.found], by_title.coverage.files) == (["docs/fruit.md"], 0)
    with pytest.raises(WordsMissing):
        ask(project, "apple", mode="vector")
    project.update()
    assert ask(project, "apple").searched.direct == 0
    assert not project.whole.check()


def test_damage_that_a_query_meets_is_left_to_the_next_run(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.update()
    monkeypatch.setattr(lexical_follower, "QUICK_DOCUMENTS", 0)

    with damaged_words():
        assert paths(ask(project, "apple")) == ["src/apple.py", "docs/fruit.md"]
    assert project.whole.has_backlog()
    project.update()
    assert ask(project, "apple").searched.direct == 0


@pytest.mark.parametrize("is_begun", [False, True])
def test_an_exact_text_is_counted_in_every_file_while_the_index_grows(project: ProjectIndex, is_begun: bool) -> None:
    """Files that were not indexed yet were left out: 0 matches were reported where grep has 30."""
    if is_begun:
        project.update()
        write_tree(project.root, {"src/pear.py": "apple = 'apple'\n", "new/more.py": "\napple\n"})
    with being_indexed(project):
        found, covered = find_all_now(project, ExactQuery("apple", SearchOptions(100), 10.0))
        only = find_all_now(project, ExactQuery("apple", SearchOptions(100, path_glob="src/**"), 10.0))[0]
    expected = [("docs/fruit.md", 3), ("src/apple.py", 1)]
    if is_begun:
        expected = [("docs/fruit.md", 3), ("new/more.py", 2), ("src/apple.py", 1), ("src/pear.py", 1)]
    assert [(one.path, one.line) for one in found.found] == expected
    assert (found.total, found.is_complete, covered.is_complete) == (len(expected) + is_begun, True, True)
    assert {one.path.partition("/")[0] for one in only.found} == {"src"}


def test_an_exact_text_is_not_looked_for_in_files_that_the_policy_refuses_by_their_content(
    project: ProjectIndex,
) -> None:
    """A binary file with a text's name counted until the index had read it."""
    (project.root / "src" / "blob.txt").write_bytes(b"apple\0apple\n")
    with being_indexed(project):
        found = find_all_now(project, ExactQuery("apple", SearchOptions(100), 10.0))[0]
    project.update()
    later = find_all_now(project, ExactQuery("apple", SearchOptions(100), 10.0))[0]
    assert [one.path for one in found.found] == [one.path for one in later.found] == ["docs/fruit.md", "src/apple.py"]


DOCUMENTS = {
    "guide.md": "---\ntitle: Growing apples\n---\n\nWater them.\n",
    "pears.md": "Pears\n=====\n\nA pear is no apple.\n",
    "page.html": "<html><head><title>Orchards</title></head><body><p>Apples &amp; pears.</p></body></html>",
    "plain.txt": "Apples in plain text\n\nMore.\n",
    "code.py": "apple = 1\n",
    "book.pdf": "%PDF-1.4 apple",
}


def test_an_exact_text_is_found_in_converted_documents_before_they_are_indexed(tmp_path: Path) -> None:
    notebook = {"cells": [{"cell_type": "markdown", "source": "# Apples & pears"}], "metadata": {}, "nbformat": 4}
    files = {**DOCUMENTS, "notes.ipynb": json.dumps(notebook)}
    index = ProjectIndex(write_tree(tmp_path / "documents", files), View.DOCUMENTS)
    query = ExactQuery("pples & pears", SearchOptions(100), 60.0)
    with being_indexed(index):
        found, covered = find_all_now(index, query)
        again = find_all_now(index, query)[0]
    index.update()
    later = find_all_now(index, query)[0]
    assert [(one.path, one.line, one.text) for one in found.found] == [
        (one.path, one.line, one.text) for one in later.found
    ]
    assert (found.total, again.total, {one.path for one in found.found}) == (2, 2, {"notes.ipynb", "page.html"})
    assert (found.is_complete, covered.is_complete, covered.expected) == (True, True, 6)


def test_documents_are_searched_before_they_are_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_index, "FIRST_ANSWER_SECONDS", 0.0)
    index = ProjectIndex(write_tree(tmp_path / "documents", DOCUMENTS), View.DOCUMENTS)
    with being_indexed(index):
        found = find_documents(index, DocumentQuery(parse_search_query("apples")))
        only = find_documents(index, DocumentQuery(parse_search_query("apples"), extensions=frozenset({".html"})))
        titles = find_documents(index, DocumentQuery(parse_search_query("apples"), place="title"))
    matches = {one.document.path: (one.document.title, one.place) for one in found.matches.found}
    index.update()
    indexed = find_documents(index, DocumentQuery(parse_search_query("apples"))).matches.found
    assert matches == {one.document.path: (one.document.title, one.place) for one in indexed}
    assert next(iter(matches)) in ("guide.md", "plain.txt")
    assert matches["pears.md"] == ("Pears", "content")
    assert matches["page.html"] == ("Orchards", "content")
    assert found.matches.total == 4
    assert (found.coverage.direct, found.coverage.expected, found.coverage.is_complete) == (4, 5, False)
    (page,) = only.matches.found
    assert page.passage
    assert page.passage.text == "Apples & pears."
    assert {one.document.path for one in titles.matches.found} == {"guide.md", "plain.txt"}


def test_documents_that_changed_or_are_gone_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All documents of the index counted but those that happened to be listed."""
    monkeypatch.setattr(growing_index, "FIRST_ANSWER_SECONDS", 0.0)
    documents = {f"{number:02}.md": f"# Part {number}\n\nAn apple.\n" for number in range(60)}
    index = ProjectIndex(write_tree(tmp_path / "documents", documents), View.DOCUMENTS)
    update_all(index)
    write_tree(index.root, {f"{number:02}.md": "# Part\n\nA pear, and more of them.\n" for number in range(20)})
    for number in range(20, 30):
        (index.root / f"{number:02}.md").unlink()
    with being_indexed(index):
        found = find_documents(index, DocumentQuery(parse_search_query("apple"), limit=3))
    assert (found.matches.total, len(found.matches.found)) == (30, 3)
    assert (found.coverage.files, found.coverage.direct, found.coverage.expected) == (30, 20, 50)


def test_hits_of_files_that_are_gone_do_not_take_the_places_of_others(project: ProjectIndex) -> None:
    gone = {f"old/{number}.py": "def apple(): ...  # apple apple\n" for number in range(400)}
    write_tree(project.root, gone)
    update_all(project)
    for path in gone:
        (project.root / path).unlink()
    with being_indexed(project):
        found = ask(project, "apple")
        covered = coverage(project, 0, found.searched)
    assert paths(found) == ["src/apple.py", "docs/fruit.md"]
    assert (covered.files, covered.direct, covered.expected) == (5, 0, 5)


def test_the_definitions_of_the_best_files_are_those_of_a_parser(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing_index, "PARSED_SECONDS", 60.0)
    calls = {f"src/Caller{number}.java": f"class C{number} {{ {'peelApple(); ' * 9}}}\n" for number in range(5)}
    definition = "class Peeler {\n    String peelApple(\n        Apple apple) {\n        return null;\n    }\n}\n"
    write_tree(project.root, {**calls, "src/Peeler.java": definition})
    with being_indexed(project):
        found = ask(project, "peelApple")
    assert paths(found)[0] == "src/Peeler.java"
    assert "definition" in found.hits[0].signals
    update_all(project)
    assert paths(ask(project, "peelApple"))[0] == "src/Peeler.java"


def test_stored_chunks_are_searched_before_their_words_can_be(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(project.root, {"src/Peeler.java": "class Peeler {\n    String peelApple(\n        Apple apple) {}\n}\n"})
    update_all(project)
    monkeypatch.setattr(growing_index, "parse_within", lambda *_: ())
    monkeypatch.setattr(growing_index, "has_words", lambda _: False)
    with being_indexed(project):
        found = ask(project, "peelApple")
        assert "definition" in found.hits[0].signals
        write_tree(project.root, {"src/Peeler.java": "// String peelApple(\n"})
        found = ask(project, "peelApple")
        assert paths(found)[0] == "src/Peeler.java"
        assert "definition" not in found.hits[0].signals
