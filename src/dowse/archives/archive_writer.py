"""Documents written into the database and taken out again, within the transaction of one run."""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dowse.archives.archive_locations import Archive
from dowse.archives.archive_types import ArchivedDocument
from dowse.archives.archive_words import fold, letters, stems, words_of
from dowse.archives.bibtex import BibEntry
from dowse.types import Stat

_ID_DIGITS = 16
"""Of 64 bits; among a million documents two share them once in 37 million archives."""


def document_id(archive: Archive, path: str) -> str:
    """The id of the document at a path: the same in every run, and wherever the archive is moved as a whole."""
    return f"doc-{hashlib.sha256(f'{archive}/{path}'.encode()).hexdigest()[:_ID_DIGITS]}"


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file that was looked at: the document it is of, or why it was turned away."""

    archive: Archive
    path: str
    document: int | None
    stat: Stat
    checked_ns: int
    hash: bytes
    refusal: str = ""


class ArchiveWriter:
    """Writes within one transaction; what changed of the words is kept together until the end."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._words: Counter[str] = Counter()
        self.changed: set[int] = set()
        """Documents that were written."""
        self.has_renamed = False
        """Whether links may lead elsewhere than before: a document came, went, or is called otherwise."""

    def put(self, document: ArchivedDocument, content_hash: bytes) -> tuple[int, bool]:
        """Write a document in the place of what was there under its path; its number, and whether it is new."""
        known = self._connection.execute(
            "SELECT number, title, names FROM documents WHERE archive = ? AND path = ?",
            (document.archive, document.path),
        ).fetchone()
        names = json.dumps(document.names)
        if known is None:
            number = self._add(document, names, content_hash)
            self.has_renamed = True
        else:
            number = int(known[0])
            self._forget_words(number)
            self._replace(number, document, names, content_hash)
            self.has_renamed |= (known[1], known[2]) != (document.title, names)
        self._connection.executemany(
            "INSERT OR IGNORE INTO identities VALUES (?, ?)", [(key, number) for key in document.keys]
        )
        self._connection.executemany(
            "INSERT INTO citations (source, ordinal, url, written, key, kind, context, line, confidence) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    number,
                    ordinal,
                    one.url,
                    "" if one.key else one.url,
                    one.key,
                    one.kind,
                    one.context,
                    one.line,
                    one.confidence,
                )
                for ordinal, one in enumerate(document.cited)
            ],
        )
        self._learn_words(number, document.title, document.question, document.text)
        self.changed.add(number)
        return number, known is None

    def remove(self, number: int) -> None:
        """Take a document out, with its files and citations."""
        self._forget_words(number)
        self._connection.execute("DELETE FROM documents WHERE number = ?", (number,))
        self.changed.discard(number)
        self.has_renamed = True

    def put_file(self, file: "SeenFile") -> None:
        """Remember a file that was read, or why it was not."""
        values = (
            file.archive,
            file.path,
            file.document,
            *_numbers(file.stat),
            file.checked_ns,
            file.hash,
            file.refusal,
        )
        self._connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def remove_files(self, archive: Archive, paths: Iterable[str]) -> None:
        """Forget files, and the bibliographies they were."""
        for path in paths:
            self._connection.execute("DELETE FROM files WHERE archive = ? AND path = ?", (archive, path))
            self.put_bibliography(archive, path, ())

    def put_bibliography(self, archive: Archive, path: str, entries: Iterable[BibEntry]) -> None:
        """Write the entries of a BibTeX file in the place of those it had."""
        gone = self._connection.execute("DELETE FROM bibliography WHERE archive = ? AND path = ?", (archive, path))
        added = self._connection.executemany(
            "INSERT OR IGNORE INTO bibliography VALUES (?, ?, ?, ?, ?, ?)",
            [(archive, path, entry.key, entry.url, entry.identity, entry.title) for entry in entries],
        )
        self.has_renamed |= gone.rowcount > 0 or added.rowcount > 0

    def note(self, key: str, value: str) -> None:
        """Remember something of the whole."""
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))

    def finish(self) -> None:
        """Write what changed of the words, and that the documents are others than before."""
        known = {word for (word,) in self._connection.execute("SELECT word FROM words")}
        new = [word for word, count in self._words.items() if count > 0 and word not in known]
        folded = list(map(fold, new))
        self._connection.executemany(
            "INSERT INTO words VALUES (?, ?, ?, ?, 0)",
            zip(new, folded, stems(folded), map(letters, folded), strict=True),
        )
        self._connection.executemany(
            "UPDATE words SET documents = documents + ? WHERE word = ?",
            [(count, word) for word, count in self._words.items() if count],
        )
        self._connection.execute("DELETE FROM words WHERE documents <= 0")
        self._connection.execute("UPDATE facts SET value = CAST(value AS INTEGER) + 1 WHERE key = 'sequence'")

    def _add(self, document: ArchivedDocument, names: str, content_hash: bytes) -> int:
        cursor = self._connection.execute(
            "INSERT INTO documents (id, archive, path, title, date, source, type, question, url, names, content_hash) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document_id(document.archive, document.path), document.archive, document.path, document.title,
                document.date, document.source, document.type, document.question, document.url, names, content_hash,
            ),
        )  # fmt: skip
        number = int(cursor.lastrowid or 0)
        self._connection.execute("INSERT INTO content VALUES (?, ?, ?)", (number, document.text, document.body))
        return number

    def _replace(self, number: int, document: ArchivedDocument, names: str, content_hash: bytes) -> None:
        self._connection.execute(
            "UPDATE documents SET title = ?, date = ?, source = ?, type = ?, question = ?, url = ?, names = ?, "
            "content_hash = ? WHERE number = ?",
            (
                document.title, document.date, document.source, document.type, document.question, document.url, names,
                content_hash, number,
            ),
        )  # fmt: skip
        self._connection.execute(
            "UPDATE content SET text = ?, body = ? WHERE document = ?", (document.text, document.body, number)
        )
        for table, column in (("identities", "document"), ("citations", "source")):
            self._connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))  # noqa: S608 - constants
        self._connection.execute("UPDATE files SET document = NULL WHERE document = ?", (number,))

    def _learn_words(self, number: int, *fields: str) -> None:
        words = [words_of(field) for field in fields]
        self._connection.execute(
            "INSERT INTO texts (rowid, title, question, content) VALUES (?, ?, ?, ?)", (number, *map(" ".join, words))
        )
        self._words.update(set().union(*words))

    def _forget_words(self, number: int) -> None:
        """Take the words of a document out; an index without content has to be told what it held."""
        fields = self._connection.execute(
            "SELECT title, question, text FROM documents JOIN content ON document = number WHERE number = ?", (number,)
        ).fetchone()
        words = [words_of(field) for field in fields]
        self._connection.execute(
            "INSERT INTO texts (texts, rowid, title, question, content) VALUES ('delete', ?, ?, ?, ?)",
            (number, *map(" ".join, words)),
        )
        self._words.subtract(set().union(*words))


def _numbers(stat: Stat) -> tuple[int, int, int, int]:
    return stat.size, stat.mtime_ns, stat.inode, stat.ctime_ns
