"""The lexical index: a Tantivy index derived from the catalog.

It holds one entry per document path, one per chunk, and one marker that names its catalog and the
transaction it has reached. Every commit replaces the marker, so the marker always agrees with the entries.
"""

import contextlib
import errno
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import tantivy

from dowse.errors import LexicalDamaged
from dowse.platform import disk_errors, make_private_folder, refusal_to_write
from dowse.store.lexical_links import can_lock, linked_folder
from dowse.store.segment_files import SegmentFiles
from dowse.text.analysis import (
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
        self._files = SegmentFiles(folder)
        self._index: Any = None
        self._linked_meta: tuple[int, int] | None = None
        """The stamp of `meta.json` if the index was opened through links, which are gone when it is to be reloaded."""

    def marker(self) -> Marker | None:
        """Return the marker of the index on disk; None when the index is missing, damaged or has no marker."""
        try:
            with self._searching() as searcher:
                hits = searcher.search(_term_query(self._index, "marker", _MARKER_VALUE), 1).hits
                return Marker(**json.loads(searcher.doc(hits[0][1]).get_first("note"))) if hits else None
        except (LexicalDamaged, ValueError, TypeError):
            return None

    def chunk_ids(self) -> set[int]:
        """Return the ids of all chunks in the index."""
        with self._searching() as searcher:
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
        with self._searching() as searcher:
            candidates = [self._require_all("words", whole_terms_of(word)), self._require_all("parts", terms_of(word))]
            queries = [(tantivy.Occur.Should, query) for query in candidates if query is not None]
            if not queries:
                return frozenset()
            # Scores are not needed here; without them it takes two thirds of the time.
            unscored = tantivy.Query.const_score_query(tantivy.Query.boolean_query(queries), 1.0)
            hits = searcher.search(unscored, max(1, searcher.num_docs), count=False).hits
            return frozenset(searcher.fast_field_values("document", [address for _, address in hits]))

    def entry_count(self) -> int:
        """Return the number of entries, including the marker."""
        with self._searching() as searcher:
            return int(searcher.num_docs)

    def chunk_frequency(self, term: str) -> int:
        """Return how many chunks contain a term, with identifiers split into parts."""
        with self._searching() as searcher:
            return int(searcher.doc_freq("parts", term))

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words that begin with a prefix, each with the number of chunks that contain it."""
        with self._searching() as searcher:
            return list(searcher.terms_with_prefix("words", prefix, limit=limit))

    def _search(self, query: TextQuery, limit: int, id_field: str) -> list[Scored]:
        with self._searching() as searcher:
            tantivy_query = self._build_query(query)
            if tantivy_query is None or limit <= 0:
                return []
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
        if self._linked_meta:
            self._index = self._linked_meta = None
        with _writing(self.folder):
            index = self._open(is_writing=True)
            self._files.check()
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
                finish = self._merge_waiter(writer)
            finally:
                del writer  # a traceback must not keep it, and its threads, alive after a failure
            self._files.record()
            index.reload()
        return finish

    def _merge_waiter(self, writer: Any) -> Callable[[], None]:
        def finish() -> None:
            with _translate_errors():
                writer.wait_merging_threads()
                self._files.record()

        return finish

    def begin(self) -> None:
        """Make an empty index in a folder that does not exist yet."""
        with _writing(self.folder):
            make_private_folder(self.folder)
            self._open(is_writing=True)

    def refresh(self) -> None:
        """Load what other processes have committed."""
        if self._linked_meta:
            if self._linked_meta != self._meta_stamp() or can_lock(self.folder):
                self._index = self._linked_meta = None
        elif self._index is not None:
            try:
                with _translate_errors():
                    self._files.check()
                    self._index.reload()
            except LexicalDamaged:
                self._index = None

    def problems(self) -> list[str]:
        """Return problems with files: missing, cut short or with a wrong checksum."""
        return self._files.problems()

    def _open(self, *, is_writing: bool = False) -> Any:
        if self._index is None:
            with _translate_errors():
                if is_writing or can_lock(self.folder):
                    self._index = _open_index(self.folder)
                else:
                    stamp = self._meta_stamp()
                    with linked_folder(self.folder) as links:
                        self._index = _open_index(links)
                    self._linked_meta = stamp
        return self._index

    def _meta_stamp(self) -> tuple[int, int]:
        """Return what changes about `meta.json` with every commit."""
        try:
            seen = (self.folder / "meta.json").stat()
        except OSError:
            return 0, 0
        return seen.st_mtime_ns, seen.st_ino

    @contextlib.contextmanager
    def _searching(self) -> Iterator[Any]:
        """Give a searcher to a block; every error of Tantivy in it becomes one of dowse's own."""
        with _translate_errors():
            if self._index is None:
                self._files.check()
            yield self._open().searcher()


def _open_index(folder: Path) -> Any:
    index = tantivy.Index(_SCHEMA, path=str(folder))
    for name, analyzer in _ANALYZERS.items():
        index.register_tokenizer(name, analyzer)
    index.config_reader("manual")
    return index


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


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Translate the errors of Tantivy while it writes, which a folder may refuse."""
    try:
        with disk_errors(folder), _translate_errors():
            yield
    except LexicalDamaged as error:
        if refusal := refusal_to_write(folder / "meta.json"):
            raise refusal from error
        raise
