"""The catalog: the SQLite database that holds the authoritative data of an index.

Every transaction has a sequence number. Each derived part records the number it has reached and
follows the table of changes from there.
"""

import contextlib
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from dowse.encoding.packing import dimensions_of
from dowse.errors import Failed, StoreDamaged
from dowse.sqlite_connection import DatabaseConnection
from dowse.sqlite_database import SqliteDatabase
from dowse.store import catalog_writer
from dowse.store.catalog_check import find_problems
from dowse.store.catalog_rows import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    KeptRows,
    checked_paths,
    chunks_from_rows,
    damage_is_told,
    document_from_row,
    unpack_text,
    whole_number,
)
from dowse.store.catalog_schema import APPLICATION_ID, STEPS
from dowse.store.catalog_writer import AppliedBatch, CurrentBatch, WorkStart, leave_out_overtaken
from dowse.store.matrix import VectorRow
from dowse.types import (
    Batch,
    FileContent,
    Kind,
    Link,
    ReadText,
    Reason,
    Stat,
    StoredChunk,
    StoredDocument,
    Totals,
    Verdict,
    View,
)

_PAGE_ROWS = 1000
_AFTER_ALL = chr(0x10FFFF)
"""Sorts after every path."""

_DOCUMENTS = f"SELECT {DOCUMENT_COLUMNS} FROM documents"  # noqa: S608 - the columns are a constant
_PATHS = "SELECT id, path FROM documents WHERE id IN"
_CHUNKS = f"SELECT {CHUNK_COLUMNS} FROM chunks"  # noqa: S608 - the columns are a constant
# CROSS fixes the join order. SQLite's own choice scans all vectors for each chunk: 500 of 65,000 chunks then take 11 s
# instead of 4 ms.
_VECTOR = "SELECT chunks.id, documents.id, documents.kind, documents.views, vectors.vector FROM"
_AND_VECTOR = "CROSS JOIN vectors ON vectors.input_hash = chunks.input_hash AND vectors.encoder = ?"
_VECTORS = f"{_VECTOR} chunks CROSS JOIN documents ON documents.id = chunks.document_id {_AND_VECTOR}"
_DOCUMENTS_VECTORS = f"{_VECTOR} documents CROSS JOIN chunks ON chunks.document_id = documents.id {_AND_VECTOR}"


class Changes(NamedTuple):
    """The changes after a transaction, which a derived part has to follow."""

    sequence: int
    added: list[int]
    removed: list[int]
    """Documents added and removed. One that came and went in between is removed: a writer that was killed may have added it."""
    encoded: list[int]
    """Chunks that got a vector, if they were asked for."""

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.encoded)


class ReadChunks(NamedTuple):
    """The text of a document, and its chunks with the text of each."""

    text: str
    chunks: list[tuple[StoredChunk, str]]


class Catalog(SqliteDatabase):
    """Documents, chunks, links, vectors and facts of one index. Reads are about one view, or about both."""

    application_id = APPLICATION_ID
    remedy = "Run: dowse doctor --fix"

    def __init__(self, file: Path) -> None:
        self.id = ""
        self._is_replaced = False
        """Whether a connection found another catalog in the file."""
        super().__init__(file, STEPS)
        self._totals: dict[tuple[Kind, View], tuple[str | None, Totals]] = {}
        self._facts: tuple[object, dict[str, str]] = (None, {})
        """All facts, and the state of the database that they were read in."""
        self.documents_by_id = KeptRows(
            self.state,
            lambda ids: {row[0]: document_from_row(row) for row in self.rows_in(f"{_DOCUMENTS} WHERE id IN", ids)},
        ).by_id
        """Returns those of the documents that exist, by id."""
        self.paths_by_id = KeptRows(self.state, lambda ids: dict(checked_paths(self.rows_in(_PATHS, ids)))).by_id
        """Returns the paths of those of the documents that exist, by id."""
        self.chunks_by_id = KeptRows(
            self.state,
            lambda ids: {one.id: one for one in chunks_from_rows(list(self.rows_in(f"{_CHUNKS} WHERE id IN", ids)))},
        ).by_id
        """Returns those of the chunks that exist, by id."""
        self.id = self._required("catalog")

    # Reading

    def is_same(self) -> bool:
        """Return whether the file, which has the inode of this catalog, is still this catalog.

        An inode is given to another file once nothing has the old one open: then the file is asked.
        """
        if not self._idle:
            with contextlib.suppress(Failed), self._connection():  # the next query says why
                pass
        return not self._is_replaced

    def _prepare(self, opened: DatabaseConnection) -> None:
        super()._prepare(opened)
        row = opened.connection.execute("SELECT value FROM facts WHERE key = 'catalog'").fetchone()
        self._is_replaced = self._is_replaced or (self.id != "" and row != (self.id,))

    def sequence(self) -> int:
        """Return the number of the last transaction."""
        return whole_number(self._required("sequence"))

    def fact(self, key: str) -> str | None:
        """Return a fact about the index as a whole. A search asks for twenty, which rarely change."""
        state, (known_state, facts) = self.state(), self._facts
        if state is None or state != known_state:
            facts = dict(self.rows("SELECT key, value FROM facts"))
            self._facts = state, facts
        return facts.get(key)

    def views(self) -> View:
        """Return the views that the index has."""
        return View(whole_number(self.fact("views") or "0") & View.BOTH)

    def documents_at(self, path: str, view: View = View.BOTH) -> list[StoredDocument]:
        """Return the representations of the file at a path, the project's first."""
        rows = self.rows(f"{_DOCUMENTS} WHERE path = ? AND views & ? ORDER BY views & 1 DESC", (path, view))
        return list(map(document_from_row, rows))

    def documents(self, below: str = "", after: str = "", view: View = View.BOTH) -> Iterator[StoredDocument]:
        """Yield all documents, or those below a folder (`src/`) or after a path, sorted by path.

        They are read a page at a time, so that 50,000 take no memory.
        """
        query = f"{_DOCUMENTS} WHERE (path, views) > (?, ?) AND path < ? AND views & ? ORDER BY path, views LIMIT {_PAGE_ROWS}"
        end = below[:-1] + chr(ord(below[-1]) + 1) if below else _AFTER_ALL
        last = (max(below, after), View.BOTH)
        while rows := self.rows(query, (*last, end, view)):
            yield from map(document_from_row, rows)
            last = (rows[-1][1], rows[-1][20])

    def paths(self, view: View) -> list[str]:
        """Return the paths of all documents, sorted: 0.2 ms for 420 where the documents themselves take 8."""
        return [row[0] for row in self.rows("SELECT path FROM documents WHERE views & ? ORDER BY path", (view,))]

    def ids_by_path(self, view: View) -> list[tuple[int, str]]:
        return list(checked_paths(self.rows("SELECT id, path FROM documents WHERE views & ?", (view,))))

    def find_twin(self, content: FileContent, recipe: str) -> StoredDocument | None:
        """Return a document that was chunked by its parser from the same content by the same recipe."""
        query = (
            f"{_DOCUMENTS} WHERE content_hash = ? AND kind = ? AND language = ? AND recipe = ? AND views & 1 = ? "
            "AND problem = '' LIMIT 1"
        )
        is_source = int(content.views & View.PROJECT)
        values = (content.content_hash, content.kind, content.language, recipe, is_source)
        rows = self.rows(query, values)
        return document_from_row(rows[0]) if rows else None

    def refusals(self) -> dict[str, tuple[Stat, Verdict]]:
        """Return the files that were refused for their content, by path."""
        rows = self.rows("SELECT path, reason, detail, size, mtime_ns, inode, ctime_ns FROM refusals")
        with damage_is_told():
            return {row[0]: (Stat(*row[3:]), Verdict(row[0], Reason(row[1]), detail=row[2])) for row in rows}

    def document_ids(self, view: View) -> list[int]:
        """Return the ids of all documents, ascending."""
        return [row[0] for row in self.rows("SELECT id FROM documents WHERE views & ? ORDER BY id", (view,))]

    def chunk_count(self, view: View) -> int:
        query = "SELECT coalesce(sum(chunk_count), 0) FROM documents WHERE views & ?"
        return int(self.rows(query, (view,))[0][0])

    def chunks(self, document_id: int) -> list[StoredChunk]:
        """Return the chunks of a document, in order."""
        rows = self.rows(f"{_CHUNKS} WHERE document_id = ? ORDER BY ordinal", (document_id,))
        return chunks_from_rows(rows)

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Return the first and last line of those of the chunks that exist, by id."""
        query = "SELECT id, start_line, end_line FROM chunks WHERE id IN"
        return {row[0]: row[1:] for row in self.rows_in(query, ids)}

    def work_start(self) -> WorkStart:
        """Return the present moment, as the start of work that compares files with the catalog."""
        newest = self.rows("SELECT coalesce(max(id), 0) FROM documents")[0][0]
        return WorkStart(time.time_ns(), newest, self.views())

    def chunk_ids(self, view: View) -> list[int]:
        query = "SELECT chunks.id FROM documents CROSS JOIN chunks ON document_id = documents.id WHERE views & ?"
        return [row[0] for row in self.rows(query, (view,))]

    def newest_chunk_id(self) -> int:
        """Return the highest id of a chunk; 0 when there is none."""
        return int(self.rows("SELECT coalesce(max(id), 0) FROM chunks")[0][0])

    def links(self, document_id: int) -> list[Link]:
        """Return the links of a document, in order."""
        query = "SELECT target, text, line FROM links WHERE document_id = ? ORDER BY ordinal"
        return [Link(*row) for row in self.rows(query, (document_id,))]

    def link_targets(self) -> Iterator[tuple[int, int, str]]:
        """Yield the document id, the position in the document and the target of every link, in order."""
        query = "SELECT document_id, ordinal, target FROM links WHERE (document_id, ordinal) > (?, ?)"
        query += f" ORDER BY document_id, ordinal LIMIT {_PAGE_ROWS}"
        last = (0, 0)
        while rows := self.rows(query, last):
            yield from rows
            last = rows[-1][:2]

    def converted_text(self, document_id: int) -> str | None:
        """Return the stored text of a document that was converted from its file; None for a verbatim one."""
        rows = self.rows("SELECT text FROM texts WHERE document_id = ?", (document_id,))
        return unpack_text(rows[0][0]) if rows else None

    def read_chunks(self, document: StoredDocument, read_text: ReadText) -> ReadChunks | None:
        """Return the text of a document with its chunks; None if its file has changed since."""
        converted = self.converted_text(document.id)
        text = read_text(document) if converted is None else converted
        if text is None:
            return None
        data = text.encode("utf-8", "replace")
        parts = (
            (chunk, data[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace"))
            for chunk in self.chunks(document.id)
        )
        return ReadChunks(text, list(parts))

    def details(self, document_id: int) -> str:
        """Return what is special to a document of its source, as JSON; empty if nothing is."""
        rows = self.rows("SELECT value FROM details WHERE document_id = ?", (document_id,))
        return unpack_text(rows[0][0]) if rows else ""

    def totals(self, kind: Kind, view: View) -> Totals:
        """Return the counts of one kind, cached until documents change, since every answer reports them."""
        state = self.fact("documents")
        counted_at, totals = self._totals.get((kind, view), (None, None))
        if totals is None or counted_at != state:
            totals = self._count(kind, view)
            self._totals[kind, view] = state, totals
        return totals

    def _count(self, kind: Kind, view: View) -> Totals:
        counted = "FROM documents WHERE kind = ? AND views & ?"
        query = f"SELECT language, count(*), sum(chunk_count) {counted} GROUP BY language ORDER BY 2 DESC, 1"
        languages = self.rows(query, (kind, view))
        cut = self.rows(f"SELECT path {counted} AND is_truncated ORDER BY path", (kind, view))
        unparsed = f"SELECT path, problem {counted} AND problem != '' ORDER BY path"
        return Totals(
            documents=sum(row[1] for row in languages),
            chunks=sum(row[2] for row in languages),
            languages={row[0]: row[1] for row in languages},
            truncated=tuple(row[0] for row in cut),
            unparsed=dict(self.rows(unparsed, (kind, view))),
        )

    def changes_since(self, sequence: int, view: View = View.BOTH, *, has_vectors: bool = False) -> Changes | None:
        """Return the changes after a transaction; None when they are no longer kept, or it is none of this catalog."""
        kinds = ("added", "removed", "encoded") if has_vectors else ("added", "removed")
        with self.snapshot() as connection:
            reached = self.sequence()
            horizon = max(
                whole_number(self._required(kind)) for kind in ("horizon", *["encoded_horizon"] * has_vectors)
            )
            if not horizon <= sequence <= reached or not catalog_writer.is_recorded(connection, sequence):
                return None
            query = f"SELECT what, subject FROM changes WHERE what IN {kinds} AND sequence > ? AND views & ?"  # noqa: S608 - constants
            rows = self.rows(query, (sequence, view))
        added, removed, encoded = (
            dict.fromkeys(subject for what, subject in rows if what == kind) for kind in ("added", "removed", "encoded")
        )
        return Changes(reached, [subject for subject in added if subject not in removed], list(removed), list(encoded))

    def chunks_without_vectors(self, encoder: str, limit: int, *, after: int = 0) -> list[int]:
        """Return chunks without a vector of their own, with ids above `after`."""
        query = (
            "SELECT id FROM chunks WHERE NOT EXISTS (SELECT 1 FROM vectors "
            "WHERE encoder = ? AND vectors.input_hash = chunks.input_hash AND NOT is_borrowed) "
            "AND id > ? ORDER BY id LIMIT ?"
        )
        return [row[0] for row in self.rows(query, (encoder, after, limit))]

    def encoders(self) -> list[str]:
        """Return the names of the encoders that have vectors."""
        # Step from name to name: DISTINCT alone reads every row.
        query = (
            "WITH RECURSIVE names(name) AS (SELECT min(encoder) FROM vectors UNION ALL "
            "SELECT (SELECT min(encoder) FROM vectors WHERE encoder > name) FROM names WHERE name IS NOT NULL) "
            "SELECT name FROM names WHERE name IS NOT NULL"
        )
        return [row[0] for row in self.rows(query)]

    def dimensions(self, encoder: str) -> int | None:
        """Return the number of dimensions of an encoder's vectors; None when it has none."""
        rows = self.rows("SELECT vector FROM vectors WHERE encoder = ? LIMIT 1", (encoder,))
        return dimensions_of(rows[0][0]) if rows else None

    def vectors(self, encoder: str) -> Iterator[VectorRow]:
        """Yield the vector of every chunk that has one, a page at a time: 128,000 chunks at once take 60 MB."""
        query, last = f"{_VECTORS} WHERE chunks.id > ? ORDER BY chunks.id LIMIT {_PAGE_ROWS}", 0
        while rows := self.rows(query, (encoder, last)):
            yield from (VectorRow(*row) for row in rows)
            last = rows[-1][0]

    def vectors_of_documents(self, encoder: str, ids: Iterable[int]) -> Iterator[VectorRow]:
        """Yield the vectors of the chunks of some documents."""
        query = f"{_DOCUMENTS_VECTORS} WHERE documents.id IN"
        return (VectorRow(*row) for row in self.rows_in(query, ids, (encoder,)))

    def vectors_of_chunks(self, encoder: str, ids: Iterable[int]) -> Iterator[VectorRow]:
        return (VectorRow(*row) for row in self.rows_in(f"{_VECTORS} WHERE chunks.id IN", ids, (encoder,)))

    def problems(self) -> list[str]:
        """Return what is wrong with the file and its rows."""
        return find_problems(self)

    # Writing; the caller holds the index's write lock

    def leave_out_overtaken(self, batch: Batch, start: WorkStart) -> CurrentBatch:
        """Leave out the changes of a batch that another process has overtaken since its work began."""
        paths = [*(put.document.path for put in batch.puts), *batch.drops, *(path for path, _ in batch.touches)]
        if start.views and start.views != self.views():
            return CurrentBatch(Batch(), paths)
        stored = dict[str, tuple[int, int]]()
        for path, number, checked_ns in self.rows_in("SELECT path, id, checked_ns FROM documents WHERE path IN", paths):
            known_number, known_ns = stored.get(path, (0, 0))
            stored[path] = max(number, known_number), max(checked_ns, known_ns)
        return leave_out_overtaken(batch, stored, start, time.time_ns())

    def apply(self, batch: Batch) -> AppliedBatch:
        """Make a batch durable in one transaction."""
        now_ns = time.time_ns()
        with self.transaction() as connection:
            return catalog_writer.apply_batch(connection, batch, now_ns)

    def put_vectors(self, encoder: str, rows: Iterable[tuple[int, bytes]]) -> None:
        """Store packed vectors of the chunks that still exist."""
        with self.transaction() as connection:
            catalog_writer.put_vectors(connection, encoder, rows)

    def forget_vectors(self, encoder: str) -> None:
        with self.transaction() as connection:
            connection.execute("DELETE FROM vectors WHERE encoder = ?", (encoder,))

    def forget_unused_vectors(self) -> None:
        """Remove vectors of content that no chunk has any more."""
        with self.transaction() as connection:
            connection.execute(
                "DELETE FROM vectors WHERE NOT EXISTS "
                "(SELECT 1 FROM chunks WHERE chunks.input_hash = vectors.input_hash)"
            )

    def set_fact(self, key: str, value: str | None) -> None:
        """Store a fact; None removes it."""
        with self.transaction() as connection:
            if value is None:
                connection.execute("DELETE FROM facts WHERE key = ?", (key,))
            else:
                connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))

    def _required(self, key: str) -> str:
        value = self.fact(key)
        if value is None:
            raise StoreDamaged(f"The {self.label} is damaged: the fact '{key}' is missing. {self.remedy}")
        return value
