"""The files around a file are those that it imports, those that import it, and its tests."""

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.searching.references.related_files import RelatedFiles, find_related
from dowse.store.reference_index import ReferenceIndex, ReferenceRow


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


def test_the_importers_of_a_go_file_are_not_all_files_that_import_a_module(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of a file is no module in most cases, and an import without a name has the empty one."""
    asked, documents_with = list[str](), ReferenceIndex.documents_with

    def ask(own: ReferenceIndex, name: str) -> list[ReferenceRow]:
        asked.append(name)
        return documents_with(own, name)

    monkeypatch.setattr(ReferenceIndex, "documents_with", ask)
    assert paths(related(project, "cmd/main.go").imports) == ["bar.go", "stir.go"]
    assert asked
    assert "" not in asked
