"""The classes of a project, by name: their members, those that they inherit, and the classes of expressions."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from dowse.parsing.source_references import INHERITANCE, TYPED, Use
from dowse.searching.references.reference_files import TYPES, DefinedName, SourceFile, SourceFiles, is_same_class

_MAX_LEVELS = 8
_MAX_CLASSES = 50
"""How many classes are looked at on one level, so that no name of many classes takes long."""


class ClassHierarchy:
    """The classes of a project. Two classes of one name in one family of languages are taken as one.

    A name may have the names around it before it (`Tailer.Builder`), which tells it from others. With a dot before all
    of them, it is the whole path of a class.
    """

    def __init__(self, files: SourceFiles) -> None:
        self._files = files
        self._classes = cache(self._find_classes)

    def has(self, name: str, family: str) -> bool:
        """Return whether the project defines a class of this name."""
        return self._bases_of(name, family) is not None

    def members(self, owner: str, definitions: Sequence[DefinedName], level: int = 0) -> list[DefinedName]:
        """Return those of the definitions that a class has itself, or from the nearest class that it extends."""
        for owners in islice(self.levels(owner, definitions[0].file.family), level, None) if definitions else ():
            last = {one.rpartition(".")[2] for one in owners}
            if found := [
                one for one in definitions
                if one.owner in last and any(is_same_class(f".{one.use.within}", owner) for owner in owners)
            ]:  # fmt: skip
                return found
        return []

    def is_below(self, name: str, base: str, family: str) -> bool:
        """Return whether a class extends another one, directly or not."""
        above = islice(self.levels(name, family), 1, None)
        return any(is_same_class(one, base) for owners in above for one in owners)

    def levels(self, name: str, family: str) -> Iterator[list[str]]:
        """Yield a class, then those that it extends, then those that these extend, each once."""
        owners, seen = [name], {name}
        for _ in range(_MAX_LEVELS):
            yield owners
            bases = dict.fromkeys(base for one in owners for base in self._bases_of(one, family) or ())
            owners = [base for base in bases if base not in seen][:_MAX_CLASSES]
            seen |= set(owners)

    def path_of(self, name: str, file: SourceFile) -> str:
        """Return the path of the class that a file means by a name; the name if several fit: its own, then the outermost."""
        known = self._classes(name, file.family)
        own = [path for path, one in known.items() if file.path in one.files]
        least = min((path.count(".") for path in known), default=0)
        found = own or [path for path in known if path.count(".") == least]
        return found[0] if len(found) == 1 else name

    def _bases_of(self, name: str, family: str) -> list[str] | None:
        """Return the names of the classes that a class extends; None if there is no such class."""
        known = self._classes(name.rpartition(".")[2], family)
        found = [one.bases for path, one in known.items() if is_same_class(path, name)]
        return [base for bases in found for base in bases] if found else None

    def _find_classes(self, name: str, family: str) -> "dict[str, _Class]":
        """Return the classes of a name by their paths."""
        files, known = [file for file in self._files.with_name(name) if file.family == family], dict[str, _Class]()
        for file in files:
            for one in file.definitions:
                if one.name == name and one.receiver in TYPES:
                    path = f".{one.within}.{name}" if one.within else f".{name}"
                    known.setdefault(path, _Class([], set())).files.add(file.path)
        for use in (use for file in files for use in file.references.uses if use.kind == INHERITANCE):
            if use.within.rpartition(".")[2] == name != use.name:
                for path, owner in known.items():
                    if is_same_class(path, use.within):
                        owner.bases.append(use.name)
        return known


class _Class(NamedTuple):
    """A class: the names of those that it extends, and the paths of its files."""

    bases: list[str]
    files: set[str]


SELF = frozenset({"self", "this", "cls", "super", "Self", "$this", "this?", "static", "parent", "super()"})
IMPLICIT_SELF = frozenset({"jvm", "csharp", "c", "ruby", "swift", "dart"})
"""Families in which a method uses members of its class without a receiver."""
_MAX_VALUES = 4
"""How many variables may have their types from one another."""
_FLUENT = ("set", "with", "add")
"""Beginnings of methods that return their object, where their type is a parameter of the class."""


class ExpressionTypes:
    """Finds the class that an expression has."""

    def __init__(self, files: SourceFiles, classes: ClassHierarchy) -> None:
        self._files, self._classes = files, classes
        self._returned = cache(self._find_returned)

    def of(self, file: SourceFile, use: Use, expression: str, depth: int = 0) -> str:
        """Return the type of the expression before a name; empty if it is not written anywhere."""
        first, *members = expression.split(".")
        if first in SELF:
            type_ = next((one for one in paths_around(use.within) if self._classes.has(one, file.family)), "")
        elif typed := file.variable(first.lstrip("$"), use):
            type_ = self._written(file, typed, depth)
        elif file.family in IMPLICIT_SELF and (own := self._own_member(file, use, first, depth)):
            type_ = own
        else:
            type_ = self._called(file, first, depth) if members or first.endswith("()") else ""
            if members and not type_ and (file.bindings(first) or self._classes.has(members[0], file.family)):
                type_ = self._called(file, members.pop(0), depth)  # of a module
        for member in members:
            type_ = type_ and self._member(file, type_, member, depth)
        return type_

    def _own_member(self, file: SourceFile, use: Use, name: str, depth: int) -> str:
        """Return the type that a member of a class around a use has or returns."""
        classes = (path for path in paths_around(use.within) if self._classes.has(path, file.family))
        return next(filter(None, (self._member(file, path, name, depth) for path in classes)), "")

    def _called(self, file: SourceFile, name: str, depth: int) -> str:
        """Return the class that a name is, or that a function of this name returns."""
        bare = name.removesuffix("()")
        if self._classes.has(bare, file.family):
            return self._classes.path_of(bare, file)
        return self._member(file, "", name, depth) or (bare if bare[:1].isupper() else "") if bare != name else ""

    def _written(self, file: SourceFile, typed: Use, depth: int) -> str:
        """Return a type that is written, or that of the value that is."""
        if not typed.receiver.startswith("="):
            return self._classes.path_of(typed.receiver, file)
        return self.of(file, typed, typed.receiver[1:], depth + 1) if depth < _MAX_VALUES else ""

    def _member(self, file: SourceFile, owner: str, member: str, depth: int) -> str:
        """Return the type that a member of a class has or returns, or a function if there is no class."""
        name = f"{member.removesuffix('()')}()"
        if name in ("new()", "init()") and owner:
            return owner
        known = [one for one in self._returned(name) if one[0].family == file.family]
        for owners in self._classes.levels(owner, file.family) if owner else [[""]]:
            if found := [one for one in known if any(is_same_class(f".{one[1].within}", of) for of in owners)]:
                types = {self._written(*one, depth) for one in found}
                type_ = types.pop() if len(types) == 1 else ""
                is_fluent = len(type_) == 1 and name.startswith(_FLUENT)
                return owner if type_ in SELF or is_fluent else type_ if len(type_) > 1 else ""
        return ""

    def _find_returned(self, name: str) -> list[tuple[SourceFile, Use]]:
        """Return what members of this name are written to have or return."""
        uses = ((file, use) for file in self._files.with_name(name) for use in file.references.uses)
        return [(file, use) for file, use in uses if use.kind == TYPED and use.name == name]


def paths_around(within: str) -> list[str]:
    """Return the paths of the definitions around a place, the innermost first."""
    around = within.split(".") if within else []
    return [".".join(around[:end]) for end in range(len(around), 0, -1)]
