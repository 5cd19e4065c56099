"""The classes of a project, by name: which members one has, and from which classes it inherits them."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from dowse.chunking.source_references import INHERITANCE
from dowse.references.reference_files import TYPES, DefinedName, SourceFile, SourceFiles, is_same_class

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
        self._known: dict[tuple[str, str], dict[str, _Class]] = {}

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

    def _classes(self, name: str, family: str) -> "dict[str, _Class]":
        """Return the classes of a name by their paths."""
        if (name, family) not in self._known:
            files = [file for file in self._files.with_name(name) if file.family == family]
            known = self._known[name, family] = {}
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
        return self._known[name, family]


class _Class(NamedTuple):
    """A class: the names of those that it extends, and the paths of its files."""

    bases: list[str]
    files: set[str]
