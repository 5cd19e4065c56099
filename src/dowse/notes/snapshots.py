"""Snapshots of an index, cached between queries: its segments without postings, deleted documents, and tokenized tail.

Segments and documents are added and removed but never modified. Cached ones therefore stay valid, and after a change
only new ones are read. A snapshot is immutable: a search keeps its own while a newer one is made.
"""

import sqlite3
import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from dowse.errors import SnapshotGone
from dowse.notes import segments
from dowse.notes.notes_postings import Flags, TokenNumbers, TokenRun
from dowse.notes.notes_tokens import NotesTokenizer
from dowse.notes.segment_readers import Ids, Segment, SegmentOutline, SegmentReader, Tail


@dataclass(frozen=True, slots=True)
class IndexState:
    """The version and the counts of an index."""

    version: int
    flushed: int
    documents: int
    tokens: int
    tail_tokens: int
    text_bytes: int


@dataclass(frozen=True, slots=True)
class SegmentSet:
    """The segments of one version of an index, without the tail."""

    version: int
    outlines: tuple[SegmentOutline, ...] = ()
    dead: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    alive: tuple[Flags | None, ...] = ()

    def sizes(self) -> list[tuple[int, int, int, int]]:
        """Return the number, tokens, documents and dead documents of each segment."""
        return [
            (
                outline.number,
                outline.tokens,
                len(outline.ids),
                0 if is_alive is None else len(is_alive) - int(np.count_nonzero(is_alive)),
            )
            for outline, is_alive in zip(self.outlines, self.alive, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class IndexSnapshot:
    """One version of an index, ready to be searched."""

    state: IndexState
    segments: SegmentSet
    tail: Tail

    def readers(self, connection: sqlite3.Connection) -> Sequence[SegmentReader]:
        """Return a reader for each segment and for the tail, within a transaction."""
        read, locate = partial(segments.read_postings, connection), partial(segments.read_positions, connection)
        pairs = zip(self.segments.outlines, self.segments.alive, strict=True)
        return (*(Segment(outline, is_alive, read, locate) for outline, is_alive in pairs), self.tail)


def read_state(connection: sqlite3.Connection) -> IndexState:
    """Return the state of an index, within a transaction. Raise SnapshotGone if the index was deleted."""
    *counts, is_deleted = connection.execute("SELECT * FROM state").fetchone()
    if is_deleted:
        raise SnapshotGone("The index was deleted.")
    return IndexState(*counts)


class SnapshotCache:
    """The newest snapshot of an index, updated incrementally when the index has changed."""

    def __init__(self, tokenizer: NotesTokenizer) -> None:
        self._tokenizer = tokenizer
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Drop everything that is cached."""
        with self._lock:
            self._segments = SegmentSet(-1)
            self._snapshot: IndexSnapshot | None = None
            self._clear_tail(0)

    def _clear_tail(self, flushed: int) -> None:
        self._flushed = flushed
        self._vocabulary = TokenNumbers()
        self._tail: dict[int, tuple[str, array[int]]] = {}

    def current(self, connection: sqlite3.Connection) -> IndexSnapshot:
        """Return the snapshot that a transaction sees."""
        state = read_state(connection)
        with self._lock:
            # Two concurrent transactions may see different versions; cached segments and documents suit both.
            if self._snapshot is None or self._snapshot.state.version != state.version:
                segment_set = self._read_segments(connection, state.version)
                self._snapshot = IndexSnapshot(state, segment_set, self._read_tail(connection, state.flushed))
            return self._snapshot

    def segment_set(self, connection: sqlite3.Connection) -> SegmentSet:
        """Return the segments that a transaction sees."""
        state = read_state(connection)
        with self._lock:
            return self._read_segments(connection, state.version)

    def _read_segments(self, connection: sqlite3.Connection, version: int) -> SegmentSet:
        known = self._segments
        if known.version != version:
            cached = {outline.number: outline for outline in known.outlines}
            numbers = [number for (number,) in connection.execute("SELECT number FROM segments ORDER BY number")]
            outlines = tuple(cached.get(number) or segments.read_outline(connection, number) for number in numbers)
            dead = np.array([number for (number,) in connection.execute("SELECT id FROM dead")], dtype=np.int64)
            self._segments = SegmentSet(version, outlines, dead, _find_alive(outlines, dead, known))
        return self._segments

    def _read_tail(self, connection: sqlite3.Connection, flushed: int) -> Tail:
        if flushed != self._flushed:
            self._clear_tail(flushed)
        ids = [number for (number,) in connection.execute("SELECT id FROM documents WHERE id > ?", (flushed,))]
        find = "SELECT doc_id, text FROM documents JOIN contents USING (id) WHERE id = ?"
        for number in ids:
            if number not in self._tail:
                doc_id, text = connection.execute(find, (number,)).fetchone()
                self._tail[number] = doc_id, self._vocabulary.numbers(self._tokenizer.tokens(text))
        self._tail = {number: self._tail[number] for number in ids}
        runs = [numbers for _, numbers in self._tail.values()]
        flat = np.frombuffer(b"".join(runs), dtype=np.dtype("u4")) if runs else np.zeros(0, dtype=np.uint32)
        lengths = np.array([len(numbers) - 1 for numbers in runs], dtype=np.uint32)
        return Tail(ids, [doc_id for doc_id, _ in self._tail.values()], self._vocabulary, TokenRun([], flat, lengths))


def _find_alive(outlines: tuple[SegmentOutline, ...], dead: Ids, known: SegmentSet) -> tuple[Flags | None, ...]:
    """Return which documents of each segment are alive, reusing the known flags if the dead are the same."""
    cached: dict[int, Flags | None] = {}
    if np.array_equal(known.dead, dead):
        cached = {outline.number: alive for outline, alive in zip(known.outlines, known.alive, strict=True)}
    flags = []
    for outline in outlines:
        if outline.number in cached:
            flags.append(cached[outline.number])
        else:
            is_dead = np.isin(outline.ids, dead)
            flags.append(~is_dead if is_dead.any() else None)
    return tuple(flags)
