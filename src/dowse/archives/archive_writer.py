"""Writing and removing of documents in the database, within the transaction of a run."""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dowse.archives.archive_locations import Archive
from dowse.archives.archive_types import ArchivedDocument
from dowse.archives.archive_words import split_words, stem_words, strip_accents
from dowse.archives.bibtex import BibEntry
from dowse.types import Stat

_ID_DIGITS = 16
"""Hexadecimal digits of an id: 64 bits. Two of a million documents share an id in one of 37 million archives."""

MAX_SEGMENTS = 6
"""Parts that the full-text index may have after a run."""
MERGED_PAGES, MERGED_PAGES_PER_DOCUMENT = 2_000, 20
"""Pages of 4 KB that one run merges at most: 8 MB, which takes 0.3 s, and more after it has written documents."""


def document_id(archive: Archive, path: str) -> str:
    """Return the id of the document at a path. It stays the same in every run, and when the whole archive is moved."""
    return f"doc-{hashlib.sha256(f'{archive}/{path}'.encode()).hexdigest()[:_ID_DIGITS]}"


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file that a run has read or refused: its document, or the reason of the refusal."""

    archive: Archive
    path: str
    document: int | None
    stat: Stat
    checked_ns: int
    hash: bytes
    refusal: str = ""


class ArchiveWriter:
    """Writes documents within a transaction. Changes to the vocabulary are collected and written at the end."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._word_counts: Counter[str] = Counter()
        self.changed: set[int] = set()
        """The numbers of the documents that were written."""
        self.has_changed_names = False
        """Whether links may resolve differently: a document was added, removed or renamed."""

    def put(self, document: ArchivedDocument) -> tuple[int, bool]:
        """Add or replace the document at its path. Return its number, and whether it is new."""
        known = self._connection.execute(
            "SELECT number, title, names FROM documents WHERE archive = ? AND path = ?",
            (document.archive, document.path),
        ).fetchone()
        names = json.dumps(document.names)
        if known is None:
            number = self._add(document, names)
            self.has_changed_names = True
        else:
            number = int(known[0])
            self._remove_words(number)
            self._replace(number, document, names)
            self.has_changed_names |= (known[1], known[2]) != (document.title, names)
        self._connection.executemany(
            "INSERT OR IGNORE INTO identities VALUES (?, ?)", [(key, number) for key in document.keys]
        )
        self._connection.executemany(
            "INSERT INTO citations (source, ordinal, url, written, key, kind, context, line) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    number,
                    ordinal,
                    citation.url,
                    "" if citation.key else citation.url,
                    citation.key,
                    citation.kind,
                    citation.context,
                    citation.line,
                )
                for ordinal, citation in enumerate(document.citations)
            ],
        )
        self._add_words(number, document.title, document.question, document.text)
        self.changed.add(number)
        return number, known is None

    def remove(self, number: int) -> None:
        """Remove a document, with its files and citations."""
        self._remove_words(number)
        self._connection.execute("DELETE FROM documents WHERE number = ?", (number,))
        self.changed.discard(number)
        self.has_changed_names = True

    def put_file(self, file: SeenFile) -> None:
        """Record a file that was read or refused."""
        values = (
            file.archive,
            file.path,
            file.document,
            *_stat_columns(file.stat),
            file.checked_ns,
            file.hash,
            file.refusal,
        )
        self._connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def remove_files(self, archive: Archive, paths: Iterable[str]) -> None:
        """Remove the records of files, and the entries of those that were bibliographies."""
        for path in paths:
            self._connection.execute("DELETE FROM files WHERE archive = ? AND path = ?", (archive, path))
            self.put_bibliography(archive, path, ())

    def put_bibliography(self, archive: Archive, path: str, entries: Iterable[BibEntry]) -> None:
        """Replace the entries of a BibTeX file."""
        gone = self._connection.execute("DELETE FROM bibliography WHERE archive = ? AND path = ?", (archive, path))
        added = self._connection.executemany(
            "INSERT OR IGNORE INTO bibliography VALUES (?, ?, ?, ?, ?, ?)",
            [(archive, path, entry.key, entry.url, entry.identity, entry.title) for entry in entries],
        )
        self.has_changed_names |= gone.rowcount > 0 or added.rowcount > 0

    def set_fact(self, key: str, value: str) -> None:
        """Set a fact about the whole database."""
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))

    def finish(self) -> None:
        """Write the changes to the vocabulary, and count the run that changed documents."""
        known = {word for (word,) in self._connection.execute("SELECT word FROM words")}
        new = [word for word, count in self._word_counts.items() if count > 0 and word not in known]
        folded = list(map(strip_accents, new))
        self._connection.executemany(
            "INSERT INTO words VALUES (?, ?, ?, 0)",
            zip(new, folded, stem_words(folded), strict=True),
        )
        self._connection.executemany(
            "UPDATE words SET documents = documents + ? WHERE word = ?",
            [(count, word) for word, count in self._word_counts.items() if count],
        )
        self._connection.execute("DELETE FROM words WHERE documents <= 0")
        self._connection.execute("UPDATE facts SET value = CAST(value AS INTEGER) + 1 WHERE key = 'sequence'")

    def _add(self, document: ArchivedDocument, names: str) -> int:
        cursor = self._connection.execute(
            "INSERT INTO documents (id, archive, path, title, date, source, type, question, url, names) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document_id(document.archive, document.path), document.archive, document.path, document.title,
                document.date, document.source, document.type, document.question, document.url, names,
            ),
        )  # fmt: skip
        number = int(cursor.lastrowid or 0)
        self._connection.execute("INSERT INTO content VALUES (?, ?, ?)", (number, document.text, document.body_start))
        return number

    def _replace(self, number: int, document: ArchivedDocument, names: str) -> None:
        self._connection.execute(
            "UPDATE documents SET title = ?, date = ?, source = ?, type = ?, question = ?, url = ?, names = ? "
            "WHERE number = ?",
            (
                document.title, document.date, document.source, document.type, document.question, document.url, names,
                number,
            ),
        )  # fmt: skip
        self._connection.execute(
            "UPDATE content SET text = ?, body = ? WHERE document = ?", (document.text, document.body_start, number)
        )
        for table, column in (("identities", "document"), ("citations", "source")):
            self._connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))  # noqa: S608 - constants
        self._connection.execute("UPDATE files SET document = NULL WHERE document = ?", (number,))

    def merge_segments(self) -> None:
        """Merge the parts of the full-text index if there are many; a search of 18 parts takes four times as long as of one."""
        ((segments,),) = self._connection.execute("SELECT COUNT(DISTINCT segid) FROM texts_idx").fetchall()
        if segments > MAX_SEGMENTS:
            pages = MERGED_PAGES + MERGED_PAGES_PER_DOCUMENT * len(self.changed)
            self._connection.execute("INSERT INTO texts (texts, rank) VALUES ('merge', ?)", (-pages,))

    def _add_words(self, number: int, *fields: str) -> None:
        words = [split_words(field) for field in fields]
        self._connection.execute(
            "INSERT INTO texts (rowid, title, question, content) VALUES (?, ?, ?, ?)", (number, *map(" ".join, words))
        )
        self._word_counts.update(set().union(*words))

    def _remove_words(self, number: int) -> None:
        """Remove the words of a document. A contentless full-text table has to be given the words it should delete."""
        fields = self._connection.execute(
            "SELECT title, question, text FROM documents JOIN content ON document = number WHERE number = ?", (number,)
        ).fetchone()
        words = [split_words(field) for field in fields]
        self._connection.execute(
            "INSERT INTO texts (texts, rowid, title, question, content) VALUES ('delete', ?, ?, ?, ?)",
            (number, *map(" ".join, words)),
        )
        self._word_counts.subtract(set().union(*words))


def _stat_columns(stat: Stat) -> tuple[int, int, int, int]:
    return stat.size, stat.mtime_ns, stat.inode, stat.ctime_ns
