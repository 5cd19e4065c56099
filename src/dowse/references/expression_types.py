"""The types of expressions of names and calls, as far as types are written: `self.client().get` by what `client` returns."""

from dowse.chunking.source_references import TYPED, Use
from dowse.references.class_hierarchy import ClassHierarchy
from dowse.references.reference_files import SourceFile, SourceFiles, is_same_class

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
        self._returned: dict[str, list[tuple[SourceFile, Use]]] = {}

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
        if name not in self._returned:
            self._returned[name] = [
                (other, use) for other in self._files.with_name(name) for use in other.references.uses
                if use.kind == TYPED and use.name == name
            ]  # fmt: skip
        known = [one for one in self._returned[name] if one[0].family == file.family]
        for owners in self._classes.levels(owner, file.family) if owner else [[""]]:
            if found := [one for one in known if any(is_same_class(f".{one[1].within}", of) for of in owners)]:
                types = {self._written(*one, depth) for one in found}
                type_ = types.pop() if len(types) == 1 else ""
                is_fluent = len(type_) == 1 and name.startswith(_FLUENT)
                return owner if type_ in SELF or is_fluent else type_ if len(type_) > 1 else ""
        return ""


def paths_around(within: str) -> list[str]:
    """Return the paths of the definitions around a place, the innermost first."""
    around = within.split(".") if within else []
    return [".".join(around[:end]) for end in range(len(around), 0, -1)]
