"""The tables of the LanceDB store: each chunk with its place, its text and its vectors, for any LanceDB client.

They are derived from the catalog, like the lexical index and the matrices, and follow it when the files beside the index
are renewed. dowse does not search them: among 100,000 vectors LanceDB takes 124 ms where the matrix takes 9, and 5 ms
for a word where Tantivy takes 0.2.

The replacement of a file is one `merge_insert`. A process that is killed between two of them leaves the old rows or the
new ones, and the next one writes the same changes again.
"""

import contextlib
import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoding.packing import unpack_vector
from dowse.encoding.selection import STATIC_VERSION
from dowse.errors import Failed, SettingsError
from dowse.settings import read_json
from dowse.store.catalog import Catalog
from dowse.store.catalog_rows import input_hash
from dowse.store.lance_import import import_lancedb
from dowse.store.store_files import TABLES_FILE
from dowse.system.platform import write_atomically
from dowse.types import KINDS, Kind, ReadText, StoredDocument, View

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
TABLES: dict[Kind, tuple[str, str]] = {
    "code": ("index.lancedb", "project_docs"),
    "docs": ("docs.lancedb", "project_docs_prose"),
}
"""The database and the table of each kind, as the specification of the project surface names them."""
MODEL_DIMENSIONS = 384
"""The width of `vector` before any chunk is encoded by a model."""
TABLE_DIMENSIONS = 256
"""The width of `table_vector`, the vector of the static table."""
MERGED_DOCUMENTS = 2000
"""Documents whose rows are merged into a table at once. It is not written anew: indexes of other programs would be lost."""
GROUP_DOCUMENTS = 200
"""Documents whose rows are in memory at once while a table is written."""
COMPACTED_VERSIONS = 20
"""A table is compacted after this many changes, each of which adds a file."""
KEPT_VERSIONS = timedelta(hours=1)
"""How long older versions of a table are kept, for clients that read one."""


@dataclass(frozen=True, slots=True)
class TablesRecord:
    """The content of the tables: their catalog, the transaction they have reached, the encoder of `vector`, and the view."""

    catalog: str
    sequence: int
    model: str = ""
    dimensions: int = MODEL_DIMENSIONS
    format: int = FORMAT
    view: int = View.PROJECT
    unread: tuple[int, ...] = ()
    """The documents without rows, because their files had changed. A file may change back, which the catalog does not see."""


class LanceTables:
    """The tables of one index in a folder."""

    def __init__(self, folder: Path, catalog: Catalog, read_text: ReadText) -> None:
        self._catalog, self._read_text = catalog, read_text
        self._folder, self._record_file = folder, folder / TABLES_FILE
        self._unread: list[int] = []
        """Documents whose files had changed when their rows were to be written."""

    def follow(self) -> None:
        """Bring the tables up to date with the catalog; raise Failed if that cannot be done. The caller holds the lock."""
        known, wanted = self.record(), self._wanted()
        if known == wanted:
            return
        import_lancedb()  # whose absence has a message
        self._unread = []
        is_same = known is not None and replace(known, sequence=wanted.sequence, unread=()) == wanted
        if known is None or not is_same or not self._merge(known, wanted):
            self._record_file.unlink(missing_ok=True)  # it is not true of tables of which a part is written anew
            self._unread = []
            self._rebuild(wanted)
        reached = replace(wanted, unread=tuple(self._unread))
        write_atomically(self._record_file, json.dumps(asdict(reached)).encode())

    def _rebuild(self, wanted: TablesRecord) -> None:
        """Write the tables anew, each in one step."""
        with lance_errors(self._folder):
            schema = self._schema(wanted)
            for kind, (database, name) in TABLES.items():
                connection = self._connect(database)
                if (self._folder / database / f"{name}.lance").exists():
                    _open_own_table(connection, database, name)
                ids = (document.id for document in self._catalog.documents(view=self._view()) if document.kind == kind)
                rows = self._batches(ids, wanted, schema)
                _compact(connection.create_table(name, rows, schema=schema, mode="overwrite", on_bad_vectors="null"))

    def set_aside(self) -> None:
        """Remove the tables, and keep those of another program under another name."""
        self._record_file.unlink(missing_ok=True)
        for database, _ in TABLES.values():
            folder, backup = self._folder / database, self._folder / f"{database}.bak"
            if folder.exists():
                shutil.rmtree(backup, ignore_errors=True)
                folder.replace(backup)

    def problems(self) -> list[str]:
        """Return how the tables differ from the catalog, if they have reached it, and whether they can be read."""
        known, wanted = self.record(), self._wanted()
        if known is None:
            return ["are missing or damaged"] if self._catalog.document_ids(self._view()) else []
        try:
            with lance_errors(self._folder):
                stored = {row for kind in KINDS for row in self._stored_chunks(kind)}
                wrong = len(stored ^ self._expected(wanted))
        except Failed as error:
            return [str(error)]
        is_behind = known != wanted  # they follow when the files beside the index are next renewed
        return [f"differ from the catalog in {wrong} rows"] if wrong and not is_behind else []

    def _expected(self, wanted: TablesRecord) -> set[tuple[int, int, str, bool]]:
        documents = self._catalog.documents(view=self._view())
        hashes = {document.id: document.content_hash.hex() for document in documents}
        with_vector = {row.chunk_id for row in self._catalog.vectors(wanted.model)} if wanted.model else set()
        return {
            (document, chunk.id, content, chunk.id in with_vector)
            for document, content in hashes.items()
            for chunk in self._catalog.chunks(document)
        }

    def record(self) -> TablesRecord | None:
        """Return what is recorded of the tables; None when they are missing or of another version."""
        try:
            read = read_json(self._record_file)
            found = TablesRecord(**{**read, "unread": tuple(read["unread"])})
        except (SettingsError, TypeError, KeyError):
            return None
        has_tables = all((self._folder / database / f"{name}.lance").is_dir() for database, name in TABLES.values())
        return found if has_tables and found.format == FORMAT else None

    def _open(self, kind: Kind) -> Any:
        database, name = TABLES[kind]
        return _open_own_table(self._connect(database), database, name)

    def _connect(self, database: str) -> Any:
        return import_lancedb().connect(self._folder / database)

    def _wanted(self) -> TablesRecord:
        """Return the record of tables that are up to date. `vector` has the model's vectors, or those that serve now."""
        serving = self._catalog.fact("note:encoder")
        models = [name for name in self._catalog.encoders() if name != STATIC_VERSION]
        model = serving if serving in models else next(iter(models), "")
        dimensions = self._catalog.dimensions(model) or MODEL_DIMENSIONS
        return TablesRecord(self._catalog.id, self._catalog.sequence(), model, dimensions, view=self._view())

    def _view(self) -> View:
        """Return the view whose documents are in the tables: the project's, where the index has it."""
        return View.PROJECT if self._catalog.views() & View.PROJECT or not self._catalog.views() else View.DOCUMENTS

    def _schema(self, record: TablesRecord) -> "pa.Schema":
        import pyarrow as pa

        return pa.schema(
            [
                ("id", pa.string()),
                ("path", pa.string()),
                ("text", pa.string()),
                ("vector", pa.list_(pa.float32(), record.dimensions)),
                ("start_line", pa.int32()),
                ("end_line", pa.int32()),
                ("content_hash", pa.string()),
                ("language", pa.string()),
                ("chunk", pa.int64()),
                ("document", pa.int64()),
                ("input_hash", pa.string()),
                ("table_vector", pa.list_(pa.float32(), TABLE_DIMENSIONS)),
            ]
        )

    def _merge(self, known: TablesRecord, wanted: TablesRecord) -> bool:
        """Replace the rows of the documents that have changed; the removed ones go in the first step.

        Return whether that can be done: not where a file of the tables is damaged, or the changes are not known any more.
        """
        changes = self._catalog.changes_since(known.sequence, has_vectors=True)
        if changes is None:
            return False
        added = {*changes.added, *known.unread}
        for encoder in (wanted.model, STATIC_VERSION):
            added |= {row.document_id for row in self._catalog.vectors_of_chunks(encoder, changes.encoded)}
        left = sorted(added)
        try:
            for start in range(0, max(1, len(left)), MERGED_DOCUMENTS):
                self._merge_group(left[start : start + MERGED_DOCUMENTS], changes.removed if start == 0 else (), wanted)
        except LANCE_ERRORS:
            self.set_aside()
            return False
        return True

    def _merge_group(self, added: Sequence[int], removed: Collection[int], wanted: TablesRecord) -> None:
        """Replace the rows of some documents in each table in one step."""
        import pyarrow as pa

        schema, view = self._schema(wanted), self._view()
        documents = self._catalog.documents_by_id(added).values()
        for kind in TABLES:
            ids = [document.id for document in documents if document.kind == kind and document.views & view]
            table = self._open(kind)
            merge = table.merge_insert("chunk").when_matched_update_all().when_not_matched_insert_all()
            if removed:
                merge = merge.when_not_matched_by_source_delete(f"document IN ({', '.join(map(str, removed))})")
            rows = pa.Table.from_batches(self._batches(ids, wanted, schema), schema)
            if removed or rows.num_rows:
                merge.execute(rows, on_bad_vectors="null")
                _compact(table)

    def _batches(self, ids: Iterable[int], record: TablesRecord, schema: "pa.Schema") -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        left = list(ids)
        for start in range(0, max(1, len(left)), GROUP_DOCUMENTS):  # LanceDB makes no table of no batch
            group = left[start : start + GROUP_DOCUMENTS]
            vectors = {
                column: {row.chunk_id: row.vector for row in self._catalog.vectors_of_documents(encoder, group)}
                for column, encoder in (("vector", record.model), ("table_vector", STATIC_VERSION))
            }
            documents = self._catalog.documents_by_id(group)
            rows = [row for one in group if one in documents for row in self._rows(documents[one], vectors)]
            yield pa.RecordBatch.from_pylist(rows, schema)

    def _rows(self, document: StoredDocument, vectors: dict[str, dict[int, bytes]]) -> Iterator[dict[str, Any]]:
        """Yield the rows of a document; none if its file has changed since."""
        read = self._catalog.read_chunks(document, self._read_text)
        if read is None:
            self._unread.append(document.id)
        for chunk, part in read.chunks if read else ():
            packed = {column: found.get(chunk.id) for column, found in vectors.items()}
            yield {
                "id": _chunk_name(self._catalog.id, chunk.id),
                "path": document.path.encode("utf-8", "replace").decode(),
                "text": part,
                "start_line": chunk.start_line,
                "end_line": chunk.end_line,
                "content_hash": document.content_hash.hex(),
                "language": document.language,
                "chunk": chunk.id,
                "document": document.id,
                "input_hash": input_hash(document.path, part).hex(),
                **{column: vector and unpack_vector(vector) for column, vector in packed.items()},
            }

    def _stored_chunks(self, kind: Kind) -> Iterator[tuple[int, int, str, bool]]:
        table = self._open(kind)
        columns = {name: name for name in ("document", "chunk", "content_hash")} | {"has": "vector IS NOT NULL"}
        for row in table.search().select(columns).limit(table.count_rows()).to_list():
            yield row["document"], row["chunk"], row["content_hash"], row["has"]


def _chunk_name(catalog: str, chunk: int) -> str:
    """Return the UUID of a chunk: of version 4 by its form, and the same whenever its row is written."""
    import uuid  # asks for the platform

    named = uuid.uuid5(uuid.UUID(catalog), str(chunk))
    return str(uuid.UUID(bytes=named.bytes, version=4))


def _open_own_table(connection: Any, database: str, name: str) -> Any:
    table = connection.open_table(name)
    if not {"chunk", "document", "input_hash"} <= set(table.schema.names):
        raise Failed(
            f"{database} was made by another program: its table {name} lacks columns of dowse. It is left as it is. "
            "To replace it, run: dowse doctor --fix"
        )
    return table


def _compact(table: Any) -> None:
    """Now and then, join the files of a table and remove versions that nobody reads any more."""
    if table.version % COMPACTED_VERSIONS == 0:
        table.optimize(cleanup_older_than=KEPT_VERSIONS)


LANCE_ERRORS = (RuntimeError, ValueError, OSError)
"""The errors of LanceDB for tables that cannot be read or written."""


@contextlib.contextmanager
def lance_errors(folder: Path) -> Iterator[None]:
    """Turn the errors of LanceDB into Failed."""
    try:
        yield
    except LANCE_ERRORS as error:
        reason = str(error).splitlines()[0][:300].rstrip(".")
        raise Failed(
            f"The LanceDB tables in {folder} cannot be used: {reason}. To make them anew, remove index.lancedb and "
            "docs.lancedb there, and run the command again."
        ) from error


def remove_tables(folder: Path) -> None:
    """Remove the tables that an index had while the settings asked for them; those of other programs stay."""
    for database, name in TABLES.values():
        shutil.rmtree(folder / database / f"{name}.lance", ignore_errors=True)
        with contextlib.suppress(OSError):  # something else is in it
            (folder / database).rmdir()
    (folder / TABLES_FILE).unlink(missing_ok=True)
