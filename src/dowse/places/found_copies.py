"""The copies among the files that a search of a place finds: forks, and libraries that many projects carry with them.

Candidates are counted before they are ranked, so without this ten hits would be three files and their copies.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dowse.places.row_map import RowMap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class FoundCopies:
    """The files that one search has found, by what they are copies of. The first of each is ranked in place of all."""

    def __init__(self, rows: RowMap) -> None:
        self._rows = rows
        self._found: dict[int, dict[int, None]] = {}

    def first_of(self, documents: "NDArray[np.int64]") -> list[int]:
        """Return for each document the one that is ranked in its place: the first that was found of its copies."""
        first = []
        for number, document in zip(self._rows.copies_of(documents).tolist(), documents.tolist(), strict=True):
            copies = self._found.setdefault(number, {})
            copies[document] = None
            first.append(next(iter(copies)))
        return first

    def choose_first(self, scores: Mapping[int, float]) -> None:
        """Rank those copies whose path matches best, as a query may name a project; of equal ones that of the shortest path."""
        several = [one for copies in self._found.values() if len(copies) > 1 for one in copies]
        paths = self._rows.file_paths(several)
        keys = {one: (-scores.get(one, 0.0), len(path), path) for one, path in paths.items()}
        for number, copies in self._found.items():
            if len(copies) > 1:
                self._found[number] = dict.fromkeys(sorted(copies, key=keys.__getitem__))

    def others(self, document: int) -> list[int]:
        """Return the other files that were found for one."""
        import numpy as np

        (number,) = self._rows.copies_of(np.array([document])).tolist()
        return [other for other in self._found.get(number, ()) if other != document]
