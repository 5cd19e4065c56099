"""Evidence for ranking from a real index: the words of a query that count, and the definitions of its names."""

from pathlib import Path

from dowse.indexes.index import ProjectIndex
from dowse.searching.candidates import Scope, gather_evidence
from dowse.searching.query_terms import parse_search_query
from tests.sample_data import open_indexed, write_tree
from tests.searching.searched_project import ask, paths


def _definition_scores(project: ProjectIndex, text: str) -> dict[str, float]:
    project.store.refresh()
    evidence = gather_evidence(project.store, parse_search_query(text), Scope())
    names = project.store.paths_by_id(evidence.definition_scores)
    return {names[number]: score for number, score in evidence.definition_scores.items()}


def test_the_name_of_the_project_says_nothing(tmp_path: Path) -> None:
    files = {
        "README.md": "# Orchard\n\nOrchard is for every orchard.\n",
        "orchard/__init__.py": "ORCHARD = 1\n",
        "press.py": "def crush(apples):\n    return [apple.juice for apple in apples]\n",
    }
    project = open_indexed(write_tree(tmp_path / "Orchard", files))
    assert paths(ask(project, "how does orchard crush apples"))[0] == "press.py"
    assert len(paths(ask(project, "orchard"))) == 2, "a query of this word alone is about it"


def test_a_name_that_every_file_defines_counts_less_than_one_of_a_single_file(tmp_path: Path) -> None:
    namespaces = {f"n{number}.cs": f"namespace Billing {{ class Part{number} {{ }} }}\n" for number in range(20)}
    files = {**namespaces, "Total.cs": "class Invoice { int Sum(int billing) { return billing; } }\n"}
    project = open_indexed(write_tree(tmp_path, files))
    assert paths(ask(project, "Billing Invoice total"))[0] == "Total.cs"
    found = _definition_scores(project, "Billing Invoice total")
    assert found["Total.cs"] == 1.0
    assert 0 < found["n3.cs"] < 0.25


def test_an_interface_in_kotlin_is_a_definition_of_its_name(tmp_path: Path) -> None:
    interface = "package a\n\npublic fun interface Listener {\n    fun on(text: String)\n}\n\ninterface Channel<T> : Base {\n    fun send(text: T)\n}\n"
    senders = {f"Sender{n}.kt": f"class Sender{n}(val channel: Channel<Int>)\n" for n in range(5)}
    project = open_indexed(write_tree(tmp_path, {"Wire.kt": interface, **senders}))
    for query in ("interface Channel", "where is Channel declared", "Channel"):
        assert paths(ask(project, query))[0] == "Wire.kt"
    assert _definition_scores(project, "interface Channel")["Wire.kt"] == 1.0
    assert _definition_scores(project, "interface Channel")["Sender1.kt"] < 0.5, (
        "a field with other capitals counts less"
    )


def test_a_header_with_hyphens_is_one_name_and_not_its_words(tmp_path: Path) -> None:
    files = {
        "cache.py": "def is_fresh(request, etag):\n    return request.if_none_match == etag\n",
        "patterns.py": "class Match:\n    none = None\n\n    def match(self, text):\n        return None if text is None else Match()\n",
        "values.py": "class None_:\n    match = None\n",
    }
    project = open_indexed(write_tree(tmp_path, files))
    assert paths(ask(project, "where is If-None-Match compared"))[0] == "cache.py"
    assert _definition_scores(project, "where is If-None-Match compared") == {}
    written = {"etags.py": "def ifNoneMatch(etag):\n    return etag\n", **files}
    project = open_indexed(write_tree(tmp_path / "named", written))
    assert _definition_scores(project, "where is If-None-Match compared") == {"etags.py": 1.0}
