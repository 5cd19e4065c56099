"""The files around a file: what it imports, what imports it, and its tests, each with the reason."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from dowse.parsing.source_references import Import
from dowse.searching.found_files import IsShown, ReadBytes
from dowse.searching.path_kinds import kinds_of
from dowse.searching.references.import_resolution import ImportResolver
from dowse.searching.references.reference_files import SourceFile, SourceFiles
from dowse.store.reference_index import ReferenceIndex, module_of

_TEST_NAMES = ("test_{}", "{}_test", "{}_tests", "{}Test", "{}Tests", "Test{}", "{}_spec", "{}Spec", "{}IT", "{}")
_NAMED = 5
"""Names that a reason lists."""


@dataclass(frozen=True, slots=True)
class RelatedFile:
    """A file that belongs to another one, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class RelatedFiles:
    """The files around a file, by path."""

    path: str
    imports: tuple[RelatedFile, ...] = ()
    imported_by: tuple[RelatedFile, ...] = ()
    tests: tuple[RelatedFile, ...] = ()
    changes_with: tuple[RelatedFile, ...] = ()
    """The files that usually change together with it, most often first."""
    unread: int = 0
    """Files whose imports are not known yet."""


def find_related(
    references: ReferenceIndex,
    read: ReadBytes,
    path: str,
    show: Callable[[str], str] = str,
    is_shown: IsShown = bool,
) -> RelatedFiles:
    """Return the files that a file imports, those that import it, and its tests; `show` writes their paths."""
    files = SourceFiles(references, is_shown)
    file = files.at(path)
    if file is None:
        return RelatedFiles(show(path))
    resolver = ImportResolver(files, read)
    imported = dict[str, list[Import]]()
    for one in file.references.imports:
        for target in resolver.files_of(file, one):
            imported.setdefault(target, []).append(one)
    users = {other.path: found for other, found in _importers(files, resolver, file)}
    stem = PurePosixPath(path).name.partition(".")[0]
    alike = {other for name in _TEST_NAMES for other in files.of_module(name.format(stem), file.family)}
    named = [other for other in alike if other != path and other not in users and "test" in kinds_of(other)]
    tests = {other: _reason(found) for other, found in users.items() if "test" in kinds_of(other)}
    tests |= dict.fromkeys(named, "is named after it")

    def shown(found: dict[str, str]) -> tuple[RelatedFile, ...]:
        return tuple(RelatedFile(show(path), reason) for path, reason in sorted(found.items()))

    return RelatedFiles(
        show(path),
        shown({target: _reason(found) for target, found in imported.items()}),
        shown({other: _reason(found) for other, found in users.items() if other not in tests}),
        shown(tests),
    )


def _importers(
    files: SourceFiles, resolver: ImportResolver, file: SourceFile
) -> Iterator[tuple[SourceFile, list[Import]]]:
    """Yield the files that import a file, found by its name and by the names that it defines."""
    names = {module_of(file.path), PurePosixPath(file.path).stem}
    names |= {one.name for one in file.definitions if not one.within}
    if file.language == "go":
        names.add(resolver.go_modules.get(f"{file.folder}/".lstrip("/"), "").rpartition("/")[2])
    seen = {file.path}
    for name in sorted(names - {""}):
        for other in files.with_name(name):
            if other.path not in seen and other.family == file.family:
                seen.add(other.path)
                if found := [one for one in other.references.imports if file.path in resolver.files_of(other, one)]:
                    yield other, found


def _reason(found: list[Import]) -> str:
    """Return what an import takes, and where: `imports peel, wash in line 3`."""
    names = list(dict.fromkeys(one.name for one in found if one.name not in ("", "*", "default")))
    listed = ", ".join(names[:_NAMED]) + (" and others" if len(names) > _NAMED else "")
    return f"imports {listed or 'it'} in line {found[0].line}"
