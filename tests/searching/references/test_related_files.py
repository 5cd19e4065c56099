"""The files around a file are those that it imports, those that import it, and its tests."""

from dowse.indexes.index import ProjectIndex
from dowse.searching.references.related_files import RelatedFiles, find_related


def related(project: ProjectIndex, path: str) -> RelatedFiles:
    return find_related(project.whole.references, project.source.read_bytes, path)


def paths(found: object) -> list[str]:
    return [one.path for one in found]  # type: ignore[attr-defined]


def test_imports_importers_and_tests_are_listed_with_their_reason(project: ProjectIndex) -> None:
    found = related(project, "src/fruit/kitchen.py")
    assert paths(found.imports) == ["src/fruit/__init__.py", "src/fruit/pear.py"]
    assert [(one.path, one.reason) for one in found.tests] == [("tests/test_kitchen.py", "imports cook in line 1")]
    assert paths(related(project, "src/fruit/apple.py").imported_by) == ["src/fruit/__init__.py"]
    assert paths(related(project, "web/juice.ts").imported_by) == ["web/index.ts"]
    assert paths(related(project, "bar.go").imported_by) == ["cmd/main.go"]


def test_a_file_without_references_has_none_around_it(project: ProjectIndex) -> None:
    assert related(project, "pyproject.toml") == RelatedFiles("pyproject.toml")
