"""The classes of a project, by name: which members one has, and from which classes it inherits them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dowse.chunking.source_references import INHERITANCE
from dowse.references.reference_files import TYPES, SourceFiles

if TYPE_CHECKING:
    from dowse.references.name_resolution import DefinedName

_MAX_LEVELS = 8
_MAX_CLASSES = 50
"""How many classes are looked at for one name, so that no name of many classes takes long."""


class ClassHierarchy:
    """The classes of a project. Two classes of one name in one family of languages are taken as one."""

    def __init__(self, files: SourceFiles) -> None:
        self._files = files
        self._bases: dict[tuple[str, str], list[str] | None] = {}

    def has(self, name: str, family: str) -> bool:
        """Return whether the project defines a class of this name."""
        return self._bases_of(name, family) is not None

    def members(self, owner: str, definitions: "Sequence[DefinedName]") -> "list[DefinedName]":
        """Return those of the definitions that a class has itself, or from the nearest class that it extends."""
        if not definitions:
            return []
        family, owners = definitions[0].file.family, [owner]
        owned = {one.owner for one in definitions}
        seen = set(owners)
        for _ in range(_MAX_LEVELS):
            if owned & set(owners):
                return [one for one in definitions if one.owner in owners]
            bases = [base for one in owners for base in self._bases_of(one, family) or ()]
            owners = [base for base in dict.fromkeys(bases) if base not in seen][:_MAX_CLASSES]
            seen |= set(owners)
        return []

    def is_below(self, name: str, base: str, family: str) -> bool:
        """Return whether a class extends another one, directly or not."""
        owners, seen = [name], {name}
        while owners and len(seen) < _MAX_CLASSES:
            bases = dict.fromkeys(one for owner in owners for one in self._bases_of(owner, family) or ())
            if base in bases:
                return True
            owners = [one for one in bases if one not in seen]
            seen |= set(owners)
        return False

    def _bases_of(self, name: str, family: str) -> list[str] | None:
        """Return the names of the classes that a class extends; None if there is no such class."""
        key = name, family
        if key not in self._bases:
            found: list[str] | None = None
            for file in self._files.with_name(name):
                if file.family != family:
                    continue
                bases = [
                    one.name for one in file.references.uses if one.kind == INHERITANCE and _ends(one.within, name)
                ]
                if bases or any(one.name == name and one.receiver in TYPES for one in file.definitions):
                    found = [*(found or ()), *(base for base in bases if base != name)]
            self._bases[key] = found
        return self._bases[key]


def _ends(within: str, name: str) -> bool:
    return within == name or within.endswith(f".{name}")
