"""Which definition of a name a use means: told apart by scope, import and receiver, with a confidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from dowse.chunking.source_references import DEFINITION, IMPORT, INHERITANCE, Import, Use
from dowse.references.import_resolution import ImportResolver
from dowse.references.reference_files import SourceFile, SourceFiles
from dowse.store.reference_database import module_of

MAX_REEXPORTS = 6
"""How many files may pass a name on before it is taken as unknown."""

_SELF = frozenset({"self", "this", "cls", "super", "Self", "$this", "this?", "static", "parent", "super()"})
_EXPLICIT = frozenset({"python", "javascript"})
"""Families in which a name without a receiver is defined or imported in its file."""
_IMPLICIT_SELF = frozenset({"jvm", "csharp", "c", "ruby", "swift", "dart"})
"""Families in which a method calls another one of its class without a receiver."""
_TYPES = frozenset(
    {"class", "struct", "interface", "trait", "enum", "object", "type", "module", "extension", "namespace"}
)
_COMMON_METHODS = frozenset(
    [*dir(str), *dir(dict), *dir(list), *dir(set), "read", "write", "close", "open", "flush", "seek", "name", "run"]
) | frozenset(
    [
        "length",
        "size",
        "map",
        "filter",
        "forEach",
        "push",
        "has",
        "delete",
        "set",
        "then",
        "catch",
        "finally",
        "test",
        "exec",
        "toString",
        "slice",
        "concat",
        "reduce",
        "find",
        "some",
        "every",
        "includes",
        "apply",
        "call",
        "bind",
        "on",
        "off",
        "emit",
        "send",
        "start",
        "stop",
        "next",
        "value",
        "key",
        "keys",
        "values",
        "entries",
        "equals",
        "hashCode",
        "add",
        "remove",
        "contains",
        "isEmpty",
        "len",
        "is_empty",
        "unwrap",
        "clone",
        "iter",
        "collect",
        "into",
        "from",
        "new",
        "Error",
        "String",
        "Len",
        "Close",
        "Write",
        "Read",
        "message",
        "data",
        "type",
        "id",
        "status",
        "body",
        "text",
        "json",
        "url",
        "path",
        "error",
        "result",
        "options",
        "config",
    ]
)
"""Methods that most objects of other libraries have, so that the name alone says little."""


class Confidence(IntEnum):
    """How sure it is that a use means a definition."""

    NONE = 0
    POSSIBLE = 1
    LIKELY = 2
    CERTAIN = 3

    @property
    def word(self) -> str:
        """The word in replies."""
        return self.name.lower()


@dataclass(frozen=True)
class DefinedName:
    """One definition of a name."""

    file: SourceFile
    use: Use

    @property
    def owner(self) -> str:
        """The name of the class or namespace around it; empty at the top of a file."""
        return self.use.within.rpartition(".")[2]


@dataclass(frozen=True)
class ResolvedUse:
    """A use of a name, and the definitions that it may mean."""

    file: SourceFile
    use: Use
    confidence: Confidence
    definitions: tuple[DefinedName, ...]


Meaning = tuple[Confidence, Sequence[DefinedName]]
_NOTHING: Meaning = (Confidence.NONE, ())


class NameResolution:
    """The definitions and uses of one name in a project."""

    def __init__(self, files: SourceFiles, resolver: ImportResolver, name: str) -> None:
        self._sources, self._resolver, self.name = files, resolver, name
        self._files = files.with_name(name)
        self.definitions = [
            DefinedName(file, use) for file in self._files for use in file.definitions if use.name == name
        ]

    def uses(self) -> list[ResolvedUse]:
        """Return the uses of the name, in the order of the files, with those that mean something else."""
        found = []
        for file in self._files:
            aliases = {one.alias for one in file.references.imports if one.name == self.name and one.alias != "*"}
            for use in file.references.uses:
                is_alias = use.name in aliases and not use.receiver and use.kind != IMPORT
                if use.kind != DEFINITION and (use.name == self.name or is_alias):
                    found.append(ResolvedUse(file, use, *_sorted(self._meaning(file, use))))
        return found

    def _meaning(self, file: SourceFile, use: Use) -> Meaning:
        if use.kind == IMPORT:
            named = [one for one in file.references.imports if one.line <= use.line and self._is_named_by(one)]
            last = max((one.line for one in named), default=0)
            return self._imported(file, [one for one in named if one.line == last])
        if not use.receiver:
            return self._plain(file, use)
        return self._member(file, use)

    def _is_named_by(self, imported: Import) -> bool:
        last = imported.module.replace("::", ".").replace("/", ".").rpartition(".")[2]
        return self.name in (imported.name, imported.alias, last)

    def _plain(self, file: SourceFile, use: Use) -> Meaning:
        """Return what a name without a receiver means."""
        visible = [one for one in self.definitions if one.file is file and _is_visible(one, file, use)]
        if visible:
            return Confidence.CERTAIN, visible
        if bindings := file.bindings(use.name):
            return self._imported(file, bindings)
        everything = [one for one in file.references.imports if one.alias == "*"]
        for imported in everything:
            if found := self._defined_in(self._resolver.files_of(file, imported), 0):
                return Confidence.CERTAIN, found
        tops = [one for one in self.definitions if not one.use.within or one.use.receiver in _TYPES]
        if neighbours := [one for one in tops if one.file is not file and one.file.is_in_package_of(file)]:
            return Confidence.CERTAIN, neighbours
        if file.family in _EXPLICIT:
            return (Confidence.POSSIBLE, tops) if everything and tops else _NOTHING
        members = [one for one in self.definitions if one.use.within] if file.family in _IMPLICIT_SELF else []
        candidates = [one for one in (*tops, *members) if one.file.family == file.family]
        if file.language == "go":  # names of another package have its name before them
            return _NOTHING
        return _unless_ambiguous(list(dict.fromkeys(candidates)))

    def _imported(self, file: SourceFile, bindings: Sequence[Import]) -> Meaning:
        """Return what an import of the name means; nothing if it is of another project."""
        is_own = False
        for imported in bindings:
            paths = self._resolver.files_of(file, imported)
            is_own = is_own or bool(paths)
            if found := self._defined_in(paths, 0):
                return Confidence.CERTAIN, found
        return (Confidence.POSSIBLE, self._of_family(file)) if is_own and self._of_family(file) else _NOTHING

    def _defined_in(self, paths: Sequence[str], depth: int) -> list[DefinedName]:
        """Return the definitions in some files, or in those from which these have the name."""
        found = [one for one in self.definitions if one.file.path in paths]
        if tops := [one for one in found if not one.use.within]:
            return tops
        if depth < MAX_REEXPORTS:
            for path in paths:
                if (file := self._sources.at(path)) is None:
                    continue
                for imported in file.references.imports:
                    if imported.alias in (self.name, "*") and (
                        further := self._defined_in(self._resolver.files_of(file, imported), depth + 1)
                    ):
                        return further
        return found

    def _member(self, file: SourceFile, use: Use) -> Meaning:
        """Return what a name after a receiver means."""
        last = use.receiver.rpartition(".")[2]
        if last in _SELF:
            return self._own_member(file, use)
        if bindings := file.bindings(use.receiver):
            return self._member_of_import(file, bindings)
        first = use.receiver.partition(".")[0]
        outer = file.bindings(first) if first != use.receiver else []
        if outer and not any(self._resolver.files_of(file, one) for one in outer):
            return _NOTHING  # of another library
        owned = [one for one in self.definitions if one.owner == last and one.file.family == file.family]
        if owned:
            is_sure = any(one.file is file or one.file.is_in_package_of(file) for one in owned)
            return (Confidence.CERTAIN if is_sure and len(_targets(owned)) == 1 else Confidence.LIKELY), owned
        if file.family not in _EXPLICIT:
            modules = [one for one in self.definitions if not one.use.within and module_of(one.file.path) == last]
            if modules and modules[0].file.family == file.family:
                return Confidence.LIKELY, modules
        return self._member_of_variable(file, last)

    def _own_member(self, file: SourceFile, use: Use) -> Meaning:
        """Return the member of the class around a use, or of one that it extends."""
        around = use.within.split(".")
        for end in range(len(around), 0, -1):
            owner = ".".join(around[:end])
            if found := [one for one in self.definitions if one.file is file and one.use.within == owner]:
                return Confidence.CERTAIN, found
        bases = {one.name for one in file.references.uses if one.kind == INHERITANCE and one.within in around}
        inherited = [one for one in self.definitions if one.owner in bases]
        if inherited:
            return Confidence.LIKELY, inherited
        members = [one for one in self.definitions if one.use.within and one.file.family == file.family]
        return (Confidence.POSSIBLE, members) if members else _NOTHING

    def _member_of_import(self, file: SourceFile, bindings: Sequence[Import]) -> Meaning:
        for imported in bindings:
            paths = self._resolver.files_of(file, imported)
            if not paths:
                continue
            if self._resolver.is_module(file, imported):
                if found := self._defined_in(paths, 0):
                    return Confidence.CERTAIN, found
                continue
            if found := [one for one in self.definitions if one.owner == imported.name and one.file.path in paths]:
                return Confidence.CERTAIN, found
            if found := [one for one in self.definitions if one.owner == imported.name]:
                return Confidence.LIKELY, found
            return self._member_of_variable(file, imported.name)
        return _NOTHING

    def _member_of_variable(self, file: SourceFile, variable: str) -> Meaning:
        """Return the members that a variable may have; one whose class is called like it is more likely."""
        members = [one for one in self._of_family(file) if one.use.within]
        if not members:
            return _NOTHING
        name = variable.replace("_", "").lower()
        alike = [one for one in members if len(name) > 2 and name in one.owner.lower()]
        if alike and len(_targets(alike)) == 1:
            return Confidence.LIKELY, alike
        if self.name in _COMMON_METHODS:
            return Confidence.POSSIBLE, alike or members
        return _unless_ambiguous(alike or members)

    def _of_family(self, file: SourceFile) -> list[DefinedName]:
        return [one for one in self.definitions if one.file.family == file.family]


def _is_visible(defined: DefinedName, file: SourceFile, use: Use) -> bool:
    """Return whether a name of the same file can be used without a receiver."""
    within = defined.use.within
    if not within or use.within == within:
        return True
    is_member = defined.use.receiver in ("method", "field", "property") and file.family not in _IMPLICIT_SELF
    return not is_member and use.within.startswith(f"{within}.")


def _targets(definitions: Sequence[DefinedName]) -> set[tuple[str, str]]:
    """Return what definitions define: several in one place are variants of one."""
    return {(one.file.path, one.use.within) for one in definitions}


def _unless_ambiguous(candidates: Sequence[DefinedName]) -> Meaning:
    if not candidates:
        return _NOTHING
    return (Confidence.LIKELY if len(_targets(candidates)) == 1 else Confidence.POSSIBLE), candidates


def _sorted(meaning: Meaning) -> tuple[Confidence, tuple[DefinedName, ...]]:
    confidence, found = meaning
    return confidence, tuple(found)
