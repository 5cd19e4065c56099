"""The lexical index: a Tantivy index derived from the catalog.

It holds one entry per document path, one per chunk, and one marker that names its catalog and the
transaction it has reached. Every commit replaces the marker, so the marker always agrees with the entries.
"""

import contextlib
import errno
import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import tantivy

from dowse.errors import LexicalDamaged
from dowse.platform import disk_errors, make_private_folder
from dowse.store.analysis import (
    PARTS_ANALYZER,
    WHOLE_ANALYZER,
    keep_identifiers,
    remove_separators,
    split_identifiers,
    terms_of,
    whole_terms_of,
)
from dowse.types import Kind, Scored, TextQuery

FORMAT = 1
"""Version of the index format. It changes when the same chunk would be indexed differently; an index of another format is
rebuilt."""

WRITER_BYTES = 40_000_000
"""Memory of the writer: of 15, 40 and 100 MB, the smallest that does not slow down indexing a whole project."""

WRITER_THREADS = 1
"""One thread: the interpreter keeps the other core busy."""

MAX_TERMS = 64
"""Number of terms of a query that count; more are noise, and each costs a walk through its postings."""

_MARKER_VALUE = "marker"
_SEGMENT_PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
_FOOTER = struct.Struct("<II")
_FOOTER_MAGIC = 1337


class Marker(NamedTuple):
    """The catalog that an index is derived from, and the transaction it has reached."""

    catalog: str
    sequence: int
    format: int


@dataclass(frozen=True, slots=True)
class LexicalDocument:
    """A document as it is added to the index: its path and its chunks."""

    document_id: int
    kind: Kind
    path: str
    chunks: Sequence[tuple[int, str, Sequence[str], Sequence[str]]]
    """Of each chunk: its id, its text, the names it defines, the headings above it."""


class LexicalIndex:
    """An open lexical index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index: Any = None

    def marker(self) -> Marker | None:
        """Return the marker of the index on disk; None when the index is missing, damaged or has no marker."""
        try:
            searcher = self._searcher()
            hits = searcher.search(_term_query(self._index, "marker", _MARKER_VALUE), 1).hits
            if not hits:
                return None
            return Marker(**json.loads(searcher.doc(hits[0][1]).get_first("note")))
        except (LexicalDamaged, ValueError, TypeError):
            return None

    def chunk_ids(self) -> set[int]:
        """Return the ids of all chunks in the index."""
        searcher = self._searcher()
        query = tantivy.Query.range_query(self._index.schema, "chunk", tantivy.FieldType.Unsigned, 0, None)
        hits = searcher.search(query, max(1, searcher.num_docs), count=False).hits
        return set(searcher.fast_field_values("chunk", [address for _, address in hits]))

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search chunks by words; best first."""
        return self._search(query, limit, "chunk")

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search documents by the words of their path; best first."""
        return self._search(query, limit, "document")

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Return the documents that contain a word whole, or all its parts in one chunk."""
        searcher = self._searcher()
        candidates = [self._require_all("words", whole_terms_of(word)), self._require_all("parts", terms_of(word))]
        queries = [(tantivy.Occur.Should, query) for query in candidates if query is not None]
        if not queries:
            return frozenset()
        with _translate_errors():
            # Scores are not needed here; without them it takes two thirds of the time.
            unscored = tantivy.Query.const_score_query(tantivy.Query.boolean_query(queries), 1.0)
            hits = searcher.search(unscored, max(1, searcher.num_docs), count=False).hits
            return frozenset(searcher.fast_field_values("document", [address for _, address in hits]))

    def entry_count(self) -> int:
        """Return the number of entries, including the marker."""
        return int(self._searcher().num_docs)

    def chunk_frequency(self, term: str) -> int:
        """Return how many chunks contain a term, with identifiers split into parts."""
        searcher = self._searcher()
        with _translate_errors():
            return int(searcher.doc_freq("parts", term))

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words that begin with a prefix, each with the number of chunks that contain it."""
        searcher = self._searcher()
        with _translate_errors():
            return list(searcher.terms_with_prefix("words", prefix, limit=limit))

    def _search(self, query: TextQuery, limit: int, id_field: str) -> list[Scored]:
        searcher = self._searcher()
        tantivy_query = self._build_query(query)
        if tantivy_query is None or limit <= 0:
            return []
        with _translate_errors():
            hits = searcher.search(tantivy_query, limit, count=False).hits
            addresses = [address for _, address in hits]
            documents = searcher.fast_field_values("document", addresses)
            ids = searcher.fast_field_values(id_field, addresses) if id_field != "document" else documents
        scored = [
            Scored(hit_id, document_id, score)
            for hit_id, document_id, (score, _) in zip(ids, documents, hits, strict=True)
        ]
        return sorted(scored, key=lambda hit: (-hit.score, hit.id))

    def _build_query(self, query: TextQuery) -> Any:
        text = " ".join(query.words)
        terms = {"words": whole_terms_of(text), "names": whole_terms_of(remove_separators(text))}
        part_terms = terms_of(text)
        term_queries = [
            (tantivy.Occur.Should, tantivy.Query.boost_query(_term_query(self._index, field, term), weight))
            for field, weight in query.weights.items()
            for term in terms.get(field, part_terms)[:MAX_TERMS]
        ]
        if not term_queries:
            return None
        filters = []
        if query.kind is not None:
            filters.append(_term_query(self._index, "kind", query.kind))
        if query.among is not None:
            filters.append(tantivy.Query.term_set_query(self._index.schema, "document", list(query.among)))
        # A boost of 0 keeps a filter out of the score.
        required = [(tantivy.Occur.Must, tantivy.Query.boost_query(condition, 0.0)) for condition in filters]
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, tantivy.Query.boolean_query(term_queries)), *required])

    def _require_all(self, field: str, terms: list[str]) -> Any:
        required = [(tantivy.Occur.Must, _term_query(self._index, field, term)) for term in terms[:MAX_TERMS]]
        return tantivy.Query.boolean_query(required) if required else None

    def write(self, marker: Marker, removed: Iterable[int], added: Iterable[LexicalDocument]) -> Callable[[], None]:
        """Bring the index to the transaction of `marker` in one commit; the caller holds the write lock.

        Returns a function that waits until segments are merged. The caller calls it while it still holds the lock.
        Merging takes a moment after one update in seven, and searches need not wait for it.
        """
        with disk_errors(self.folder), _translate_errors():
            index = self._open()
            writer = index.writer(WRITER_BYTES, WRITER_THREADS)
            try:
                for document_id in removed:
                    # By query: `delete_documents_by_term` of tantivy 0.27 turns a number into a signed
                    # term, which no unsigned field contains, and silently deletes nothing.
                    writer.delete_documents_by_query(_term_query(index, "document", document_id))
                for document in added:
                    for entry in _entries(document):
                        writer.add_document(entry)
                writer.delete_documents_by_query(_term_query(index, "marker", _MARKER_VALUE))
                writer.add_document(_marker_entry(marker))
                writer.commit()
                finish = _merge_waiter(writer)
            finally:
                del writer  # a traceback must not keep it, and its threads, alive after a failure
            index.reload()
        return finish

    def begin(self) -> None:
        """Make an empty index in a folder that does not exist yet."""
        with disk_errors(self.folder):
            make_private_folder(self.folder)
            self._open()

    def refresh(self) -> None:
        """Load what other processes have committed."""
        if self._index is not None:
            try:
                with _translate_errors():
                    self._index.reload()
            except LexicalDamaged:
                self._index = None

    def problems(self) -> list[str]:
        """Return problems with files: missing, cut short or with a wrong checksum."""
        try:
            files = self._files()
        except LexicalDamaged as error:
            return [str(error)]
        return [problem for file in files if (problem := _check_file(file, is_thorough=True))]

    def _open(self) -> Any:
        if self._index is None:
            with _translate_errors():
                index = tantivy.Index(_SCHEMA, path=str(self.folder))
                for name, analyzer in _ANALYZERS.items():
                    index.register_tokenizer(name, analyzer)
                index.config_reader("manual")
            self._index = index
        return self._index

    def _searcher(self) -> Any:
        if self._index is None:
            for file in self._files():
                if problem := _check_file(file, is_thorough=False):
                    raise LexicalDamaged(problem)
        with _translate_errors():
            return self._open().searcher()

    def _files(self) -> list[Path]:
        """Return the files of the committed segments."""
        try:
            meta = json.loads((self.folder / "meta.json").read_bytes())
            segments = {segment["segment_id"].replace("-", "") for segment in meta["segments"]}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise LexicalDamaged(f"{self.folder.name}/meta.json cannot be read") from error
        present = {file.name: file for file in sorted(self.folder.iterdir())}
        if missing := {f"{segment}.{part}" for segment in segments for part in _SEGMENT_PARTS} - set(present):
            raise LexicalDamaged(f"{self.folder.name} lacks {min(missing)}")
        return [file for name, file in present.items() if name.split(".")[0] in segments]


def _merge_waiter(writer: Any) -> Callable[[], None]:
    def finish() -> None:
        with _translate_errors():
            writer.wait_merging_threads()

    return finish


def _term_query(index: Any, field: str, value: object) -> Any:
    return tantivy.Query.term_query(index.schema, field, value)


def _entries(document: LexicalDocument) -> Iterator[Any]:
    """Yield one entry for the path of a document and one for each chunk."""
    entry = tantivy.Document()
    entry.add_unsigned("document", document.document_id)
    entry.add_text("kind", document.kind)
    entry.add_text("path", split_identifiers(document.path))
    entry.add_text("stem", split_identifiers(PurePosixPath(document.path).stem))
    yield entry
    for chunk_id, text, symbols, headings in document.chunks:
        entry = tantivy.Document()
        entry.add_unsigned("chunk", chunk_id)
        entry.add_unsigned("document", document.document_id)
        entry.add_text("kind", document.kind)
        entry.add_text("words", keep_identifiers(text))
        entry.add_text("parts", split_identifiers(text))
        if symbols:
            entry.add_text("names", keep_identifiers(" ".join(map(remove_separators, symbols))))
            entry.add_text("symbols", split_identifiers(" ".join(symbols)))
        if headings:
            entry.add_text("headings", split_identifiers(" ".join(headings)))
        yield entry


def _marker_entry(marker: Marker) -> Any:
    entry = tantivy.Document()
    entry.add_text("marker", _MARKER_VALUE)
    entry.add_text("note", json.dumps(marker._asdict()))
    return entry


def _build_schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("chunk", indexed=True, fast=True)
    builder.add_unsigned_field("document", indexed=True, fast=True)
    builder.add_text_field("kind", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("marker", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("note", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whole", index_option="position")
    builder.add_text_field("names", tokenizer_name="whole", index_option="basic")
    for field in ("parts", "symbols", "headings", "path", "stem"):
        builder.add_text_field(field, tokenizer_name="parts", index_option="freq")
    return builder.build()


_SCHEMA = _build_schema()
_ANALYZERS = {"whole": WHOLE_ANALYZER, "parts": PARTS_ANALYZER}


def _check_file(file: Path, *, is_thorough: bool) -> str | None:
    """Return what is wrong with a segment file, judged by the footer that Tantivy writes at its end."""
    if file.suffix == ".del" and not is_thorough:
        return None
    try:
        with file.open("rb") as stream:
            stream.seek(-_FOOTER.size, 2)
            length, magic = _FOOTER.unpack(stream.read(_FOOTER.size))
            if magic != _FOOTER_MAGIC:
                return f"{file.parent.name}/{file.name} is truncated"
            if not is_thorough:
                return None
            stream.seek(0)
            data = stream.read()
        footer = json.loads(data[-_FOOTER.size - length : -_FOOTER.size])
        if zlib.crc32(data[: -_FOOTER.size - length]) != footer["crc"]:
            return f"{file.parent.name}/{file.name} has a wrong checksum"
    except (OSError, ValueError, KeyError, struct.error) as error:
        return f"{file.parent.name}/{file.name} cannot be read ({error})"
    return None


@contextlib.contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate the errors of Tantivy into dowse's own, even a Rust panic, which is not an ordinary exception."""
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if "No space left" in str(error):
            raise OSError(errno.ENOSPC, str(error)) from error
        raise LexicalDamaged(f"the lexical index cannot be used ({error})") from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise LexicalDamaged(f"the lexical index cannot be used ({error})") from error
        raise
