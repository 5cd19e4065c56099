"""The database of the archives, which is derived from their indexes for citations and for other programs."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from dowse.archives.archive_locations import ARCHIVES, ArchiveLocations
from dowse.archives.archive_types import Citation, StoredArchiveDocument
from dowse.errors import NoSuchDocument, NotIndexed, StoreDamaged, UsageError
from dowse.sqlite_database import SqliteDatabase, SqlRow
from dowse.system.platform import make_private_folder
from dowse.visible_text import one_line

_DOCUMENT_COLUMNS = "number, id, title, path, source, type, date, question, url, archive"
SELECT_CITATIONS = """
    SELECT sources.id, targets.id, citations.url, context, confidence, kind, line, fault, citations.source, target, ordinal
    FROM citations JOIN documents AS sources ON sources.number = citations.source
    LEFT JOIN documents AS targets ON targets.number = target
    WHERE is_citation AND"""
REMEDY = "If it is the database of your archives, remove it and run: dowse archive index"

STEPS: tuple[str, ...] = (
    """
    CREATE TABLE facts (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID;

    -- `archive` is the folder that a document lies in, `path` is below it.
    CREATE TABLE documents (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        archive TEXT NOT NULL,
        path TEXT NOT NULL,
        title TEXT NOT NULL,
        date TEXT,
        source TEXT NOT NULL CHECK (source IN ('research', 'url-content')),
        type TEXT NOT NULL,
        question TEXT NOT NULL,
        url TEXT NOT NULL,
        names TEXT NOT NULL,
        -- The SHA-256 of its files; empty if its text has to be read again.
        hash BLOB NOT NULL,
        UNIQUE (archive, path)
    );

    -- `body` is the character at which the text begins after its front matter.
    CREATE TABLE content (
        document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
        text TEXT NOT NULL,
        body INTEGER NOT NULL
    );

    -- The keys by which a citation finds a document: `url:…`, `doi:…`, `pep:8`.
    CREATE TABLE identities (
        key TEXT NOT NULL,
        document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
        PRIMARY KEY (key, document)
    ) WITHOUT ROWID;
    CREATE INDEX identities_by_document ON identities (document);

    -- `written` is what a link says whose `target` other documents decide; `is_citation` is 0 for a link to itself.
    CREATE TABLE citations (
        source INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
        ordinal INTEGER NOT NULL,
        target INTEGER REFERENCES documents (number) ON DELETE SET NULL,
        url TEXT NOT NULL,
        written TEXT NOT NULL,
        key TEXT NOT NULL,
        kind TEXT NOT NULL,
        context TEXT NOT NULL,
        line INTEGER NOT NULL,
        confidence REAL NOT NULL DEFAULT 1.0,
        fault TEXT NOT NULL DEFAULT '',
        is_citation INTEGER NOT NULL DEFAULT 1,
        PRIMARY KEY (source, ordinal)
    ) WITHOUT ROWID;
    CREATE INDEX citations_by_target ON citations (target, source);
    CREATE INDEX citations_by_key ON citations (key);
    """,
)


class ArchiveDatabase(SqliteDatabase):
    """An open database of archives."""

    application_id = 0x646F7761  # spells `dowa`
    remedy = REMEDY

    def __init__(self, file: Path) -> None:
        super().__init__(file, STEPS)

    def is_filled(self) -> bool:
        """Return whether archives were indexed."""
        return bool(self._folders())

    def documents(self, numbers: Iterable[int] | None = None) -> dict[int, StoredArchiveDocument]:
        """Return the documents with these numbers, or all documents, by number."""
        query = f"SELECT {_DOCUMENT_COLUMNS} FROM documents"  # noqa: S608 - the columns are a constant
        if numbers is None:
            rows: Iterable[SqlRow] = self.rows(f"{query} ORDER BY archive, path")
        else:
            rows = self.rows_in(f"{query} WHERE number IN", numbers)
        names = {archive: folder.rpartition("/")[2] for archive, folder in self._folders().items()}
        return {row[0]: _document_from_row(row, names) for row in rows}

    def document(self, name: str) -> StoredArchiveDocument:
        """Return the document with this id, path, URL or title. Raise an error where there is none."""
        if found := self.find_document(name.strip()):
            return found
        shown = one_line(name.strip(), 80, "…")
        raise NoSuchDocument(
            f"There is no document '{shown}' in the archives. Name it by its id (doc-…), its path, or its URL."
        )

    def find_document(self, name: str) -> StoredArchiveDocument | None:
        """Return the document with this id, path, title or URL, the newest of several; None where there is none."""
        from dowse.archives.url_identities import url_identity

        for condition, value in (
            ("id = ?", name),
            ("path = ?", name),
            ("title = ? COLLATE NOCASE", name),
            (
                "number IN (SELECT document FROM identities WHERE key = ?)",
                url_identity(name) or name.lower().replace(" ", ":"),
            ),
        ):
            query = f"SELECT number FROM documents WHERE {condition} ORDER BY date DESC, number LIMIT 1"  # noqa: S608 - constants
            for (number,) in self.rows(query, (value,)):
                return self.documents([number])[number]
        return next((document for document in self.documents().values() if document.path == name), None)

    def text(self, number: int) -> str:
        """Return the text of a document."""
        return self.texts([number]).get(number, ("", 0))[0]

    def texts(self, numbers: Iterable[int]) -> dict[int, tuple[str, int]]:
        """Return the text of each document, and the character at which the text begins after its front matter."""
        rows = list(self.rows_in("SELECT document, text, body FROM content WHERE document IN", numbers))
        if not all(isinstance(text, str) and isinstance(body, int) for _, text, body in rows):
            raise StoreDamaged(f"The archives' database is damaged: it has a document without text. {REMEDY}")
        return {number: (text, body) for number, text, body in rows}

    def citations(self, end: Literal["source", "target"], numbers: Sequence[int]) -> dict[int, list[Citation]]:
        """Return the citations in each of some documents, in the order of its text, or those of each in others."""
        rows = list(self.rows_in(f"{SELECT_CITATIONS} citations.{end} IN", numbers))
        found: dict[int, list[Citation]] = {number: [] for number in numbers}
        for row in sorted(rows, key=lambda row: (row[8], row[6], row[10])):
            found[row[8] if end == "source" else row[9]].append(citation_from_row(row))
        return found

    def numbers(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the numbers of the documents with these ids that the database has."""
        return {row[0]: row[1] for row in self.rows_in("SELECT id, number FROM documents WHERE id IN", ids)}

    def locations(self) -> ArchiveLocations:
        """Return the locations of the archives that were last indexed."""
        folders = self._folders()
        research, url_content = (Path(folders.get(archive, f"{self.file}.none")) for archive in ARCHIVES)
        return ArchiveLocations(research, url_content, self.file)

    def _folders(self) -> dict[str, str]:
        """Return the folder of each archive that was indexed."""
        rows = self.rows("SELECT key, value FROM facts WHERE key LIKE 'folder:%'")
        return {key.removeprefix("folder:"): value for key, value in rows}


def open_database(file: Path) -> ArchiveDatabase:
    """Open an existing database. Raise NotIndexed where there is none."""
    _require_possible(file)
    if not file.is_file() or not file.stat().st_size:
        raise NotIndexed(f"No archive has been indexed yet: there is no {file.name}. Run: dowse archive index")
    return ArchiveDatabase(file)


def create_database(file: Path) -> ArchiveDatabase:
    """Open a database, and create it where it does not exist."""
    _require_possible(file)
    make_private_folder(file.parent)
    return ArchiveDatabase(file)


def _require_possible(file: Path) -> None:
    """Raise UsageError for a place that no file can have."""
    remedy = "Name a file with --db or SEARCH_DB_PATH."
    if file.is_dir():
        raise UsageError(f"{file.name} is a folder, not a database. {remedy}")
    above = next(folder for folder in file.parents if os.path.lexists(folder))
    if not above.is_dir():
        raise UsageError(f"{file.name} cannot be a database: {above.name} is not a folder. {remedy}")


def citation_from_row(row: SqlRow) -> Citation:
    """Return the citation in a row of `SELECT_CITATIONS`."""
    if tuple(map(type, row[2:8])) != (str, str, float, str, int, str):
        raise StoreDamaged(f"The archives' database is damaged: it has a citation of another type. {REMEDY}")
    if row[1] is None and row[9] is not None:
        raise StoreDamaged(f"The archives' database is damaged: it cites a document that it lacks. {REMEDY}")
    return Citation(*row[:8])


def _document_from_row(row: SqlRow, names: dict[str, str]) -> StoredArchiveDocument:
    number, id_, title, path, source, type_, date, question, url, archive = row
    if not all(isinstance(value, str) for value in row[1:] if value is not None):
        raise StoreDamaged(f"The archives' database is damaged: it has a document of another type. {REMEDY}")
    shown = f"{names.get(archive, archive)}/{path}"
    return StoredArchiveDocument(number, id_, title, shown, source, type_, date, question, url, archive, path)
