"""The files of a project as their references describe them, each read once for an answer."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache, cached_property

from dowse.parsing.source_references import DECLARATION, DEFINITION, TYPED, Import, SourceReferences, Use
from dowse.searching.found_files import IsShown
from dowse.store.reference_index import ReferenceIndex

FAMILIES = {
    "javascript": "javascript", "typescript": "javascript", "tsx": "javascript", "jsx": "javascript",
    "vue": "javascript", "svelte": "javascript", "typescriptreact": "javascript", "javascriptreact": "javascript",
    "c": "c", "cpp": "c", "c++": "c", "objc": "c", "objective-c": "c",
    "java": "jvm", "kotlin": "jvm", "scala": "jvm", "groovy": "jvm",
}  # fmt: skip
"""Languages that use each other's names; any other language is a family of its own."""


def family_of(language: str) -> str:
    """Return the name of the languages that use each other's names with a language."""
    return FAMILIES.get(language, language)


TYPES = frozenset(
    {"class", "struct", "interface", "trait", "enum", "object", "type", "module", "extension", "namespace"}
)


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A file with its references."""

    id: int
    path: str
    language: str
    references: SourceReferences

    @property
    def family(self) -> str:
        """The name of the languages that use each other's names."""
        return family_of(self.language)

    @cached_property
    def folder(self) -> str:
        """The folder of the file; empty for the root."""
        return self.path.rpartition("/")[0]

    @property
    def package_name(self) -> str:
        """The last part of its package or namespace."""
        return re.split(r"\W", self.references.package)[-1]

    @cached_property
    def definitions(self) -> list[Use]:
        """Its definitions, and what it only declares."""
        return [use for use in self.references.uses if use.kind in (DEFINITION, DECLARATION)]

    @cached_property
    def _typed(self) -> list[Use]:
        """The variables whose types are written."""
        return [use for use in self.references.uses if use.kind == TYPED]

    def variable(self, name: str, use: Use) -> Use | None:
        """Return the variable of a written type or value that has a name where something is used."""
        named = [one for one in self._typed if one.name == name]
        around = [one for one in named if not one.within or f"{use.within}.".startswith(f"{one.within}.")]
        before = [one for one in around if one.line <= use.line] or around
        return max(before, key=lambda one: (len(one.within), one.line), default=None)

    def bindings(self, alias: str) -> list[Import]:
        """Return the imports that bind a name in this file."""
        return [found for found in self.references.imports if found.alias == alias]

    def is_in_package_of(self, other: "SourceFile") -> bool:
        """Return whether both files see each other's names without an import."""
        if self.family != other.family:
            return False
        if self.language == "go":
            return self.folder == other.folder
        package = self.references.package
        is_outer = self.language in ("scala", "csharp") and other.references.package.startswith(f"{package}.")
        return bool(package) and (package == other.references.package or is_outer)


@dataclass(frozen=True, eq=False)
class DefinedName:
    """One definition of a name, or a declaration that says only that there is one."""

    file: SourceFile
    use: Use

    @property
    def owner(self) -> str:
        """The name of the class or namespace around it; empty at the top of a file."""
        return self.use.within.rpartition(".")[2]

    @property
    def is_declaration(self) -> bool:
        """Whether it has no body: a prototype, or a method of an interface."""
        return self.use.kind == DECLARATION


def is_same_class(path: str, other: str) -> bool:
    """Return whether two paths may mean one class: both end alike, and the shorter one leaves out what is around it."""
    return path == other or path.endswith(f".{other}") or other.endswith(f".{path}")


class SourceFiles:
    """The files of a project that may be in an answer, read from their index when they are first needed."""

    def __init__(self, index: ReferenceIndex, is_shown: IsShown = bool) -> None:
        self._index, self._is_shown = index, cache(is_shown)
        self._files: dict[str, SourceFile | None] = {}
        self.paths_with: Callable[[str], Collection[str]] = cache(index.paths_with)
        """Returns the paths of the files that may define, use or import a name."""
        self._of_module: Callable[[str], list[tuple[str, str]]] = cache(index.paths_of_module)

    def of_module(self, module: str, family: str) -> list[str]:
        """Return the paths of the files that a language imports by a name, without the folders before it."""
        return [path for path, language in self.named(module) if family_of(language) == family]

    def named(self, module: str) -> list[tuple[str, str]]:
        """Return the paths of the files that any language imports by a name, each with its language."""
        return [one for one in self._of_module(module) if self._is_shown(one[0])]

    def at(self, path: str) -> SourceFile | None:
        """Return the file at a path; None if it has no references."""
        if path not in self._files:
            row = self._index.document_at(path) if self._is_shown(path) else None
            self._files[path] = SourceFile(row.id, path, row.language, row.unpack()) if row else None
        return self._files[path]

    def with_name(self, name: str) -> list[SourceFile]:
        """Return the files that may define, use or import a name, by path, without their uses of other names."""
        found = []
        for row in self._index.documents_with(name):
            if not self._is_shown(row.path):
                continue
            file = self._files.get(row.path) or SourceFile(row.id, row.path, row.language, row.unpack(name))
            self._files[row.path] = file
            found.append(file)
        return found

    def exists(self, path: str) -> bool:
        """Return whether the project has a file at a path."""
        return bool(self._files.get(path)) or (self._index.has_path(path) and self._is_shown(path))
