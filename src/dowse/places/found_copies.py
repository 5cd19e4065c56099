"""The copies among the files that a search of a place finds: forks, and libraries that many projects carry with them.

Candidates are counted before they are ranked, so without this ten hits would be three files and their copies.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from dowse.places.row_map import RowMap
from dowse.searching.path_kinds import kinds_of
from dowse.text.analysis import terms_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class FoundCopies:
    """The files that one search has found, by one state of the place. Of copies, one is ranked in place of all.

    It is the one whose path is in the query. If none is, it is that of a project whose name does not look like one of
    tests or examples, which count less; of these one that the query names, and then the one with the shortest name.
    """

    def __init__(self, rows: RowMap, text: str) -> None:
        self.rows = rows
        self._text = text.replace("\\", "/").lower()
        self._first: dict[int, int] = {}
        self._others = defaultdict[int, set[int]](set)
        self._order: dict[str, tuple[int, int, int, str]] = {}

    def first_of(self, documents: "NDArray[np.int64]") -> list[int]:
        """Return for each document the one that is ranked in its place, chosen when the first of them is found."""
        import numpy as np

        numbers = self.rows.copies_of(documents)
        is_new = np.fromiter((number not in self._first for number in numbers.tolist()), np.bool_, len(numbers))
        if is_new.any():
            self._choose(np.unique(documents[is_new]))
        first = [self._first[number] for number in numbers.tolist()]
        for document, one in zip(documents.tolist(), first, strict=True):
            if document != one:
                self._others[one].add(document)
        return first

    def _choose(self, documents: "NDArray[np.int64]") -> None:
        import numpy as np

        numbers = self.rows.copies_of(documents)
        _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        self._first.update(zip(numbers.tolist(), documents.tolist(), strict=True))
        several = documents[counts[places] > 1]
        files = self.rows.files_of(several.tolist())
        order = sorted(files, key=lambda one: self._unlikeness(files[one].path), reverse=True)  # the last one stays
        found = self.rows.copies_of(np.array(order, np.int64)).tolist()
        self._first.update(zip(found, order, strict=True))

    def _unlikeness(self, path: str) -> tuple[bool, tuple[int, int, int, str]]:
        project = path.partition("/")[0]
        if project not in self._order:
            matching = sum(term in self._terms for term in set(terms_of(project)))
            self._order[project] = len(kinds_of(f"{project}/file")), -matching, len(project), project
        return "/" not in self._text or path.lower() not in self._text, self._order[project]

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(terms_of(self._text))

    def merged(self, shares: Mapping[int, float]) -> dict[int, float]:
        """Return shares that documents have with those of copies added up."""
        import numpy as np

        merged: dict[int, float] = {}
        for first, share in zip(self.first_of(np.array(list(shares), np.int64)), shares.values(), strict=True):
            merged[first] = merged.get(first, 0.0) + share
        return merged

    def others(self, document: int) -> Iterable[int]:
        """Return the other files that were found for one."""
        return self._others.get(document, ())
