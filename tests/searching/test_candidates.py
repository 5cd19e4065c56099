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
    assert evidence is not None
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
