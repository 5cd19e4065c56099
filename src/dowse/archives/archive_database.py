"""The database of the archives: opened, and its documents and citations read."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from dowse.archives.archive_schema import APPLICATION_ID, STEPS
from dowse.archives.archive_types import INFERRED, Citation, StoredArchiveDocument
from dowse.errors import ArchivedDocumentNotFound, NotIndexed, UsageError
from dowse.platform import make_private_folder
from dowse.store.catalog_database import CatalogDatabase

Row = tuple[Any, ...]
Made = TypeVar("Made")

_DOCUMENT = "number, id, title, path, source, type, date, question, url, archive"
_CITATION = "citations.source, citations.target, url, context, confidence, kind, line, fault, ordinal"
_CITATIONS = f"SELECT {_CITATION} FROM citations WHERE is_citation AND"  # noqa: S608 - a constant
EXPLICIT = " AND kind NOT IN ({})".format(", ".join(f"'{kind}'" for kind in INFERRED))
"""Added to a question about citations that inferred ones do not count for."""


class ArchiveDatabase:
    """An open database. What is derived from its documents is kept until they change."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._database = CatalogDatabase(file, STEPS, APPLICATION_ID)
        self._lock = threading.Lock()
        self._derived: dict[str, tuple[int, Any]] = {}

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        """All rows of a query."""
        return self._database.rows(query, values)

    def rows_in(self, query: str, values: Iterable[Any], before: Sequence[object] = ()) -> Iterator[Row]:
        """All rows of a query that ends in `IN`."""
        return self._database.rows_in(query, values, before)

    def snapshot(self) -> AbstractContextManager[None]:
        """Several reads of one state."""
        return self._database.snapshot()

    def transaction(self) -> AbstractContextManager[Any]:
        """All or nothing."""
        return self._database.transaction()

    def close(self) -> None:
        """Close every thread's connection."""
        self._database.close()

    def sequence(self) -> int:
        """The number of the last run that changed anything."""
        return int(self.fact("sequence") or 0)

    def fact(self, key: str) -> str | None:
        """Something that is known of the whole."""
        rows = self.rows("SELECT value FROM facts WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def derived(self, name: str, make: Callable[[], Made]) -> Made:
        """Something that is made of all documents, once for each state of them."""
        sequence = self.sequence()
        known = self._derived.get(name)
        if known is None or known[0] != sequence:
            with self._lock:
                known = self._derived.get(name)
                if known is None or known[0] != sequence:
                    known = self._derived[name] = (sequence, make())
        made: Made = known[1]
        return made

    def documents(self, numbers: Iterable[int] | None = None) -> dict[int, StoredArchiveDocument]:
        """Documents by their number, or all of them."""
        query = f"SELECT {_DOCUMENT} FROM documents"  # noqa: S608 - the columns are a constant
        if numbers is None:
            rows: Iterable[Row] = self.rows(f"{query} ORDER BY archive, path")
        else:
            rows = self.rows_in(f"{query} WHERE number IN", numbers)
        names = self._folder_names()
        return {row[0]: _stored(row, names) for row in rows}

    def document(self, named: str) -> StoredArchiveDocument:
        """The document that somebody names: by its id, path, address, or by its title where only one has it."""
        given = named.strip()
        if found := self.find(given):
            return found
        alike = [
            row[0] for row in self.rows("SELECT id FROM documents WHERE title = ? COLLATE NOCASE LIMIT 4", (given,))
        ]
        if len(alike) > 1:
            raise UsageError(f"Several documents are called '{_shown(given)}': {', '.join(alike)}. Name one by its id.")
        raise ArchivedDocumentNotFound(
            f"There is no document '{_shown(given)}' in the archives. Name it by its id (doc-…), its path, or its URL."
        )

    def find(self, given: str) -> StoredArchiveDocument | None:
        """The same; None where there is none, or several have the title."""
        from dowse.archives.url_identities import identity

        if not given:
            return None
        key = identity(given) or given.lower().replace(" ", ":")
        for query, value in (
            ("SELECT number FROM documents WHERE id = ?", given),
            ("SELECT number FROM documents WHERE path = ? ORDER BY archive", given),
            ("SELECT number FROM documents WHERE title = ? COLLATE NOCASE", given),
            (_NEWEST, key),
        ):
            rows = self.rows(f"{query} LIMIT 2", (value,))
            if rows and (len(rows) == 1 or " title " not in query):
                return self.documents([rows[0][0]])[rows[0][0]]
        for archive, name in self._folder_names().items():
            if given.startswith(f"{name}/"):
                below = given.removeprefix(f"{name}/")
                rows = self.rows("SELECT number FROM documents WHERE archive = ? AND path = ?", (archive, below))
                if rows:
                    return self.documents([rows[0][0]])[rows[0][0]]
        return None

    def text(self, number: int) -> str:
        """What a document says."""
        rows = self.rows("SELECT text FROM content WHERE document = ?", (number,))
        return str(rows[0][0]) if rows else ""

    def texts(self, numbers: Iterable[int]) -> dict[int, tuple[str, int]]:
        """What documents say, and where their text begins after what it says of itself."""
        rows = self.rows_in("SELECT document, text, body FROM content WHERE document IN", numbers)
        return {number: (text, body) for number, text, body in rows}

    def citing(self, number: int, *, inferred: bool = False) -> list[Citation]:
        """What a document cites, in the order of its text."""
        return self.citing_each([number], inferred=inferred)[number]

    def cited(self, number: int, *, inferred: bool = False) -> list[Citation]:
        """What cites a document, by the citing one."""
        return self.cited_each([number], inferred=inferred)[number]

    def citing_each(self, numbers: Sequence[int], *, inferred: bool = False) -> dict[int, list[Citation]]:
        """The same of several documents at once."""
        return self._citations("source", numbers, inferred=inferred)

    def cited_each(self, numbers: Sequence[int], *, inferred: bool = False) -> dict[int, list[Citation]]:
        """The same of several documents at once."""
        return self._citations("target", numbers, inferred=inferred)

    def _citations(self, end: str, numbers: Sequence[int], *, inferred: bool) -> dict[int, list[Citation]]:
        explicit = "" if inferred else EXPLICIT
        rows = list(self.rows_in(f"{_CITATIONS} 1{explicit} AND citations.{end} IN", numbers))
        rows.sort(key=lambda row: (row[0], row[6], row[8]))
        ids = self.ids(number for row in rows for number in row[:2] if number is not None)
        found: dict[int, list[Citation]] = {number: [] for number in numbers}
        for row in rows:
            found[row[0] if end == "source" else row[1]].append(citation(row[:8], ids))
        return found

    def ids(self, numbers: Iterable[int]) -> dict[int, str]:
        """The ids of documents by their numbers."""
        rows = self.rows_in("SELECT number, id FROM documents WHERE number IN", set(numbers))
        return {row[0]: row[1] for row in rows}

    def _folder_names(self) -> dict[str, str]:
        """What the folder of each archive is called."""
        rows = self.rows("SELECT key, value FROM facts WHERE key LIKE 'folder:%'")
        return {key.removeprefix("folder:"): value.rpartition("/")[2] for key, value in rows}


_NEWEST = """
    SELECT document FROM identities JOIN documents ON number = document
    WHERE key = ? ORDER BY date DESC, number
"""
"""Of several captures of one page, the newest."""


def open_database(file: Path) -> ArchiveDatabase:
    """Open a database that exists; NotIndexed where there is none."""
    if not file.is_file():
        raise NotIndexed(f"No archive has been indexed yet: there is no {file.name}. Run: dowse archive index")
    return ArchiveDatabase(file)


def create_database(file: Path) -> ArchiveDatabase:
    """Open a database, which is made where there is none."""
    if file.is_dir():
        raise UsageError(f"{file} is a folder, not a database. Name a file with --db or SEARCH_DB_PATH.")
    make_private_folder(file.parent)
    return ArchiveDatabase(file)


def citation(row: Row, ids: dict[int, str]) -> Citation:
    """A citation from its row."""
    source, target, url, context, confidence, kind, line, fault = row
    return Citation(
        ids[source], ids[target] if target is not None else None, url, context, confidence, kind, line, fault
    )


def _stored(row: Row, names: dict[str, str]) -> StoredArchiveDocument:
    number, id_, title, path, source, type_, date, question, url, archive = row
    shown = f"{names.get(archive, archive)}/{path}"
    return StoredArchiveDocument(number, id_, title, shown, source, type_, date, question, url, archive, path)


def _shown(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"
