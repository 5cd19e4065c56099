"""The units of documents, with what is known of them before any query; those of files that were shown lately are kept."""

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from math import log

from dowse.searching import ranking_constants
from dowse.searching.term_positions import terms_of_word
from dowse.searching.units import Unit, find_units
from dowse.types import StoredDocument, Symbol

MAX_KEPT_UNITS = 20_000
"""Units that are kept, those of 200 to 2,000 files and chunks: 9 MB; finding those of a reply takes 2 ms."""


class DocumentUnits:
    """Units in order, at least one."""

    __slots__ = (
        "_names_by_term",
        "average_size",
        "boilerplate",
        "by_name",
        "ends",
        "scores",
        "sizes",
        "starts",
        "units",
    )

    def __init__(self, units: Sequence[Unit]) -> None:
        self.units = units
        self.starts, self.ends = [unit.start for unit in units], [unit.end for unit in units]
        self.sizes = [unit.size for unit in units]
        self.average_size = sum(self.sizes) / len(units)
        length, kinds = ranking_constants.UNIT_LENGTH, ranking_constants.UNIT_KINDS
        self.scores = [length * log(size) + kinds[unit.kind] for size, unit in zip(self.sizes, units, strict=True)]
        """The part of the score of each unit that is the same for every query."""
        self.by_name: dict[str, list[int]] = {}
        for at, unit in enumerate(units):
            self.by_name.setdefault(unit.name, []).append(at)
        self._names_by_term: dict[str, list[str]] | None = None
        self.boilerplate: dict[int, bool] = {}
        """Whether blocks have nothing but imports and comments, as far as it was asked."""

    @property
    def names_by_term(self) -> dict[str, list[str]]:
        """The names of units that have a term, for each term."""
        if self._names_by_term is None:
            names: dict[str, list[str]] = {}
            for name in self.by_name:
                for term in set(terms_of_word(name)):
                    names.setdefault(term, []).append(name)
            self._names_by_term = names
        return self._names_by_term

    def named(self, name: str) -> list[int]:
        """Return the positions of the units with a name; if there is none, of those with it in other capitals."""
        if name in self.by_name:
            return self.by_name[name]
        return [at for other, places in self.by_name.items() if other.lower() == name.lower() for at in places]

    def at(self, line: int) -> int | None:
        """Return the position of the unit that has a line."""
        at = bisect_right(self.starts, line) - 1
        return at if at >= 0 and line <= self.ends[at] else None

    def within(self, start: int, end: int) -> "DocumentUnits":
        """Return the units that have some of the lines; those lines as a unit if there is none."""
        first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
        if first == 0 and last == len(self.units):
            return self
        return DocumentUnits(self.units[first:last] or [Unit(start, end)])


class _KeptUnits:
    """The units of documents that were shown lately. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[object, ...], DocumentUnits] = {}
        self._count = 0

    def get(self, key: tuple[object, ...]) -> DocumentUnits | None:
        return self._known.get(key)

    def add(self, key: tuple[object, ...], units: DocumentUnits) -> None:
        with self._lock:
            if key not in self._known:
                self._known[key] = units
                self._count += len(units.units)
            while self._count > MAX_KEPT_UNITS and len(self._known) > 1:
                self._count -= len(self._known.pop(next(iter(self._known))).units)


_KEPT = _KeptUnits()


def units_of(
    document: StoredDocument, read_symbols: Callable[[], Iterable[Symbol]], lines: Sequence[str], first: int
) -> DocumentUnits:
    """Return the units of some lines of a document, of which the first has this number."""
    is_kept = document.id > 0 and bool(document.content_hash)  # the names in other files are guessed for each query
    key = (document.content_hash, document.language, document.kind, first, len(lines))
    units = _KEPT.get(key) if is_kept else None
    if units is None:
        found = find_units(lines, read_symbols(), document.language, first, document.kind)
        units = DocumentUnits(found or [Unit(0, len(lines) - 1)])
        if is_kept:
            _KEPT.add(key, units)
    return units
