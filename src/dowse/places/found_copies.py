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
    """The files that one search has found. Of copies, the first is ranked in place of all."""

    def __init__(self, rows: RowMap) -> None:
        self._rows = rows
        self._first: dict[int, int] = {}
        self._found = list["NDArray[np.int64]"]()

    def choose_first(self, documents: "NDArray[np.int64]", scores: Mapping[int, float]) -> None:
        """Rank those copies whose path matches best, as a query may name a project; of equal ones that of the shortest path."""
        import numpy as np

        _, places, counts = np.unique(self._rows.copies_of(documents), return_inverse=True, return_counts=True)
        several = documents[counts[places] > 1]
        matched = np.fromiter((scores.get(one, 0.0) for one in several.tolist()), np.float64, len(several))
        self.first_of(several[np.lexsort((several, self._rows.path_lengths(several), -matched))])
        self._found.append(documents)

    def first_of(self, documents: "NDArray[np.int64]") -> list[int]:
        """Return for each document the one that is ranked in its place: the first that was found of its copies."""
        self._found.append(documents)
        return list(map(self._first.setdefault, self._rows.copies_of(documents).tolist(), documents.tolist()))

    def others(self, document: int) -> list[int]:
        """Return the other files that were found for one."""
        import numpy as np

        if len(self._found) > 1:
            self._found = [np.unique(np.concatenate(self._found))]
        (found,) = self._found
        (number,) = self._rows.copies_of(np.array([document]))
        others: list[int] = found[(self._rows.copies_of(found) == number) & (found != document)].tolist()
        return others
