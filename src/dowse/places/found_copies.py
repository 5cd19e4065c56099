"""The copies among the files that a search of a place finds: forks, and libraries that many projects carry with them.

Candidates are counted before they are ranked, so without this ten hits would be three files and their copies.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

from dowse.places.row_map import RowMap
from dowse.text.analysis import terms_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class FoundCopies:
    """The files that one search has found. Of copies, the first is ranked in place of all."""

    def __init__(self, rows: RowMap) -> None:
        self._rows = rows
        self._first: dict[int, int] = {}
        self._found = list["NDArray[np.int64]"]()

    def choose_first(self, documents: "NDArray[np.int64]", terms: Collection[str]) -> None:
        """Rank the copies of the project whose name is in the query; if none is, those of the one with the shortest name."""
        import numpy as np

        _, places, counts = np.unique(self._rows.copies_of(documents), return_inverse=True, return_counts=True)
        paths = self._rows.file_paths(documents[counts[places] > 1].tolist())
        projects = {number: path.partition("/")[0] for number, path in paths.items()}
        order = {name: (*_unlikeness(name, terms), name) for name in set(projects.values())}
        self.first_of(np.array(sorted(projects, key=lambda number: order[projects[number]]), np.int64))
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


def _unlikeness(name: str, terms: Collection[str]) -> tuple[int, int]:
    """Return an order of names: those with most terms of the query come first, of these the shortest."""
    return -sum(term in terms for term in set(terms_of(name))), len(name)
