"""What a process remembers of an index between two questions: outlines of segments, the dead, the tail in tokens.

Segments and documents never change, they come and go; so what is remembered stays true, and after a change only
what is new is read. A view itself is never changed: whoever has one keeps it while a newer is made.
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
from dowse.notes.segment_readers import Ids, QueryShape, Segment, SegmentReader, Tail


@dataclass(frozen=True, slots=True)
class State:
    """The counts of an index."""

    version: int
    flushed: int
    documents: int
    tokens: int
    tail_tokens: int
    text_bytes: int


@dataclass(frozen=True, slots=True)
class IndexShape:
    """The segments of one state, without the documents after them."""

    version: int
    outlines: tuple[QueryShape, ...] = ()
    dead: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    alive: tuple[Flags | None, ...] = ()

    def sizes(self) -> list[tuple[int, int, int, int]]:
        """Of each segment its number, tokens, documents, and how many of those are dead."""
        return [
            (one.number, one.tokens, len(one.ids), 0 if alive is None else len(alive) - int(np.count_nonzero(alive)))
            for one, alive in zip(self.outlines, self.alive, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class View:
    """One state of an index, ready to be searched."""

    state: State
    shape: IndexShape
    tail: Tail

    def parts(self, connection: sqlite3.Connection) -> Sequence[SegmentReader]:
        """The parts as a transaction sees them."""
        read, place = partial(segments.postings, connection), partial(segments.positions, connection)
        each = zip(self.shape.outlines, self.shape.alive, strict=True)
        return (*(Segment(outline, is_alive, read, place) for outline, is_alive in each), self.tail)


def state_of(connection: sqlite3.Connection) -> State:
    """The counts of an index, in the transaction that goes on."""
    *counts, is_deleted = connection.execute("SELECT * FROM state").fetchone()
    if is_deleted:
        raise SnapshotGone("The index was deleted.")
    return State(*counts)


class Views:
    """The newest view of an index; made again, as little as needed, when the index has changed."""

    def __init__(self, tokenizer: NotesTokenizer) -> None:
        self._tokenizer = tokenizer
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Remember nothing."""
        with self._lock:
            self._shape = IndexShape(-1)
            self._view: View | None = None
            self._forget_tail(0)

    def _forget_tail(self, flushed: int) -> None:
        self._flushed = flushed
        self._vocabulary = TokenNumbers()
        self._cut: dict[int, tuple[str, array[int]]] = {}

    def view(self, connection: sqlite3.Connection) -> View:
        """The view of what a transaction sees."""
        state = state_of(connection)
        with self._lock:
            # Two questions may see two states at once; whatever is remembered of either is true of both.
            if self._view is None or self._view.state.version != state.version:
                shape = self._shaped(connection, state.version)
                self._view = View(state, shape, self._tail(connection, state.flushed))
            return self._view

    def shape(self, connection: sqlite3.Connection) -> IndexShape:
        """The segments that a transaction sees."""
        state = state_of(connection)
        with self._lock:
            return self._shaped(connection, state.version)

    def _shaped(self, connection: sqlite3.Connection, version: int) -> IndexShape:
        known = self._shape
        if known.version != version:
            had = {outline.number: outline for outline in known.outlines}
            listed = [number for (number,) in connection.execute("SELECT number FROM segments ORDER BY number")]
            outlines = tuple(had.get(number) or segments.outline(connection, number) for number in listed)
            dead = np.array([number for (number,) in connection.execute("SELECT id FROM dead")], dtype=np.int64)
            self._shape = IndexShape(version, outlines, dead, _alive(outlines, dead, known))
        return self._shape

    def _tail(self, connection: sqlite3.Connection, flushed: int) -> Tail:
        if flushed != self._flushed:
            self._forget_tail(flushed)
        ids = [number for (number,) in connection.execute("SELECT id FROM documents WHERE id > ?", (flushed,))]
        find = "SELECT doc_id, text FROM documents JOIN contents USING (id) WHERE id = ?"
        for number in ids:
            if number not in self._cut:
                doc_id, text = connection.execute(find, (number,)).fetchone()
                self._cut[number] = doc_id, self._vocabulary.numbers(self._tokenizer.tokens(text))
        self._cut = {number: self._cut[number] for number in ids}
        cut = [numbers for _, numbers in self._cut.values()]
        flat = np.frombuffer(b"".join(cut), dtype=np.dtype("u4")) if cut else np.zeros(0, dtype=np.uint32)
        lengths = np.array([len(numbers) - 1 for numbers in cut], dtype=np.uint32)
        return Tail(ids, [doc_id for doc_id, _ in self._cut.values()], self._vocabulary, TokenRun([], flat, lengths))


def _alive(outlines: tuple[QueryShape, ...], dead: Ids, known: IndexShape) -> tuple[Flags | None, ...]:
    """Which documents of each segment are alive; the same flags as before where nobody died."""
    had: dict[int, Flags | None] = {}
    if np.array_equal(known.dead, dead):
        had = {outline.number: alive for outline, alive in zip(known.outlines, known.alive, strict=True)}
    flags = []
    for outline in outlines:
        if outline.number in had:
            flags.append(had[outline.number])
        else:
            is_dead = np.isin(outline.ids, dead)
            flags.append(~is_dead if is_dead.any() else None)
    return tuple(flags)
