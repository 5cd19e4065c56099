"""Searches of a real index of real files: the hits, the passages, and that they match the files."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dowse.errors import UsageError
from dowse.indexes.index import ProjectIndex
from dowse.searching.candidates import QueryVector
from dowse.searching.exact_search import exact_matcher, find_occurrences
from dowse.searching.explain import explain_ranking
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import Answer, SearchOptions, search_store
from dowse.types import Stat
from tests.repository import EVAL
from tests.sample_data import open_indexed, write_tree
from tests.searching.searched_project import ask, paths
from tests.searching.test_pasted_text import FORM, JSON, TRACEBACK

if TYPE_CHECKING:
    from numpy.typing import NDArray


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("login_user", "src/auth/login.py"),
        ("loginUser", "src/auth/login.py"),
        ("where is the password checked", "src/auth/login.py"),
        ("SessionStore", "src/auth/session.py"),
        ("HTTPServer", "src/http/HTTPServer.java"),
        ("http server", "src/http/HTTPServer.java"),
        ("start listening", "src/http/HTTPServer.java"),
        ("src/auth/session.py", "src/auth/session.py"),
        ("session.py", "src/auth/session.py"),
        ("tests for login", "tests/test_login.py"),
        ("error handling", "docs/guide.md"),
        ("検索", "docs/日本語.md"),
        ("café", "docs/french.txt"),
        ("8080", "data/numbers.txt"),
        ("erors retried", "docs/guide.md"),
    ],
)
def test_the_file_that_is_meant_comes_first(project: ProjectIndex, query: str, first: str) -> None:
    assert paths(ask(project, query))[0] == first


def test_a_short_question_finds_the_definition_whose_name_has_its_words(tmp_path: Path) -> None:
    """ "how are cookies parsed" led to a file that mentions cookies often, not to `parse_cookie`."""
    texts = {
        "src/wire.py": "import struct\n\n\ndef parse_cookie(header):\n    return struct.unpack(header)\n",
        "src/client.py": "def send(cookies):\n    # cookies were parsed: cookies, parsed cookies\n    return cookies\n",
    }
    project = open_indexed(write_tree(tmp_path, texts))
    assert ask(project, "how are cookies parsed").hits[0].path == "src/wire.py"


def test_documents_are_found_by_other_forms_of_a_word_and_by_whole_identifiers(tmp_path: Path) -> None:
    """A document with a word's very form came before those about it: CISI cut down to titles lost to plain BM25."""
    texts = {f"{number}.md": f"# Page {number}\n\nUnrelated text.\n" for number in range(20)}
    texts |= {
        "once.md": "# One\n\nAnother is measuring.\n",
        "about.md": "# Two\n\nMeasured, measures, to measure, measured.\n",
        "parts.md": "# Three\n\nThe time out is set; a set time, and out of time.\n",
        "name.md": "# Four\n\nCall setTimeOut.\n",
    }
    project = open_indexed(write_tree(tmp_path, texts))
    found = [ask(project, query, kind="docs").hits[0].path for query in ("what is measuring", "what is setTimeOut")]
    assert found == ["about.md", "name.md"]


def test_the_name_of_the_main_language_says_nothing(tmp_path: Path) -> None:
    files = {
        "sort.py": "def order(items):\n    return sorted(items)\n",
        "about.py": "# python, python and python\nVERSION = 1\n",
        "build.sh": "echo python\n",
    }
    project = open_indexed(write_tree(tmp_path, files))
    assert "python" in project.store.given_words()
    assert paths(ask(project, "python sorted items")) == ["sort.py"]
    assert set(paths(ask(project, "bash python"))) == {"about.py", "build.sh"}, "the other words do not occur"


@pytest.mark.parametrize("text", [TRACEBACK, FORM, JSON])
def test_pasted_text_finds_something_and_is_not_corrected(project: ProjectIndex, text: str) -> None:
    found = ask(project, f"{text}\nsessoin zeppelin -login")
    assert found.hits[0].path in ("src/auth/login.py", "src/auth/session.py")
    assert (found.corrected, found.unknown) == ({}, ())
    assert ask(project, "sessoin").corrected  # the same word, typed


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            "Wrong result\n\nIt happens in src/auth/session.py with every password of login_user.",
            "src/auth/session.py",
        ),
        (
            "HTTPServer does not listen\n\n" + "login_user opens a session for the email. " * 50,
            "src/http/HTTPServer.java",
        ),
        ("The answer is wrong\n\n" + "".join(f"word{number} " for number in range(1000)) + " 8080", "data/numbers.txt"),
    ],
)
def test_the_title_the_named_files_and_the_rarest_words_of_pasted_text_count_most(
    project: ProjectIndex, text: str, first: str
) -> None:
    assert paths(ask(project, text))[0] == first


def test_pasted_text_of_which_only_the_commonest_words_occur_finds_them(project: ProjectIndex) -> None:
    assert ask(project, "zeppelin airship\n\nis -the").hits


def test_a_rank_for_pasted_text_is_explained(project: ProjectIndex) -> None:
    placed = explain_ranking(project.store, parse_search_query(TRACEBACK), "src/auth/login.py")
    assert placed.rank == 1
    assert {"named in the text", "title, path words"} <= placed.signals.keys()


@pytest.mark.parametrize("query", ["login -user -session", "+login +zeppelin", '"login token"', "login -login"])
def test_filters_that_leave_nothing_stay_strict_and_say_what_they_left_out(project: ProjectIndex, query: str) -> None:
    found = ask(project, query)
    words = parse_search_query(query).without_filters()
    assert not found.hits
    assert found.hits_without_filters == len(ask(project, words.text).hits) > 0


def test_filters_that_leave_something_and_exclusions_alone_say_nothing_more(project: ProjectIndex) -> None:
    assert ask(project, "login -test").hits_without_filters == 0
    assert ask(project, "-login").hits_without_filters == 0


def test_a_hit_shows_lines_of_the_file_as_it_is(project: ProjectIndex) -> None:
    for hit in ask(project, "session password login").hits:
        lines = (project.root / hit.path).read_text(encoding="utf-8").splitlines()
        for passage in hit.passages:
            assert passage.text.splitlines() == lines[passage.start_line - 1 : passage.end_line]


def test_filters_hold(project: ProjectIndex) -> None:
    assert set(paths(ask(project, "login session", path_glob="src/**"))) == {"src/auth/login.py", "src/auth/session.py"}
    assert paths(ask(project, "server", language="java")) == ["src/http/HTTPServer.java"]
    assert all(path.startswith(("docs/", "data/")) for path in paths(ask(project, "error port login", kind="docs")))
    assert paths(ask(project, "errors", kind="code")) == []
    assert len(ask(project, "login session error", limit=1).hits) == 1
    with pytest.raises(UsageError, match="pattern"):
        ask(project, "x", path_glob="[")
    with pytest.raises(UsageError, match="limit"):
        ask(project, "x", limit=0)


def test_relevance_is_absolute(project: ProjectIndex) -> None:
    assert ask(project, "Error handling").hits[0].relevance >= 0.8, "an exact title"
    assert all(hit.relevance < 0.3 for hit in ask(project, "zxqvv user blarghh frobnik").hits)
    scores = [hit.relevance for hit in ask(project, "login session user email").hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_a_misspelled_word_is_taken_for_the_nearest_and_said(project: ProjectIndex) -> None:
    found = ask(project, "pasword")
    assert found.corrected == {"pasword": "password"}
    assert paths(found)[0] == "src/auth/login.py"
    assert found.hits[0].relevance < 0.8


def test_scores_tell_hits_apart_that_rank_differently(tmp_path: Path) -> None:
    # Six hits had the score of the one before them, because their lines answer better than its lines.
    files = {f"src/part{number}.py": "def bake():\n" + "    knead(dough)\n" * (number + 1) for number in range(8)}
    files["src/dough.py"] = "LIMIT = 3\n"
    project = open_indexed(write_tree(tmp_path / "bakery", files))
    scores = [hit.score for hit in ask(project, "knead the dough").hits]
    assert len(scores) > 5
    assert scores == sorted(set(scores), reverse=True)
    project.close()


def test_hits_end_where_relevance_ends_and_the_others_are_counted(tmp_path: Path) -> None:
    files = {
        "src/peel_apple.py": "def peel_apple(knife):\n    return knife.peel('apple')\n",
        "src/peel.py": "def peel(knife, apple):\n    return knife.peel(apple)\n",
        **{f"src/deep/er/m{number}.py": f"def step_{number}(x):\n    return x.apple\n" for number in range(9)},
        **{f"src/none{number}.py": "def other():\n    return 1\n" for number in range(4)},
    }
    project = open_indexed(write_tree(tmp_path / "fruit", files))
    found = ask(project, "peel_apple knife")
    with_a_word = [path for path, text in files.items() if any(word in text for word in ("peel", "apple", "knife"))]
    assert [hit.path for hit in found.hits][:2] == ["src/peel_apple.py", "src/peel.py"]
    assert len(found.hits) == 3
    assert len(found.hits) + found.weaker == len(with_a_word)
    assert not found.has_more
    assert ask(project, "peel_apple knife", limit=2).has_more
    everything = ask(project, "peel_apple knife", limit=50, keeps_weak=True)
    assert (len(everything.hits), everything.weaker) == (len(with_a_word), 0)
    project.close()


def test_the_same_question_has_the_same_answer_in_another_opening(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWSE_HOME", str(project.folder.parents[1]))
    again = ProjectIndex(project.root)
    for query in ("login user", "session", "error"):
        first, second = ask(project, query), ask(again, query)
        assert (first.hits, first.terms) == (second.hits, second.terms)
    again.close()


def test_a_changed_file_is_never_shown_as_it_was(tmp_path: Path) -> None:
    project = open_indexed(
        write_tree(tmp_path / "p", {"a.py": "def apple(): pass\n", "b.py": "def apple_pie(): pass\n"})
    )
    write_tree(project.root, {"a.py": "def banana(): pass\n"})
    (project.root / "b.py").unlink()
    found = ask(project, "apple")
    assert found.hits == ()
    assert set(found.outdated) == {"a.py", "b.py"}


def test_a_file_that_changed_behind_an_unchanged_stat_is_not_shown(project: ProjectIndex) -> None:
    def read(path: str) -> tuple[bytes, Stat]:
        data, stat = project.source.read_bytes(path)
        return data.replace(b"login", b"LOGIN"), stat

    found = search_store(project.store, read, parse_search_query("login_user"))
    assert found.hits == ()
    assert "src/auth/login.py" in found.outdated


def test_a_file_that_was_only_touched_is_shown(tmp_path: Path) -> None:
    project = open_indexed(write_tree(tmp_path / "p", {"a.py": "def apple(): pass\n"}))
    os.utime(project.root / "a.py", ns=(1, 1))
    assert paths(ask(project, "apple")) == ["a.py"]


def test_why_names_each_signal(project: ProjectIndex) -> None:
    placed = explain_ranking(project.store, parse_search_query("login_user"), "src/auth/login.py")
    assert placed.rank == 1
    assert placed.signals["definition"] > 0
    later = explain_ranking(project.store, parse_search_query("login_user"), "tests/test_login.py")
    assert later.rank is not None
    assert later.rank > 1
    assert later.signals["test file"] < 0
    assert explain_ranking(project.store, parse_search_query("login_user"), "data/numbers.txt").rank is None
    assert explain_ranking(project.store, parse_search_query("login_user"), "no/such/file").rank is None


def hostile_strings() -> list[str]:
    own = [
        "", " ", "\0", "()", '"', "'", "*", "?", "[", "\\", "AND OR NOT", "a:b", "+-", "🙂", "the of and",
        "x" * 100_000,
    ]  # fmt: skip
    collected = EVAL / "hostile" / "blns.json"
    return [*own, *(json.loads(collected.read_text(encoding="utf-8")) if collected.is_file() else [])]


def test_no_string_as_a_query_breaks_anything(project: ProjectIndex) -> None:
    for text in hostile_strings():
        ask(project, text)
        explain_ranking(project.store, parse_search_query(text), "src/auth/login.py")
    assert project.store.check() == []


def test_hostile_contents_are_indexed_and_found(tmp_path: Path) -> None:
    strings = hostile_strings()
    files = {f"{number}.txt": text for number, text in enumerate(strings) if text.strip() and "\0" not in text}
    project = open_indexed(write_tree(tmp_path / "p", dict(files)))
    assert project.check() == []
    for number, text in list(files.items())[::7]:
        found = find_occurrences(
            project.store, project.source.read_bytes, exact_matcher(text[:200]), SearchOptions(limit=1000)
        )
        assert number in {one.path for one in found.found}


def test_a_certificate_is_found_by_its_path_or_all_words_and_a_copy_is_shown_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path / "home"))
    encoded = "\n".join(f"zebra{number:04}" + "MIIC" * 14 for number in range(40))
    code = "def stripe_zebra():\n    return 1\n"
    files = {"keys/bundle.txt": f"zebra1234\n{encoded}\n", "src/zoo.py": code, "vendor/zoo.py": code}
    project = open_indexed(write_tree(tmp_path / "project", files))
    assert paths(ask(project, "zebra1234")) == ["keys/bundle.txt"]
    assert paths(ask(project, "zebra1234 stripe")) == ["src/zoo.py"]
    assert paths(ask(project, "bundle")) == ["keys/bundle.txt"]
    assert paths(ask(project, "stripe_zebra")) == ["src/zoo.py"]


def test_a_word_that_does_not_occur_does_not_hide_the_lines_of_the_others(project: ProjectIndex) -> None:
    (hit, *_) = ask(project, "refreshed xylophonist").hits
    assert "refreshed" in hit.passages[0].text
    assert hit.relevance > 0


def test_files_that_are_likely_meant_show_more_lines(tmp_path: Path) -> None:
    steps = "".join(f"    pear_{number} = slice_fruit(knife, {number})\n" for number in range(30))
    files = {
        path: "".join(f"def peel_pear_{part}(knife, {dish}):\n{steps}    return {dish}\n\n\n" for part in range(2))
        for path, dish in (("src/pear.py", "bowl"), ("tests/test_pear.py", "plate"))
    }
    project = open_indexed(write_tree(tmp_path / "fruit", files))
    rooms = {hit.path: hit.passages[0].text.count("\n") + 1 for hit in ask(project, "peel pear knife").hits}
    assert rooms["src/pear.py"] == 32
    assert 1 < rooms["tests/test_pear.py"] < 32
    project.close()


def test_files_that_say_the_same_are_shown_once_with_the_paths_of_the_others(tmp_path: Path) -> None:
    shared = "def peel_pear(fruit):\n    skin = fruit.skin\n    skin.remove()\n    return fruit\n"
    files = {
        "a.py": shared, "copy/a.py": shared, "near.py": f"# A near copy\nLIMIT = 3\n\n\n{shared}", "other.py": "x = 1\n",
    }  # fmt: skip
    project = open_indexed(write_tree(tmp_path / "fruit", files))
    (hit,) = ask(project, "peel_pear").hits
    assert {hit.path, *hit.same_in} == {"a.py", "copy/a.py", "near.py"}
    assert ask(project, "peel_pear", detail="outline").hits[0].passages[0].text == "def peel_pear(fruit):"
    project.close()


class Letters:
    """A small but real encoder: texts with the same letters point the same way."""

    version, dimensions = "letters-1", 26

    def encode(self, texts: Sequence[str], kind: str = "docs") -> "NDArray[np.float32]":
        rows = np.array([[text.lower().count(chr(97 + at)) for at in range(26)] for text in texts], dtype=np.float32)
        unit: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return unit


@pytest.fixture
def animals(tmp_path: Path) -> ProjectIndex:
    files = {"cat.txt": "feline creature purrs\n", "dog.txt": "canine barks loudly\n", "fish.txt": "swims in water\n"}
    project = open_indexed(write_tree(tmp_path / "p", files))
    store, encoder = project.store, Letters()
    chunks = store.chunks_by_id(store.catalog.chunks_without_vectors(encoder.version, 10))
    documents = store.documents_by_id({chunk.document_id for chunk in chunks.values()})
    texts = {number: files[documents[chunk.document_id].path] for number, chunk in chunks.items()}
    store.put_vectors(encoder.version, list(zip(texts, encoder.encode(list(texts.values())), strict=True)))
    store.refresh()
    return project


def by_letters(text: str, *, is_model: bool = True, coverage: float = 1.0) -> QueryVector:
    return QueryVector(Letters.version, Letters().encode([text])[0], coverage, is_model=is_model)


def meant(project: ProjectIndex, text: str, *meanings: QueryVector, **options: Any) -> Answer:
    return search_store(
        project.store, project.source.read_bytes, parse_search_query(text), SearchOptions(**options), meanings
    )


def test_meaning_has_its_place_among_the_signals(animals: ProjectIndex) -> None:
    text = "creature enilef srrup"
    found = meant(animals, text, by_letters(text))
    assert found.hits[0].path == "cat.txt"
    assert found.hits[0].signals["meaning: best chunk"] > 0
    assert found.methods == {"words": 1.0, "letters-1": 1.0}
    assert len(meant(animals, text).hits) == 1


def test_what_no_word_leads_to_is_found_by_its_meaning_if_it_is_near(animals: ProjectIndex) -> None:
    hit = meant(animals, "sprur enilef", by_letters("sprur enilef")).hits[0]
    assert hit.path == "cat.txt"
    assert 0.3 < hit.relevance < 0.9
    assert meant(animals, "zzzz qqqq", by_letters("zzzz qqqq")).hits == ()


def test_modes_and_alpha_say_which_way_counts(animals: ProjectIndex) -> None:
    text = "water enilef srrup enilef srrup"
    assert meant(animals, text, by_letters(text), mode="lexical").hits[0].path == "fish.txt"
    assert meant(animals, text, by_letters(text), mode="lexical").methods == {"words": 1.0}
    by_meaning = meant(animals, text, by_letters(text), mode="vector")
    assert by_meaning.hits[0].path == "cat.txt"
    assert by_meaning.methods == {"letters-1": 1.0}
    assert not any(name.startswith("words") for name in by_meaning.hits[0].signals)
    assert meant(animals, text, by_letters(text), alpha=0.0).hits[0].path == "fish.txt"
    assert meant(animals, text, by_letters(text), alpha=1.0).hits[0].path == "cat.txt"
    with pytest.raises(UsageError, match="needs an encoder"):
        meant(animals, text, mode="vector")


def test_the_table_stands_in_for_files_that_the_model_has_not_seen(animals: ProjectIndex) -> None:
    store = animals.store
    dog = store.document("dog.txt")
    assert dog is not None
    seen = [(chunk.id, Letters().encode(["canine barks loudly"])[0]) for chunk in store.chunks(dog.id)]
    store.put_vectors("model", seen)
    text = "enilef srrup creetura sprur"
    model = replace(by_letters(text, coverage=1 / 3), encoder="model")
    found = meant(animals, text, model, by_letters(text, is_model=False))
    assert found.hits[0].path == "cat.txt"
    assert found.hits[0].signals["meaning by table: best chunk"] > 0
    assert found.methods == {"words": 1.0, "model": 0.333, "letters-1": 1.0}
    text = "yldoul skrab eninac"
    model = replace(by_letters(text, coverage=1 / 3), encoder="model")
    hit = meant(animals, text, model, by_letters(text, is_model=False)).hits[0]
    assert hit.path == "dog.txt"
    assert not any(name.startswith("meaning by table") for name in hit.signals), "one encoder a file"


def test_meaning_counts_more_where_no_path_has_a_word_of_the_query(animals: ProjectIndex) -> None:
    def weight(text: str, **options: Any) -> float:
        return meant(animals, text, by_letters(text), **options).hits[0].signals["meaning: best chunk"]

    assert weight("feline purrs") == pytest.approx(2 * weight("feline purrs cat"), rel=0.2)
    assert weight("feline purrs", kind="docs") < weight("feline purrs")
    assert weight("feline purrs", alpha=0.5) < weight("feline purrs")
