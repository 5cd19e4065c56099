"""The classes of a project, by name: which members one has, and from which classes it inherits them."""

from collections.abc import Iterator, Sequence
from itertools import islice

from dowse.chunking.source_references import INHERITANCE
from dowse.references.reference_files import TYPES, DefinedName, SourceFiles

_MAX_LEVELS = 8
_MAX_CLASSES = 50
"""How many classes are looked at on one level, so that no name of many classes takes long."""


class ClassHierarchy:
    """The classes of a project. Two classes of one name in one family of languages are taken as one."""

    def __init__(self, files: SourceFiles) -> None:
        self._files = files
        self._bases: dict[tuple[str, str], list[str] | None] = {}

    def has(self, name: str, family: str) -> bool:
        """Return whether the project defines a class of this name."""
        return self._bases_of(name, family) is not None

    def members(self, owner: str, definitions: Sequence[DefinedName], level: int = 0) -> list[DefinedName]:
        """Return those of the definitions that a class has itself, or from the nearest class that it extends."""
        for owners in islice(self.levels(owner, definitions[0].file.family), level, None) if definitions else ():
            if found := [one for one in definitions if one.owner in owners]:
                return found
        return []

    def is_below(self, name: str, base: str, family: str) -> bool:
        """Return whether a class extends another one, directly or not."""
        return any(base in owners for owners in islice(self.levels(name, family), 1, None))

    def levels(self, name: str, family: str) -> Iterator[list[str]]:
        """Yield a class, then those that it extends, then those that these extend, each once."""
        owners, seen = [name], {name}
        for _ in range(_MAX_LEVELS):
            yield owners
            bases = dict.fromkeys(base for one in owners for base in self._bases_of(one, family) or ())
            owners = [base for base in bases if base not in seen][:_MAX_CLASSES]
            seen |= set(owners)

    def _bases_of(self, name: str, family: str) -> list[str] | None:
        """Return the names of the classes that a class extends; None if there is no such class."""
        if (name, family) not in self._bases:
            files = [file for file in self._files.with_name(name) if file.family == family]
            is_defined = any(one.name == name and one.receiver in TYPES for file in files for one in file.definitions)
            inherited = (one for file in files for one in file.references.uses if one.kind == INHERITANCE)
            bases = [one.name for one in inherited if one.within.rpartition(".")[2] == name != one.name]
            self._bases[name, family] = bases if is_defined else None
        return self._bases[name, family]
