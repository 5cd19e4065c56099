"""Indexing: bring the store up to date with the files, in batches that each leave a usable index."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from dowse.encoding.packing import encode_chunks
from dowse.errors import StoreBusy
from dowse.indexes.freshness.scan import RECIPE, Drift, is_racy, scan, scan_paths
from dowse.memory_plan import is_memory_small, scaled
from dowse.protocols import Encoder
from dowse.sources.project_files import ProjectFiles
from dowse.store.catalog_rows import text_hash
from dowse.store.local import LocalStore
from dowse.system.platform import release_memory
from dowse.types import (
    Batch,
    Chunk,
    Entry,
    FileContent,
    Progress,
    Put,
    ReadText,
    Reason,
    Stat,
    StoredChunk,
    StoredDocument,
    Verdict,
    View,
)

if TYPE_CHECKING:
    from dowse.parsing.document_parsing import ParsedDocument

FIRST_BATCH_FILES = 250
FIRST_BATCH_SECONDS = 1.0
"""The first batch is small, so that the first results come soon. A small project is one batch: each takes 30 ms and
a dozen writes that reach the disk."""
BATCH_GROWTH = 4
BATCH_FILES = 2000
BATCH_CHARACTERS = 16_000_000
"""A batch is one transaction and one commit of the lexical index. Each batch is larger than the one
before: eight commits of the same size are merged, which took a seventh of the run on 5,600 files."""

ENCODED_BY_PARSERS_FILES = 200
"""From this number of files on, the parser processes encode what they cut. For fewer, loading the table there (0.15 s
and 25 MB) takes longer than encoding here."""

EXPECTED_FACTS = {View.PROJECT: "expected", View.DOCUMENTS: "expected documents"}
"""The facts that say how many files each view will have when the run is complete."""


OpenTable = Callable[[], Encoder | None]
"""A function that opens the static encoder; it returns None if the index has no vectors."""


def no_table() -> None:
    """Return no encoder."""


@dataclass(slots=True)
class IndexReport:
    """The counts and the duration of an indexing run."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: list[Verdict] = field(default_factory=list)
    seconds: float = 0.0
    is_complete: bool = True
    """False when the run was interrupted; its finished work is kept."""

    @property
    def changed_anything(self) -> bool:
        return bool(self.added or self.updated or self.removed)

    def skipped_by_reason(self) -> dict[Reason, int]:
        """Return the number of skipped files for each reason, highest first."""
        return dict(Counter(verdict.reason for verdict in self.skipped if verdict.reason).most_common())


def update_index(
    source: ProjectFiles,
    store: LocalStore,
    progress: Progress | None = None,
    *,
    drift: Drift | None = None,
    table: OpenTable = no_table,
) -> IndexReport:
    """Apply a drift, which is found first if none is given. Ctrl-C ends the run and keeps its finished work.

    Chunks get the vectors of the table at once.
    """
    started = time.monotonic()
    store.catch_up(progress)
    drift = drift or scan(source, store)
    for view, files in drift.shown.items():
        store.set_fact(EXPECTED_FACTS[view], str(files))
    report = IndexReport(unchanged=drift.unchanged, skipped=drift.skipped)
    try:
        apply_drift(source, store, drift, report, progress, table=table)
    except KeyboardInterrupt:
        report.is_complete = False
    report.seconds = time.monotonic() - started
    return report


def reindex(source: ProjectFiles, store: LocalStore, paths: Iterable[str], table: OpenTable = no_table) -> IndexReport:
    """Bring single paths up to date now. The files are read even if their stat is unchanged."""
    drift = scan_paths(source, store, paths, distrust_before_ns=time.time_ns())
    report = IndexReport(unchanged=drift.unchanged, skipped=drift.skipped)
    apply_drift(source, store, drift, report, table=table)
    return report


def apply_drift(
    source: ProjectFiles,
    store: LocalStore,
    drift: Drift,
    report: IndexReport,
    progress: Progress | None = None,
    *,
    table: OpenTable = no_table,
) -> None:
    """Apply the result of a scan. A file with the same content is not chunked again."""
    from dowse.parsing.document_parsing import expect  # imports readers, which a search does not need

    if drift.views is not source.views:  # another process has added a view
        drift = scan_paths(source, store, drift.paths)
    expect([*drift.new, *drift.changed])
    total = len(drift.new) + len(drift.changed)
    is_encoded = table is not no_table and total >= ENCODED_BY_PARSERS_FILES and not is_memory_small()
    pending = _PendingBatch(source, store, report, table, drift.gone)
    known = {entry.path for entry in drift.changed}
    try:
        started = (
            _start_entry(source, entry, pending, is_known=entry.path in known, is_encoded=is_encoded)
            for entry in (*drift.new, *drift.changed)
        )
        from dowse.parsing.parser_pool import read_ahead  # as above

        for done, _ in enumerate(read_ahead(started), 1):
            pending.flush_if_full()
            if progress:
                progress(done, total)
        for path in drift.gone:  # last, for a file that was moved has the chunks of the one that is gone
            pending.drop_gone(path)
            pending.flush_if_full()
    except KeyboardInterrupt:
        pending.flush()
        raise
    pending.flush()


def _make_put_like(parsed: "ParsedDocument", twin: StoredDocument, chunks: Iterable[StoredChunk]) -> Put:
    """Return the change for a document with the chunks of another document that has the same content."""
    data = parsed.document.reading.text.encode()
    cut = tuple(
        Chunk(
            text=data[chunk.start_byte : chunk.end_byte].decode(),
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            start_byte=chunk.start_byte,
            end_byte=chunk.end_byte,
            symbols=chunk.symbols,
            headings=chunk.headings,
        )
        for chunk in chunks
    )
    return Put(parsed.document, cut, twin.is_truncated, RECIPE)


def _start_entry(
    source: ProjectFiles, entry: Entry, pending: "_PendingBatch", *, is_known: bool, is_encoded: bool
) -> tuple[Callable[[], None], int]:
    """Read one file and have it parsed, if it must be; return a function that adds it to the batch, and its size."""
    read = source.read(entry)
    if isinstance(read, Verdict):
        return (lambda: pending.skip(entry, read, is_known=is_known)), 0
    is_same = is_known and pending.has_same(entry.path, read)
    if is_same and pending.has_whole_chunks(entry.path, read[0].data):
        return (lambda: pending.touches.append((entry.path, read[0].stat))), 0
    started = [
        _start_representation(source, content, None if is_same else pending, is_encoded=is_encoded) for content in read
    ]

    def add() -> None:
        pending.table()  # it is opened while the first files are parsed
        made = [finish() for finish in started]
        puts = [replace(put, is_repair=is_same) for put in made if isinstance(put, Put)]
        if puts:  # a representation that cannot be read leaves the other one
            pending.put(puts, is_known=is_known)
        else:
            pending.skip(entry, next(put for put in made if isinstance(put, Verdict)), is_known=is_known)

    return add, len(read[0].data)


def _start_representation(
    source: ProjectFiles, content: FileContent, pending: "_PendingBatch | None", *, is_encoded: bool
) -> Callable[[], Put | Verdict]:
    """Have one representation of a file parsed; return a function that waits for the change that it makes.

    It is not chunked again if `pending` knows the chunks of the same content.
    """
    from dowse.parsing.document_parsing import start_parsing  # as above

    twin = pending.find_duplicate(content) if pending else None
    wait = start_parsing(source, content, is_cut=twin is None, is_encoded=is_encoded)

    def finish() -> Put | Verdict:
        parsed = wait()
        if isinstance(parsed, Verdict):
            return parsed
        if not pending or not twin or parsed.problem:
            return make_put(parsed)
        pending.drop_gone(twin[0].path)
        return _make_put_like(parsed, *twin)

    return finish


def make_put(parsed: "ParsedDocument") -> Put:
    """Return the change for the store that a parsed document is."""
    return Put(parsed.document, parsed.chunks, parsed.is_truncated, RECIPE, parsed.vectors, parsed.problem)


class _PendingBatch:
    """The batch that is being collected."""

    def __init__(
        self, source: ProjectFiles, store: LocalStore, report: IndexReport, table: OpenTable, gone: Iterable[str]
    ) -> None:
        self.report = report
        self._source, self._store = source, store
        self._gone = set(gone)
        self.table = cache(table)
        self._limit = min(FIRST_BATCH_FILES, scaled(BATCH_FILES))
        self._is_first = True
        self._began = time.monotonic()
        self._clear()

    def has_same(self, path: str, read: Sequence[FileContent]) -> bool:
        """Return whether a file would give the same chunks as are stored, in the same views."""
        stored = self._store.documents_at(path)
        found = {(one.views, one.content_hash, one.kind, one.language) for one in read}
        is_current = all(document.recipe == RECIPE for document in stored)
        return is_current and {(one.views, one.content_hash, one.kind, one.language) for one in stored} == found

    def has_whole_chunks(self, path: str, data: bytes) -> bool:
        """Return whether the stored chunks of a file are slices of its text, as they were when they were stored."""
        for document in self._store.documents_at(path):
            chunks, text = self._chunks_of(document), data[document.text_start :]
            if chunks is None:
                return False
            if document.is_verbatim and any(text_hash(text[c.start_byte : c.end_byte]) != c.text_hash for c in chunks):
                return False
        return True

    def find_duplicate(self, content: FileContent) -> tuple[StoredDocument, list[StoredChunk]] | None:
        """Return a document with the same content, and its chunks."""
        twin = self._store.catalog.find_twin(content, RECIPE)
        chunks = self._chunks_of(twin) if twin else None
        return (twin, chunks) if twin and chunks is not None else None

    def _chunks_of(self, document: StoredDocument) -> list[StoredChunk] | None:
        """Return the chunks of a document; None if another process has removed it, perhaps before they were read."""
        chunks = self._store.chunks(document.id)
        return chunks if self._store.paths_by_id([document.id]) else None

    def put(self, puts: Sequence[Put], *, is_known: bool) -> None:
        """Replace a file by its representations, whose chunks get their vectors."""
        self._puts += [self._add_vectors(put) for put in puts]
        self._characters += sum(len(put.document.reading.text) for put in puts)
        self._files += 1
        self._updated += is_known

    def drop_gone(self, path: str) -> None:
        """Remove a file that was gone at the scan, once: with the file that it was moved to, so that no moment has both."""
        if path in self._gone:
            self._gone.remove(path)
            if not isinstance(self._source.entry_at(path), Entry):  # it may have come back since
                self.drops.append(path)

    def skip(self, entry: Entry, verdict: Verdict, *, is_known: bool) -> None:
        """Leave a file out for a reason; what is stored of it is removed."""
        self.report.skipped.append(verdict)
        if is_known:
            self.drops.append(entry.path)
        is_for_content = verdict.reason in (Reason.BINARY, Reason.DENIED)  # so it need not be read again
        if is_for_content and not is_racy(entry.stat, entry.stat.seen_ns or time.time_ns()):
            self._refusals.append((entry.stat, verdict))

    def flush_if_full(self) -> None:
        waiting = self._files + len(self.drops) + len(self.touches) + len(self._refusals)
        is_due = self._is_first and time.monotonic() > self._began + FIRST_BATCH_SECONDS
        if waiting >= self._limit or self._characters >= scaled(BATCH_CHARACTERS) or is_due:
            self.flush()

    def flush(self) -> None:
        """Apply the batch, and count its changes once they are stored."""
        batch = Batch(self._puts, self.drops, self.touches, self._refusals)
        if not batch:
            return
        table = self.table() if self._puts else None
        self._store.apply(replace(batch, encoder=table.version) if table else batch)
        self._is_first = False
        self._limit = min(scaled(BATCH_FILES), self._limit * BATCH_GROWTH)
        self.report.added += self._files - self._updated
        self.report.updated += self._updated
        self.report.removed += len(self.drops)
        self.report.unchanged += len(self.touches)
        self._clear()
        if is_memory_small():
            release_memory()

    def _add_vectors(self, put: Put) -> Put:
        """Return the change with vectors, unless the parser process has added them or the index has none."""
        table = self.table()
        if table is None:
            return replace(put, vectors=None)
        if put.vectors is not None:
            return put
        return replace(put, vectors=encode_chunks(table, put.document.path, put.chunks))

    def _clear(self) -> None:
        self._puts: list[Put] = []
        self.drops: list[str] = []
        self.touches: list[tuple[str, Stat]] = []
        self._refusals: list[tuple[Stat, Verdict]] = []
        self._characters = self._files = self._updated = 0


def text_reader(source: ProjectFiles) -> ReadText:
    """Return a function that reads texts for a store that has to rebuild its derived parts."""

    def read_text(document: StoredDocument) -> str | None:
        read = source.read_path(document.path)
        content = None if isinstance(read, Verdict) else next((one for one in read if one.views & document.views), None)
        if content is None or content.content_hash != document.content_hash:
            return None
        if document.is_verbatim:
            return content.data[document.text_start :].decode()
        from dowse.parsing.document_parsing import parse  # as above

        parsed = parse(source, content)
        return None if isinstance(parsed, Verdict) else parsed.reading.text

    return read_text


_ATTEMPTS = 5
"""How often files are read again that other processes write to the index at the same time."""


@contextlib.contextmanager
def comparing(source: ProjectFiles, store: LocalStore, table: OpenTable) -> Iterator[None]:
    """Compare files with the store and apply what differs in this block; overtaken paths are compared again after it."""
    store.begin_work()
    yield
    for _ in range(_ATTEMPTS):
        lost = store.take_lost_paths()
        if not lost:
            return
        store.begin_work()
        reindex(source, store, lost, table)
    raise StoreBusy("Other processes keep changing the index. Try again.")
