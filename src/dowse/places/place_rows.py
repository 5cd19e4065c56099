"""The rows of a place: one for each chunk, each file with its masked text, each project, and the place itself.

The id of a row follows from its content, so that a row never changes: another content is another row. Only the rows of a
project and of the place are written again.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from dowse.encoding.packing import unpack_vector
from dowse.encoding.selection import STATIC_VERSION
from dowse.store.catalog import Catalog
from dowse.store.catalog_rows import input_hash
from dowse.text.analysis import remove_separators, terms_of, whole_terms_of
from dowse.types import Field, ReadText, Stat, StoredChunk, StoredDocument, Symbol

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 3
TABLE_DIMENSIONS, MODEL_DIMENSIONS = 256, 384
WORD_COLUMNS: Mapping[Field, str] = {
    "parts": "parts", "words": "words", "symbols": "symbol_parts", "names": "names", "headings": "heading_parts",
    "path": "path_parts",
}  # fmt: skip
"""The columns with words, by the field that they hold: our own terms with spaces between them. The engine's own
splitting would not find a part of an identifier."""
PLACE_ID = 0
_ID_COUNT = 1 << 62
_ID_STEP = 0x278DDE6E5FD29F05
"""An odd number of 62 bits without a pattern, so that the ids of one document are as far from each other as from all others."""
GROUP_DOCUMENTS = 200
"""Documents whose rows are made at once."""
MAX_NAME_LENGTH = 100


@dataclass(frozen=True, slots=True)
class PublishedProject:
    """One project of a place, as its row describes it."""

    name: str
    commit: str = ""
    published: str = ""
    files: int = 0
    chunks: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    """The number of files of code in each language."""
    rules: str = ""
    """A hash of the settings and ignore files that decided which files are published."""
    encoders: Sequence[str] = ()


def schema() -> "pa.Schema":
    """Return the columns of a place. The static encoder is a part of the format: its vectors are compared with queries."""
    import pyarrow as pa

    texts = (
        "row",
        "project",
        "path",
        "kind",
        "language",
        "blob",
        "recipe",
        "title",
        "text",
        "facts",
        "symbols",
        "headings",
        "model",
    )
    numbers = ("ordinal", "start_byte", "end_byte", "start_line", "end_line")
    return pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False),
            ("document", pa.int64()),
            ("content", pa.int64()),
            *((name, pa.string()) for name in (*texts, "content_hash", "text_hash", "input_hash")),
            *((name, pa.int32()) for name in numbers),
            *((name, pa.string()) for name in WORD_COLUMNS.values()),
            ("table_vector", pa.list_(pa.float32(), TABLE_DIMENSIONS)),
            ("model_vector", pa.list_(pa.float32(), MODEL_DIMENSIONS)),
            ("file", pa.string()),
        ],
        metadata={"dowse": json.dumps({"format": FORMAT, "encoder": STATIC_VERSION})},
    )  # fmt: skip


def quote(text: str) -> str:
    """Return a text as a condition has it."""
    return "'" + text.replace("'", "''") + "'"


def number_of(*parts: object) -> int:
    """Return the id of a row: 62 bits of a hash, so that no id is 0 or negative in practice."""
    data = "\0".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") >> 2 or 1


def chunk_id(document: int, ordinal: int) -> int:
    """Return the id of a chunk: its document and a step for each chunk before it. A hash of both takes seven times as long."""
    return (document + (ordinal + 1) * _ID_STEP) % _ID_COUNT or 1


def project_id(name: str) -> int:
    """Return the id of the row of a project."""
    return number_of("project", name)


def is_project_name(name: str) -> bool:
    """Return whether a text may be the name of a project: paths begin with it, and it stands in messages."""
    return 0 < len(name) <= MAX_NAME_LENGTH and name.isprintable() and "/" not in name and name not in (".", "..")


def place_row() -> dict[str, Any]:
    """Return the row of the place, which every publisher of a new project writes, so that no two of them meet unseen."""
    return {"id": PLACE_ID, "row": "place"}


def project_row(project: PublishedProject) -> dict[str, Any]:
    """Return the row of a project."""
    facts = json.dumps({name: getattr(project, name) for name in PublishedProject.__slots__})
    return {"id": project_id(project.name), "row": "project", "project": project.name, "facts": facts}


def removed_row(number: int) -> dict[str, Any]:
    """Return the row that takes the place of one that goes: nothing finds it."""
    return {"id": number, "row": "removed"}


def project_of(facts: str | None) -> PublishedProject | None:
    """Return the project of a row; None for a row that no publisher writes, or whose project is not published yet."""
    try:
        known = json.loads(facts or "")  # an earlier dowse wrote more
        found = PublishedProject(**{name: known[name] for name in PublishedProject.__slots__ if name in known})
        numbers = (found.files, found.chunks, *found.languages.values())
        texts = (found.name, found.commit, found.published, found.rules, *found.encoders, *found.languages)
        is_sound = all(type(number) is int for number in numbers) and all(type(text) is str for text in texts)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        return None
    return found if is_sound and is_project_name(found.name) and found.commit else None


@dataclass(frozen=True, slots=True)
class RowMaker:
    """Makes the rows of the files of a project from its index."""

    project: str
    catalog: Catalog
    read_text: ReadText
    model: str
    """The encoder of the model's vectors; empty if there are none."""

    def batches(self, blobs: Mapping[str, str]) -> "Iterator[pa.RecordBatch]":
        """Yield the rows of all files, whose blobs in the repository are known by path."""
        documents = [one for one in self.catalog.documents() if one.path in blobs]
        for start in range(0, len(documents), GROUP_DOCUMENTS):
            group = documents[start : start + GROUP_DOCUMENTS]
            ids = [one.id for one in group]
            vectors = {
                column: {
                    row.chunk_id: unpack_vector(row.vector) for row in self.catalog.vectors_of_documents(name, ids)
                }
                for column, name in (("table_vector", STATIC_VERSION), ("model_vector", self.model))
                if name
            }
            rows = [row for one in group for row in self._rows(one, blobs[one.path], vectors)]
            yield _batch(rows)

    def _rows(
        self, document: StoredDocument, blob: str, vectors: Mapping[str, Mapping[int, Any]]
    ) -> Iterator[dict[str, Any]]:
        read = self.catalog.read_chunks(document, self.read_text)
        if read is None:
            return
        data = read.text.encode("utf-8", "replace")
        hashed = hashlib.sha256(data).hexdigest()
        number = number_of(self.project, document.path, hashed, document.recipe)
        common = {
            "document": number, "project": self.project, "path": document.path, "kind": document.kind,
            "language": document.language,
        }  # fmt: skip
        packed = pack_file(data.decode(), document, hashed, [chunk for chunk, _ in read.chunks])
        yield {
            **common, "id": number, "row": "file", "blob": blob, "recipe": document.recipe, "title": document.title,
            "text": packed, "content": number_of(packed), "content_hash": hashed,
            "file": f"{self.project}/{document.path}",
            "path_parts": _words(terms_of(document.path) + terms_of(PurePosixPath(document.path).stem)),
        }  # fmt: skip
        for chunk, part in read.chunks:
            names, own = [symbol.name for symbol in chunk.symbols], chunk_id(number, chunk.ordinal)
            yield {
                **common, "id": own, "row": "chunk",
                "ordinal": chunk.ordinal, "start_byte": chunk.start_byte, "end_byte": chunk.end_byte,
                "start_line": chunk.start_line, "end_line": chunk.end_line, "text_hash": chunk.text_hash.hex(),
                "input_hash": input_hash(document.path, part).hex(),
                "symbols": json.dumps([(one.name, one.kind, one.line, one.end_line) for one in chunk.symbols]),
                "headings": json.dumps(chunk.headings),
                **_chunk_words(part, names, chunk.headings),
                **{column: found.get(chunk.id) for column, found in vectors.items()},
                "model": self.model if chunk.id in vectors.get("model_vector", {}) else None,
            }  # fmt: skip


def _batch(rows: Sequence[Mapping[str, Any]]) -> "pa.RecordBatch":
    import numpy as np
    import pyarrow as pa

    columns = []
    for field_ in schema():
        values = [row.get(field_.name) for row in rows]
        if not pa.types.is_fixed_size_list(field_.type):
            columns.append(pa.array(values, field_.type))
            continue
        width = field_.type.list_size
        found = np.array(
            [value is None or not value.any() for value in values]
        )  # a text without words has no direction
        cells = np.stack(
            [np.zeros(width, np.float32) if value is None else value.astype(np.float32) for value in values]
        )
        flat = pa.array(cells.reshape(-1), pa.float32())
        columns.append(pa.FixedSizeListArray.from_arrays(flat, width, mask=pa.array(found)))
    return pa.RecordBatch.from_arrays(columns, schema=schema())


def _chunk_words(text: str, names: Sequence[str], headings: Sequence[str]) -> dict[str, str | None]:
    """Return the columns of a chunk that are searched by words; None for those without any."""
    return {
        "parts": _words(terms_of(text)),
        "words": _words(whole_terms_of(text)),
        "symbol_parts": _words(terms_of(" ".join(names))),
        "names": _words(whole_terms_of(" ".join(map(remove_separators, names)))),
        "heading_parts": _words(terms_of(" ".join(headings))),
    }


def _words(terms: Iterable[str]) -> str | None:
    return " ".join(terms) or None


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file of a place: its document, its masked text and its chunks."""

    document: StoredDocument
    text: str
    _chunks: Sequence[Sequence[Any]]
    """Its chunks, or those of the file that it is a copy of, as they were packed: a search looks at few of them."""

    def copied_to(self, number: int, full_path: str) -> "PublishedFile":
        """Return another file with the same content."""
        return replace(self, document=replace(self.document, id=number, path=full_path))

    def chunks(self) -> list[StoredChunk]:
        """Return its chunks, in order; raise TypeError, ValueError or LookupError if no publisher wrote one."""
        return [self._unpack(packed) for packed in self._chunks]

    def chunk(self, ordinal: int) -> StoredChunk | None:
        """Return the chunk with a number; raise an error as above."""
        return next(
            (self._unpack(packed) for packed in self._chunks[ordinal : ordinal + 1] if packed[0] == ordinal), None
        )

    def _unpack(self, packed: Sequence[Any]) -> StoredChunk:
        ordinal, start, end, first, last, hashed, symbols, headings = packed
        number = self.document.id
        return StoredChunk(
            chunk_id(number, int(ordinal)), number, int(ordinal), int(start), int(end), int(first), int(last),
            bytes.fromhex(hashed), tuple(Symbol(*symbol) for symbol in symbols), tuple(map(str, headings)),
        )  # fmt: skip


def pack_file(text: str, document: StoredDocument, content_hash: str, chunks: Sequence[StoredChunk]) -> str:
    """Return all that is shown of a file as the column of its text has it: one column is read with one request.

    After the text come a NUL and JSON, which has none.
    """
    facts = {
        "kind": document.kind, "language": document.language, "title": document.title, "recipe": document.recipe,
        "description": document.description, "tags": document.tags, "is_truncated": document.is_truncated,
        "problem": document.problem, "content_hash": content_hash,
        "chunks": [
            (
                one.ordinal, one.start_byte, one.end_byte, one.start_line, one.end_line, one.text_hash.hex(),
                [(symbol.name, symbol.kind, symbol.line, symbol.end_line) for symbol in one.symbols], one.headings,
            )
            for one in chunks
        ],
    }  # fmt: skip
    return f"{text}\0{json.dumps(facts)}"


def unpack_text(packed: str) -> str:
    """Return the text of a file from the column that has it."""
    return packed.rpartition("\0")[0]


def unpack_file(packed: str, number: int, full_path: str) -> PublishedFile:
    """Return a file from the column that has it; raise TypeError, ValueError or LookupError if no publisher wrote it.

    The chunks are unpacked when they are asked for.
    """
    text, _, listed = packed.rpartition("\0")
    facts = json.loads(listed)
    chunks = list(facts["chunks"])
    document = StoredDocument(
        id=number, path=full_path, kind="docs" if facts["kind"] == "docs" else "code", language=str(facts["language"]),
        title=str(facts["title"]), description=str(facts["description"]), tags=tuple(map(str, facts["tags"])),
        stat=Stat(len(text.encode()), 0, 0, 0), checked_ns=0, content_hash=bytes.fromhex(facts["content_hash"]),
        encoding="utf-8", text_start=0, is_verbatim=True, is_truncated=bool(facts["is_truncated"]),
        chunk_count=len(chunks), recipe=str(facts["recipe"]), problem=str(facts["problem"]),
    )  # fmt: skip
    return PublishedFile(document, text, chunks)
