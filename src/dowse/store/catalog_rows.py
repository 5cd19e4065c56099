"""Conversion of documents and chunks to and from rows of the catalog."""

import contextlib
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any, Generic, TypeVar

from dowse.encoding.packing import encoder_input
from dowse.errors import StoreDamaged
from dowse.types import Chunk, Put, Stat, StoredChunk, StoredDocument, Symbol, View

DOCUMENT_COLUMNS = (
    "id, path, kind, language, title, description, tags, size, mtime_ns, inode, ctime_ns, checked_ns, "
    "content_hash, encoding, text_start, is_verbatim, is_truncated, chunk_count, recipe, problem, views"
)
_JSON = json.JSONEncoder(ensure_ascii=False)
INVALID_VALUES = (ValueError, TypeError, LookupError, zlib.error)
"""The errors that the conversion of a damaged row raises."""
CHUNK_COLUMNS = "id, document_id, ordinal, start_byte, end_byte, start_line, end_line, text_hash, symbols, headings"


def document_row(put: Put, now_ns: int) -> tuple[object, ...]:
    """Return the columns of a document, without its id."""
    document, reading = put.document, put.document.reading
    return (
        document.path,
        document.kind,
        document.language,
        reading.title,
        reading.description,
        _to_json(reading.tags),
        *stat_row(document.stat),
        document.stat.seen_ns or now_ns,
        document.content_hash,
        reading.encoding,
        reading.text_start,
        reading.is_verbatim,
        put.is_truncated,
        len(put.chunks),
        put.recipe,
        put.problem,
        int(document.views),
    )


def stat_row(stat: Stat) -> tuple[int, ...]:
    """Return the columns of a stat."""
    return astuple(stat)[:4]  # without the time at which it was seen


def chunk_row(chunk: Chunk, hashed_input: bytes) -> tuple[object, ...]:
    """Return the columns of a chunk after those that say where it belongs, with its hashes."""
    return (
        chunk.start_byte,
        chunk.end_byte,
        chunk.start_line,
        chunk.end_line,
        text_hash(chunk.text.encode()),
        hashed_input,
        _to_json([(symbol.name, symbol.kind, symbol.line, symbol.end_line) for symbol in chunk.symbols]),
        _to_json(chunk.headings),
    )


_DOCUMENT_TYPES = (int, *[str] * 6, *[int] * 5, bytes, str, *[int] * 4, str, str, int)
_CHUNK_TYPES = (*[int] * 7, bytes, str, str)


def check_types(row: tuple[Any, ...], types: tuple[type, ...]) -> None:
    """Raise StoreDamaged if a column has a value of another type: SQLite stores a text in a column of numbers."""
    if tuple(map(type, row)) != types:
        with damage_is_told():
            raise TypeError("a column has a value of another type")


def checked_paths(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, str]]:
    """Yield ids and paths."""
    for number, path in rows:
        check_types((number, path), (int, str))
        yield number, path


def whole_number(fact: str) -> int:
    """Return the number that a fact is."""
    with damage_is_told():
        return int(fact)


def document_from_row(row: tuple[Any, ...]) -> StoredDocument:
    """Return the document of a row of `DOCUMENT_COLUMNS`."""
    check_types(row, _DOCUMENT_TYPES)
    with damage_is_told():
        tags, stat, views = from_json(row[6]), Stat(*row[7:11]), View(row[20])
    flags = bool(row[15]), bool(row[16])
    columns = (*row[:6], tags, stat, *row[11:15], *flags, *row[17:20], views)
    return StoredDocument(*columns)


def chunks_from_rows(rows: Sequence[tuple[Any, ...]]) -> list[StoredChunk]:
    """Return the chunks of rows of `CHUNK_COLUMNS`. Their lists are parsed at once, in a third of the time."""
    for row in rows:
        check_types(row, _CHUNK_TYPES)
    with damage_is_told():
        symbols, headings = (json.loads(f"[{','.join([row[column] for row in rows])}]") for column in (8, 9))
        names = (tuple([Symbol(*symbol) for symbol in some]) for some in symbols)
        columns = zip(rows, names, map(tuple, headings), strict=True)
        return [StoredChunk(*(*row[:8], defined, above)) for row, defined, above in columns]


@contextlib.contextmanager
def damage_is_told() -> Iterator[None]:
    """Raise StoreDamaged for a row with values that dowse never writes."""
    try:
        yield
    except INVALID_VALUES as error:
        raise StoreDamaged(f"The catalog has a damaged row ({error}). Run: dowse doctor --fix") from error


def unpack_text(column: bytes) -> str:
    """Return the text of a column that has it compressed."""
    with damage_is_told():
        return zlib.decompress(column).decode()


def input_hash(path: str, text: str) -> bytes:
    """Return a hash of the encoder's input for a chunk: its path and its text."""
    return hashlib.blake2b(encoder_input(path, text).encode(), digest_size=16).digest()


def text_hash(data: bytes) -> bytes:
    """Return a hash of the bytes of a chunk; it shows whether the file still contains them."""
    return hashlib.blake2b(data, digest_size=16).digest()


def _to_json(values: Any) -> str:
    return _JSON.encode(values) if values else "[]"


def from_json(column: str) -> tuple[Any, ...]:
    """Return the values of a column of JSON."""
    return () if column == "[]" else tuple(json.loads(column))


Row = TypeVar("Row")

MAX_KEPT_ROWS = 2_000
"""Rows of one kind that are kept, 1 to 2 MB. The files that answer one query mostly answer others, too."""


class KeptRows(Generic[Row]):
    """Rows of one kind. Any thread may use it."""

    def __init__(self, state: Callable[[], object], read: Callable[[list[int]], dict[int, Row]]) -> None:
        """`state` returns another value after every change, or None; `read` reads rows by their ids."""
        self._state, self._read = state, read
        self._kept: tuple[object, dict[int, Row]] = (None, {})

    def by_id(self, ids: Iterable[int]) -> dict[int, Row]:
        """Return those of the rows that exist, by id, in the order of the ids."""
        state, (known_state, known) = self._state(), self._kept
        if state is None or state != known_state or len(known) > MAX_KEPT_ROWS:
            known = {}
        wanted = sorted(set(ids))
        if missing := [number for number in wanted if number not in known]:
            known |= self._read(missing)
        self._kept = state, known
        return {number: known[number] for number in wanted if number in known}
