"""Which definition of a name a use means: told apart by scope, import and receiver, with a confidence."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from dowse.parsing.source_references import CALL, IMPORT, NO_USES, Import, Use
from dowse.searching.references.class_hierarchy import (
    IMPLICIT_SELF,
    SELF,
    ClassHierarchy,
    ExpressionTypes,
    paths_around,
)
from dowse.searching.references.import_resolution import ImportResolver
from dowse.searching.references.reference_files import TYPES, DefinedName, SourceFile, SourceFiles
from dowse.store.reference_index import module_of

MAX_REEXPORTS = 6
"""How many files may pass a name on before it is taken as unknown."""

_SUPER = frozenset({"super", "parent", "super()"})
_EXPLICIT = frozenset({"python", "javascript"})
"""Families in which a name without a receiver is defined or imported in its file."""
_FUNCTIONS_ARE_NO_MEMBERS = _EXPLICIT | {"go", "c", "rust", "php", "ruby", "csharp", "swift"}
"""Families in which a function outside of a class is never called on a variable; Kotlin has such extension functions,
and in other languages the variable is a module."""
_FIELDS, _FUNCTIONS = frozenset({"field", "property"}), frozenset({"function", "method"})
_NO_CLASS_SCOPE = frozenset({"rust", "php", "javascript"})
"""Families in which the body of a class does not see its members without a receiver."""
_CLASSES_ARE_CAPITALIZED = frozenset({"jvm", "csharp", "ruby", "rust", "swift", "php", "dart"})
"""Families in which a receiver with a capital is a class."""
_CLASSES_ARE_CLOSED = frozenset({"java", "php", "go", "c", "cpp"})
"""Languages in which no code outside of a class adds members to it."""
COMMON_NAMES = frozenset([*dir(str), *dir(dict), *dir(list), *dir(set)]) | frozenset(
    "Close Error Len Read String Write add apply bind body call catch clone close collect concat config contains data delete "  # noqa: SIM905 - shorter
    "emit entries equals error every exec filter finally find flush forEach from has hash hashCode id include? includes inspect into isEmpty is_empty "
    "iter json key keys len length map message name new next off on open options path push read reduce remove result run seek "
    "send set size slice some start status stop test text then toString to_a to_h to_s type unwrap url value values write".split()
)
"""Methods that most objects of other libraries have, so that the name alone says little."""


class Confidence(IntEnum):
    """How sure it is that a use means a definition."""

    NONE = 0
    TEXT = 1
    """The line has the word, and nothing says what it means."""
    POSSIBLE = 2
    LIKELY = 3
    CERTAIN = 4

    @property
    def word(self) -> str:
        """The word in replies."""
        return "by its text" if self is Confidence.TEXT else self.name.lower()


@dataclass(frozen=True, eq=False)
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
        self.classes = ClassHierarchy(files)
        self._types = ExpressionTypes(files, self.classes)
        self._files = files.with_name(name)
        self.definitions = [
            DefinedName(file, use) for file in self._files for use in file.definitions if use.name == name
        ]
        constructed = [one for one in self.definitions if one.use.name == one.owner]
        self._meanable = [one for one in self.definitions if one not in constructed] or constructed
        """The definitions that a use may mean: a class, and not its constructors of the same name."""
        self._reach = cache(self._find_reached)
        self._of_languages = cache(self._find_family)
        self._modules = cache(self._find_modules)

    def uses(self) -> list[ResolvedUse]:
        """Return the uses of the name, in the order of the files, with those that mean something else."""
        found = []
        for file in self._files:
            aliases = {one.alias for one in file.references.imports if one.name == self.name and one.alias != "*"}
            for use in file.references.uses:
                is_alias = use.name in aliases and not use.receiver and use.kind != IMPORT
                if use.kind not in NO_USES and (use.name == self.name or is_alias):
                    confidence, meant = self._meaning(file, use)
                    if any(one.use.receiver in _FIELDS for one in meant):  # a method of the same name is called
                        meant = [one for one in meant if (one.use.receiver in _FIELDS) == (use.kind != CALL)] or meant
                    found.append(ResolvedUse(file, use, confidence, tuple(self._with_bodies(meant))))
        return found

    def overrides_of(self, definitions: Sequence[DefinedName]) -> list[DefinedName]:
        """Return the definitions in classes that extend those of some definitions."""
        bases = {(one.owner, one.file.family) for one in definitions if one.owner}
        return [
            one for one in self.definitions
            if one.owner and one not in definitions
            and any(family == one.file.family and self.classes.is_below(one.owner, base, family) for base, family in bases)
        ]  # fmt: skip

    def _with_bodies(self, meant: Iterable[DefinedName]) -> list[DefinedName]:
        """Return the definitions that are meant, for a prototype those that have its body."""
        found = dict[DefinedName, None]()
        for one in meant:
            bodies = [other for other in self._meanable if is_body_of(other, one)] if one.is_declaration else []
            near = [other for other in bodies if module_of(other.file.path) == module_of(one.file.path)]
            found |= dict.fromkeys(near or bodies or [one])
        return list(found)

    def _meaning(self, file: SourceFile, use: Use) -> Meaning:
        if use.kind == IMPORT:
            before = [one for one in file.references.imports if one.line <= use.line]
            named = [one for one in before if self.name in (one.name, one.alias, re.split(r"::|[./]", one.module)[-1])]
            last = max((one.line for one in named), default=0)
            confidence, meant = self._imported(file, [one for one in named if one.line == last])
            if any(self.name in (one.name, one.alias) for one in named):
                return confidence, meant
            meant = [one for one in meant if one.use.receiver in TYPES]  # the name is a part of the path
            return (confidence, meant) if meant else _NOTHING
        if not use.receiver:
            return self._plain(file, use)
        return self._member(file, use)

    def _plain(self, file: SourceFile, use: Use) -> Meaning:
        """Return what a name without a receiver means."""
        visible = [one for one in self._meanable if one.file is file and _is_visible(one, file, use)]
        if visible:
            depth = max(len(one.use.within) for one in visible)
            return Confidence.CERTAIN, [one for one in visible if len(one.use.within) == depth]
        if bindings := file.bindings(use.name):
            return self._imported(file, bindings)
        if file.family in IMPLICIT_SELF and (own := self._inherited(file, use)):
            return own
        everything = [one for one in file.references.imports if one.alias == "*"]
        tops = [one for one in self._meanable if not one.use.within or one.use.receiver in TYPES]
        for imported in everything:
            found = self._defined_in(self._resolver.files_of(file, imported))
            if found := found or [one for one in tops if one.file.references.package == imported.module]:
                return Confidence.CERTAIN, found
        if neighbours := [one for one in tops if one.file is not file and one.file.is_in_package_of(file)]:
            return Confidence.CERTAIN, neighbours
        if file.family in _EXPLICIT:
            return (Confidence.POSSIBLE, tops) if everything and tops else _NOTHING
        if file.language == "go":  # names of another package have its name before them
            return _NOTHING
        has_members = file.family in IMPLICIT_SELF
        candidates = [one for one in self._of_family(file) if has_members or one in tops]
        return self._likely(candidates)

    def _imported(self, file: SourceFile, bindings: Sequence[Import]) -> Meaning:
        """Return what an import of the name means; nothing if it is of another project."""
        is_own = False
        for imported in bindings:
            paths = self._resolver.files_of(file, imported)
            is_own = is_own or bool(paths)
            if found := self._defined_in(paths):
                return Confidence.CERTAIN, found
        family = self._of_family(file)
        if modules := [one for one in family if one.use.receiver == "module" and not one.use.within]:
            return Confidence.LIKELY, modules
        if near := [one for one in family if one.file is file or one.file.is_in_package_of(file)]:
            return Confidence.LIKELY, near
        return (Confidence.POSSIBLE, family) if is_own and family else _NOTHING

    def _defined_in(self, paths: Sequence[str]) -> list[DefinedName]:
        """Return the definitions in some files, or in those from which these have the name."""
        return self._reach(tuple(paths))

    def _find_reached(self, paths: tuple[str, ...]) -> list[DefinedName]:
        found = [one for one in self._meanable if one.file.path in paths]
        seen, coming = set(paths), list(paths)
        for _ in range(MAX_REEXPORTS + 1):
            here = [one for one in self._meanable if one.file.path in coming]
            if tops := [one for one in here if not one.use.within]:
                return tops
            files = [file for path in coming if (file := self._sources.at(path))]
            coming = [
                path
                for file in files
                for imported in file.references.imports
                if imported.alias in (self.name, "*")
                for path in self._resolver.files_of(file, imported)
                if path not in seen and not seen.add(path)  # type: ignore[func-returns-value]
            ]
        return found

    def _member(self, file: SourceFile, use: Use) -> Meaning:
        """Return what a name after a receiver means."""
        first, _, rest = use.receiver.partition(".")
        last = use.receiver.rpartition(".")[2]
        if last == "=":
            return self._likely([one for one in self._of_family(file) if one.use.receiver in _FIELDS])
        if last in SELF:
            return self._own_member(file, use)
        if bindings := file.bindings(use.receiver):
            return self._member_of_import(file, bindings)
        modules = self._in_modules(file, last)
        if type_ := self._types.of(file, use, use.receiver):
            meaning = self._member_of_type(file, type_)
            if meaning != _NOTHING or not modules:
                return meaning  # else it is a module that one file declares and another one is: `mod util;`
        outer = file.bindings(first) if rest else []
        if outer and not any(self._resolver.files_of(file, one) for one in outer):
            return _NOTHING  # of another library
        owned = [one for one in self._meanable if one.owner == last and one.file.family == file.family]
        if owned:
            is_sure = any(one.file is file or one.file.is_in_package_of(file) for one in owned)
            return _certain_if_one(owned, is_sure=is_sure)
        if modules:
            return Confidence.LIKELY, modules
        if self.classes.has(last, file.family) and (found := self.classes.members(last, self._of_family(file))):
            return Confidence.LIKELY, found
        confidence, members = self._member_of_variable(file, last)
        is_foreign = file.family in _CLASSES_ARE_CAPITALIZED and re.match(r"[\d\"]|[A-Z]\w*$", last)
        if is_foreign and not self._is_defined(last, file):  # a class or constant of another library, or a literal
            confidence = min(confidence, Confidence.POSSIBLE)
        return confidence, members

    def _in_modules(self, file: SourceFile, name: str) -> list[DefinedName]:
        """Return the definitions at the top of the files that are a module of this name, where it needs no import."""
        if file.family in _EXPLICIT:
            return []
        return self._modules(file.family).get(name, [])

    def _find_modules(self, family: str) -> dict[str, list[DefinedName]]:
        found = dict[str, list[DefinedName]]()
        for one in self._of_languages(family):
            names = {"crate", "$crate", module_of(one.file.path), one.file.package_name}
            for name in names if not one.use.within else ():
                found.setdefault(name, []).append(one)
        return found

    def _is_defined(self, name: str, file: SourceFile) -> bool:
        files = (other for other in self._sources.with_name(name) if other.family == file.family)
        return any(one.name == name and one.receiver not in _FIELDS for other in files for one in other.definitions)

    def _own_member(self, file: SourceFile, use: Use) -> Meaning:
        """Return the member of the class around a use, or of one that it extends."""
        is_super = use.receiver in _SUPER
        for owner in () if is_super else paths_around(use.within):
            if found := [one for one in self._meanable if one.file is file and one.use.within == owner]:
                return Confidence.CERTAIN, found
        if inherited := self._inherited(file, use, int(is_super)):
            return inherited
        members = [one for one in self._of_family(file) if one.use.within]
        return (Confidence.POSSIBLE, members) if members else _NOTHING

    def _inherited(self, file: SourceFile, use: Use, level: int = 0) -> Meaning | None:
        """Return the member that a class around a use has elsewhere: in another file, or from one that it extends."""
        for owner in paths_around(use.within):
            if found := self.classes.members(owner, self._of_family(file), level):
                return _certain_if_one(found, is_sure=found[0].owner == owner.rpartition(".")[2])
        return None

    def _member_of_import(self, file: SourceFile, bindings: Sequence[Import]) -> Meaning:
        for imported in bindings:
            paths = self._resolver.files_of(file, imported)
            if not paths:
                continue
            if self._resolver.is_module(file, imported):
                if found := self._defined_in(paths):
                    return Confidence.CERTAIN, found
                continue
            if found := [one for one in self._meanable if one.owner == imported.name and one.file.path in paths]:
                return Confidence.CERTAIN, found
            if found := self.classes.members(imported.name, self._of_family(file)):
                return Confidence.LIKELY, found
            return self._member_of_variable(file, imported.name)
        return _NOTHING

    def _member_of_type(self, file: SourceFile, type_: str) -> Meaning:
        """Return the member of a variable whose type is written."""
        if found := self.classes.members(type_, self._of_family(file)):
            return _certain_if_one(found)
        family = self._of_family(file)
        is_own = self.classes.has(type_, file.family)
        if below := [one for one in family if is_own and self.classes.is_below(one.owner, type_, file.family)]:
            return self._likely(below)
        confidence, candidates = self._member_of_variable(file, type_.rpartition(".")[2])
        # The member is an extension function, or the class inherits it from another library.
        is_open = is_own and file.language not in _CLASSES_ARE_CLOSED
        is_open = is_open or not any(one.use.within for one in candidates)
        return min(confidence, Confidence.LIKELY if is_open else Confidence.POSSIBLE), candidates

    def _member_of_variable(self, file: SourceFile, variable: str) -> Meaning:
        """Return the members that a variable may have; one whose class is called like it is more likely."""
        members = [one for one in self._of_family(file) if one.use.within]
        if not members and file.family not in _FUNCTIONS_ARE_NO_MEMBERS:
            return self._likely(self._of_family(file))
        if not members:
            return _NOTHING
        name = variable.removesuffix("()").replace("_", "").lower()
        alike = [one for one in members if len(name) > 2 and name in one.owner.lower()]
        if alike and len(_targets(alike)) == 1:
            return Confidence.LIKELY, alike
        if self.name in COMMON_NAMES or not any(self._is_seen(one, file) for one in members):
            return Confidence.POSSIBLE, alike or members
        return self._likely(alike or members)

    def _is_seen(self, member: DefinedName, file: SourceFile) -> bool:
        """Return whether a file is near the class of a member, or names it."""
        is_near = member.file.folder == file.folder or member.file.is_in_package_of(file)
        package = member.file.references.package
        return (
            is_near
            or any(one.module == package for one in file.references.imports if package)
            or file.path in self._sources.paths_with(member.owner)
        )

    def _of_family(self, file: SourceFile) -> Sequence[DefinedName]:
        return self._of_languages(file.family)

    def _find_family(self, family: str) -> Sequence[DefinedName]:
        return [one for one in self._meanable if one.file.family == family]

    def _likely(self, candidates: Sequence[DefinedName]) -> Meaning:
        if not candidates:
            return _NOTHING
        return Confidence.LIKELY, self._with_bodies(candidates)


def is_body_of(defined: DefinedName, declared: DefinedName) -> bool:
    """Return whether a definition has the body of a declaration: of a prototype, or of a method of the same class."""
    return (
        not defined.is_declaration
        and defined.owner == declared.owner
        and defined.file.family == declared.file.family
        and (defined.file.family == "c" or defined.file is declared.file)
    )


def _is_visible(defined: DefinedName, file: SourceFile, use: Use) -> bool:
    """Return whether a name of the same file can be used without a receiver."""
    within = defined.use.within
    if not within or (use.within == within and file.family not in _NO_CLASS_SCOPE):
        return True
    if use.within == within:  # it is not a class that is around both
        return any(one.name == defined.owner and one.receiver in _FUNCTIONS for one in file.definitions)
    is_member = defined.use.receiver in ("method", "field", "property") and file.family not in IMPLICIT_SELF
    return not is_member and use.within.startswith(f"{within}.")


def _certain_if_one(found: Sequence[DefinedName], *, is_sure: bool = True) -> Meaning:
    return (Confidence.CERTAIN if is_sure and len(_targets(found)) == 1 else Confidence.LIKELY), found


def _targets(definitions: Sequence[DefinedName]) -> set[tuple[str, str]]:
    """Return what definitions define: several in one place are variants of one."""
    return {(one.file.path, one.use.within) for one in definitions}
