"""The documents that the rows of a place belong to, and their paths: all that a search has to know of its candidates.

A search by words or meaning gives the numbers of hundreds of rows. To read a column of them takes a request for almost
each of them from a bucket. So a server reads these columns as a whole for each version: of 181,232 rows they are 1.3 MB
there.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLUMNS = ("document", "ordinal", "content", "file")
"""The columns that are read. Rows of files alone have the last two: `file` is the path with the project before it, and
`content` is the same number in files that have all but their path in common."""
_PATH_STEP = 0x1E3779B97F4A7C15
"""An odd number, by which the path of a file changes the number of its content."""


class MappedFile(NamedTuple):
    """A file of a place: its row, the number of its content, and its path with the project before it."""

    row: int
    content: int
    path: str


@dataclass(frozen=True, slots=True)
class RowMap:
    """The documents of rows, by the numbers of the rows, and the files of documents."""

    rows: "NDArray[np.int64]"
    documents: "NDArray[np.int64]"
    ordinals: "NDArray[np.int32]"
    files: "NDArray[np.int64]"
    """The documents, sorted; of two rows of one document, the newer one comes last."""
    file_rows: "NDArray[np.int64]"
    contents: "NDArray[np.int64]"
    paths: Any
    """The paths of the files, in their order."""
    copies: "NDArray[np.int64]"
    """The same number for files that differ in their project alone: their content and their path in it are the same."""

    @classmethod
    def of(cls, found: Any) -> "RowMap":
        """Return the map of rows with `COLUMNS` and their numbers."""
        import numpy as np
        import pyarrow.compute as pc

        found = found.filter(pc.is_valid(found["document"]))
        found = found.take(pc.sort_indices(found["_rowid"]))
        files = found.filter(pc.is_valid(found["file"]))
        files = files.take(pc.sort_indices(files, [("document", "ascending"), ("_rowid", "ascending")]))
        contents, paths = pc.fill_null(files["content"], 0).to_numpy(), files["file"].combine_chunks()
        within = pc.replace_substring_regex(paths, "^[^/]*/", "").dictionary_encode()
        return cls(
            rows=found["_rowid"].to_numpy().astype(np.int64),
            documents=found["document"].to_numpy(),
            ordinals=pc.fill_null(found["ordinal"], -1).to_numpy(),
            files=files["document"].to_numpy(),
            file_rows=files["_rowid"].to_numpy().astype(np.int64),
            contents=contents,
            paths=paths,
            copies=contents + within.indices.to_numpy() * np.int64(_PATH_STEP),
        )

    def find(self, rows: "NDArray[np.int64]") -> tuple["NDArray[np.bool_]", "NDArray[np.int64]", "NDArray[np.int32]"]:
        """Return which of the rows are known, and their documents and ordinals; of a file, -1 is the ordinal."""
        import numpy as np

        at = np.searchsorted(self.rows, rows)
        known = at < len(self.rows)
        known[known] = self.rows[at[known]] == rows[known]
        return known, self.documents[at[known]], self.ordinals[at[known]]

    def copies_of(self, documents: "NDArray[np.int64]") -> "NDArray[np.int64]":
        """Return a number for each document, the same for files that differ in their project alone."""
        import numpy as np

        if not len(self.files):
            return documents
        at = np.searchsorted(self.files, documents, "right") - 1
        return np.where(self.files[at] == documents, self.copies[at], documents)

    def files_of(self, documents: Iterable[int]) -> dict[int, MappedFile]:
        """Return the files of those of the documents that are known."""
        import numpy as np
        import pyarrow as pa

        wanted = np.fromiter(documents, np.int64)
        at = np.searchsorted(self.files, wanted, "right") - 1
        known = at >= 0
        known[known] = self.files[at[known]] == wanted[known]
        at = at[known]
        columns = self.file_rows[at].tolist(), self.contents[at].tolist(), self.paths.take(pa.array(at)).to_pylist()
        return dict(zip(wanted[known].tolist(), map(MappedFile, *columns), strict=True))

    def document_at(self, full_path: str) -> int | None:
        """Return the document with a path, which may have been removed since."""
        import pyarrow.compute as pc

        found = pc.equal(self.paths, full_path).to_numpy(zero_copy_only=False).nonzero()[0]
        return int(self.files[found[self.file_rows[found].argmax()]]) if len(found) else None
