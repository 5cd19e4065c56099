"""The default store: a catalog on this machine, and the derived parts that follow it.

A batch is true once its catalog transaction is committed. The lexical index follows in the same
call; if that is cut off, whoever opens the store next finds it behind and replays. The vector
matrix follows when it is next used.
"""

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, TypeVar

from dowse.encoding.packing import packed
from dowse.errors import Failed, LexicalDamaged, StoreBusy
from dowse.platform import Lock, make_private_folder
from dowse.protocols import ReadText
from dowse.store import lexical
from dowse.store.catalog import Applied, Catalog, Changes
from dowse.store.catalog_database import is_current
from dowse.store.lexical import Indexed, LexicalIndex, Marker
from dowse.store.matrices import READ_WAIT_SECONDS, Matrices
from dowse.store.matrix import matrix_files
from dowse.types import (
    KINDS,
    Batch,
    Chunk,
    Document,
    Finding,
    Kind,
    Link,
    Scored,
    Stat,
    StoredChunk,
    StoredDocument,
    TextQuery,
    Totals,
    Verdict,
)

if TYPE_CHECKING:
    from dowse.types import Vectors

WRITE_WAIT_SECONDS = 60.0
"""How long a writer waits for another one's batch; a batch takes about a second."""
FEW_DOCUMENTS = 50
"""After so few, nobody waits for segments to be merged: 120 to 400 ms after one update in seven."""
REPLAY_DOCUMENTS = 500
"""Documents read into memory at once while the lexical index is replayed."""

_Answer = TypeVar("_Answer")

_CATALOG = "catalog.sqlite"
_LEXICAL = "lexical-"
"""A rebuilt lexical index gets a new folder: neither a reader's open files nor a writer that died
badly can touch it."""


class LocalStore:
    """A `Store` in one folder."""

    def __init__(self, folder: Path, read_text: ReadText) -> None:
        make_private_folder(folder)
        self.folder = folder
        self._read_text = read_text
        self._lock = Lock(folder / "write.lock")
        file = folder / _CATALOG
        with contextlib.nullcontext() if is_current(file) else self._lock.held(WRITE_WAIT_SECONDS):
            self._catalog = Catalog(file)
        self._file = file.stat().st_ino
        self._lexical = LexicalIndex(folder / f"{_LEXICAL}none")
        self._finishing: threading.Thread | None = None
        self._counted: Path | None = None
        """The lexical index whose size was compared with the catalog's."""
        self._matrices = Matrices(folder, self._catalog, self._lock)

    # The catalog answers these

    def document(self, path: str) -> StoredDocument | None:
        return self._catalog.document(path)

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        return self._catalog.documents(below, after)

    def twin(self, document: Document, recipe: str) -> StoredDocument | None:
        return self._catalog.twin(document, recipe)

    def refusals(self) -> dict[str, tuple[Stat, Verdict]]:
        return self._catalog.refusals()

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        return self._catalog.documents_by_id(ids)

    def chunks(self, document_id: int) -> list[StoredChunk]:
        return self._catalog.chunks(document_id)

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        return self._catalog.chunks_by_id(ids)

    def links(self, document_id: int) -> list[Link]:
        return self._catalog.links(document_id)

    def targets(self) -> Iterator[tuple[int, int, str]]:
        return self._catalog.targets()

    def converted_text(self, document_id: int) -> str | None:
        return self._catalog.converted_text(document_id)

    def totals(self, kind: Kind) -> Totals:
        return self._catalog.totals(kind)

    def sequence(self) -> int:
        """The number that the store has reached."""
        return self._catalog.sequence()

    @property
    def identity(self) -> str:
        """Names this index; one that is built anew has another, and counts from the start."""
        return self._catalog.id

    def changes_since(self, sequence: int) -> Changes | None:
        """What happened after a state; None when that is no longer known."""
        return self._catalog.changes_since(sequence)

    def noted(self, key: str) -> str | None:
        return self._catalog.fact(f"note:{key}")

    def without_vectors(self, encoder: str, limit: int, *, first: Collection[int] = (), after: int = 0) -> list[int]:
        return self._catalog.without_vectors(encoder, limit, first=first, after=after)

    def newest_chunk(self) -> int:
        return self._catalog.newest_chunk()

    def encoders(self) -> list[str]:
        return self._catalog.encoders()

    def size_bytes(self) -> int:
        """Bytes on disk of everything in the folder."""
        total = 0
        for folder, _, names in os.walk(self.folder):
            for name in names:
                with contextlib.suppress(FileNotFoundError):  # somebody writes, and files come and go
                    total += os.lstat(f"{folder}/{name}").st_size
        return total

    # Writing

    def apply(self, batch: Batch) -> int:
        """Make a batch durable and searchable."""
        self._lock.acquire(WRITE_WAIT_SECONDS)
        finish: Callable[[], None] = _nothing
        try:
            self._follow_lexical()
            applied = self._catalog.apply(batch)
            finish = self._append(batch, applied)
        finally:
            self._release_after(finish, in_background=len(batch.puts) <= FEW_DOCUMENTS)
        return applied.sequence

    def _release_after(self, finish: Callable[[], None], *, in_background: bool) -> None:
        """Give the write lock back once what is left is done; after a small batch nobody waits for that."""

        def finish_and_release() -> None:
            try:
                with contextlib.suppress(LexicalDamaged, OSError):  # the commit stands, with or without the merge
                    finish()
            finally:
                self._lock.release()

        if in_background and finish is not _nothing:
            self._finishing = threading.Thread(target=finish_and_release, daemon=True, name="merging")
            self._finishing.start()
        else:
            finish_and_release()

    def put_vectors(self, encoder: str, rows: "Sequence[tuple[int, Vectors]]") -> int:
        """Keep vectors for chunks that still exist."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            if rows:
                import numpy as np

                chunks, vectors = zip(*rows, strict=True)
                self._catalog.put_vectors(encoder, zip(chunks, packed(np.stack(vectors)), strict=True))
            return self._catalog.sequence()

    def forget_vectors(self, encoder: str) -> None:
        """Remove everything of an encoder."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            self._catalog.forget_vectors(encoder)
            self._matrices.forget(encoder)

    def forget_unused_vectors(self) -> None:
        """Remove vectors of content that is in no chunk any more."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            self._catalog.forget_unused_vectors()

    def note(self, key: str, value: str | None) -> None:
        """Remember a fact about the index as a whole."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            self._catalog.set_fact(f"note:{key}", value)

    # Searching

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Chunks by words, best first."""
        return self._ask(lambda index: index.find_chunks(query, limit))

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Documents by words of their path, best first."""
        return self._ask(lambda index: index.find_documents(query, limit))

    def holders(self, word: str) -> frozenset[int]:
        """Documents that hold a word."""
        return self._ask(lambda index: index.holders(word))

    def extent(self) -> int:
        """How many chunks and paths words are looked for in."""
        return self._ask(LexicalIndex.extent)

    def frequency(self, term: str) -> int:
        """How many chunks hold a term in their parts."""
        return self._ask(lambda index: index.frequency(term))

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Whole words that begin with a prefix, and how many chunks hold each."""
        return self._ask(lambda index: index.words_with_prefix(prefix, limit))

    def refresh(self) -> None:
        """See what is there now, and let the lexical index catch up unless another process writes."""
        if not self._is_lexical_current():
            with contextlib.suppress(StoreBusy), self._lock.held(READ_WAIT_SECONDS):
                self._follow_lexical()

    def _ask(self, question: Callable[[LexicalIndex], _Answer]) -> _Answer:
        """Ask the lexical index; one that cannot answer is looked for again, and rebuilt only if need be."""
        try:
            return question(self._lexical)
        except LexicalDamaged:
            with self._lock.held(WRITE_WAIT_SECONDS):
                self._follow_lexical()
        try:
            return question(self._lexical)
        except LexicalDamaged:
            with self._lock.held(WRITE_WAIT_SECONDS):
                self._rebuild_lexical()
        try:
            return question(self._lexical)
        except LexicalDamaged as error:
            raise Failed(f"The lexical index cannot be read: {error}. Check the disk and try again.") from error

    def nearest(
        self,
        encoder: str,
        vector: "Vectors",
        limit: int,
        *,
        kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:
        """Chunks with the highest dot product, best first."""
        return self._matrices.nearest(encoder, vector, limit, kind=kind, among=among)

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Those of some documents that have a vector of an encoder."""
        return self._matrices.encoded_documents(encoder, documents)

    def vector_counts(self, encoder: str) -> tuple[int, int]:
        """Chunks that have a vector, and all chunks."""
        return self._matrices.count(encoder), sum(self.totals(kind).chunks for kind in KINDS)

    # Checking and repairing

    def glance(self) -> list[Finding]:
        """Whether the lexical index is there and has followed."""
        if self._is_lexical_current() or not self._catalog.document_ids():
            return []
        return [Finding("lexical index", "is missing, damaged or behind the catalog")]

    def check(self) -> list[Finding]:
        """Compare the catalog with itself and every derived part with the catalog."""
        findings = [Finding("catalog", problem) for problem in self._catalog.problems()]
        findings += [Finding("lexical index", problem) for problem in self._lexical_problems()]
        return findings + [Finding("vectors", problem) for problem in self._matrices.problems()]

    def repair(self) -> None:
        """Rebuild the derived parts that are wrong."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            if self._lexical_problems():
                self._rebuild_lexical()
            self._matrices.repair()

    def is_in_place(self) -> bool:
        """Whether the catalog we hold is the one in the folder: another process may have removed or rebuilt it."""
        try:
            return (self.folder / _CATALOG).stat().st_ino == self._file
        except OSError:
            return False

    def let_go(self) -> None:
        """Give back what is held in memory for the next question; it takes 20 ms more."""
        self._matrices.let_go()
        self._catalog.let_go()

    def close(self) -> None:
        """Let go of the files."""
        if self._finishing is not None:
            self._finishing.join(WRITE_WAIT_SECONDS)
        self._catalog.close()

    # The lexical index follows

    def _marker(self, sequence: int) -> Marker:
        return Marker(self._catalog.id, sequence, lexical.FORMAT)

    def _use_current_lexical(self) -> None:
        """See what other processes have written, or built anew, since we looked."""
        name = self._catalog.fact("lexical")
        if name and name != self._lexical.folder.name:
            self._lexical = LexicalIndex(self.folder / name)
        else:
            self._lexical.refresh()

    def _lexical_changes(self) -> Changes | None:
        """What the lexical index lacks; None when it has to be rebuilt."""
        self._use_current_lexical()
        marker = self._lexical.marker()
        if marker is None or marker != self._marker(marker.sequence):
            return None
        changes = self._catalog.changes_since(marker.sequence)
        is_level = changes is not None and not (changes.added or changes.removed)
        return None if is_level and not self._counts_agree() else changes

    def _counts_agree(self) -> bool:
        """Whether an index that says it is current holds as much as the catalog; looked at once a process.

        A commit that failed halfway on a broken disk once said so and still held a chunk that was gone.
        """
        if self._counted != self._lexical.folder:
            if self._lexical.extent() != self._catalog.entries() + 1:  # and the marker
                return False
            self._counted = self._lexical.folder
        return True

    def _is_lexical_current(self) -> bool:
        changes = self._lexical_changes()
        return changes is not None and not (changes.added or changes.removed)

    def _append(self, batch: Batch, applied: Applied) -> Callable[[], None]:
        """Follow one batch whose text is at hand; what is left to do."""
        added = (
            _indexed(
                document_id, put.document, zip(chunk_ids, put.chunks, (chunk.text for chunk in put.chunks), strict=True)
            )
            for put, (document_id, chunk_ids) in zip(batch.puts, applied.added, strict=True)
        )
        if not applied.added and not applied.removed:
            return _nothing
        try:
            return self._lexical.write(self._marker(applied.sequence), applied.removed, added)
        except LexicalDamaged:
            self._rebuild_lexical()
            return _nothing

    def _follow_lexical(self) -> None:
        """Bring the lexical index from wherever it is to where the catalog is."""
        changes = self._lexical_changes()
        if changes is None:
            self._rebuild_lexical()
        elif changes.added or changes.removed:
            try:
                self._counted = None
                self._replay(self._lexical, changes.sequence, changes.removed, changes.added)
                if not self._counts_agree():
                    self._rebuild_lexical()
            except LexicalDamaged:
                self._rebuild_lexical()

    def _rebuild_lexical(self) -> None:
        rebuilt = LexicalIndex(self.folder / f"{_LEXICAL}{token_hex(4)}")
        try:
            rebuilt.begin()
            self._replay(rebuilt, self._catalog.sequence(), [], self._catalog.document_ids())
        except BaseException as error:
            shutil.rmtree(rebuilt.folder, ignore_errors=True)  # nobody would ever use or remove it
            if isinstance(error, LexicalDamaged):
                raise Failed(f"The lexical index cannot be written: {error}. Check the disk and try again.") from error
            raise
        self._catalog.set_fact("lexical", rebuilt.folder.name)
        self._lexical = rebuilt
        for folder in self.folder.glob(f"{_LEXICAL}*"):
            if folder != rebuilt.folder:
                shutil.rmtree(folder, ignore_errors=True)

    def _replay(self, target: LexicalIndex, sequence: int, removed: Sequence[int], added: Sequence[int]) -> None:
        """Follow from the files; one that has changed since is dropped, for the next scan to find as new."""
        changed: list[str] = []
        target.write(self._marker(sequence), removed, self._indexed_documents(added, changed))()
        if changed:
            applied = self._catalog.apply(Batch(drops=changed))
            target.write(self._marker(applied.sequence), applied.removed, ())()

    def _indexed_documents(self, ids: Sequence[int], changed: list[str]) -> Iterator[Indexed]:
        for start in range(0, len(ids), REPLAY_DOCUMENTS):
            for document in self._catalog.documents_by_id(ids[start : start + REPLAY_DOCUMENTS]).values():
                kept = self._catalog.converted_text(document.id)
                text = self._read_text(document) if kept is None else kept
                if text is None:
                    changed.append(document.path)
                    continue
                data = text.encode()
                yield _indexed(
                    document.id,
                    document,
                    (
                        (chunk.id, chunk, data[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace"))
                        for chunk in self._catalog.chunks(document.id)
                    ),
                )

    def _lexical_problems(self) -> list[str]:
        self._use_current_lexical()
        marker = self._lexical.marker()
        if marker is None:
            return ["is missing or damaged"] if self._catalog.document_ids() else []
        if marker.catalog != self._catalog.id or marker.format != lexical.FORMAT:
            return ["belongs to another catalog or version"]
        problems = self._lexical.problems()
        if not self._is_lexical_current():
            problems.append(f"has reached change {marker.sequence} of {self._catalog.sequence()}")
        elif not problems:
            problems += self._difference(self._lexical.chunk_ids())
        return problems

    def _difference(self, held: set[int]) -> list[str]:
        expected = set(self._catalog.chunk_ids())
        missing, extra = len(expected - held), len(held - expected)
        return [f"lacks {missing} chunks and has {extra} that are gone"] if missing or extra else []


def _nothing() -> None:
    """Nothing is left to do."""


def set_aside(folder: Path) -> Path:
    """Move a catalog that cannot be read out of the way, with its derived parts gone."""
    backup = folder / f"{_CATALOG}.bak"
    for file in _catalog_files(folder):
        file.replace(folder / file.name.replace(_CATALOG, backup.name))
    _remove_derived(folder)
    return backup


def remove(folder: Path) -> None:
    """Remove a store; what else is in the folder stays."""
    for file in _catalog_files(folder):
        file.unlink()
    _remove_derived(folder)


def _catalog_files(folder: Path) -> list[Path]:
    files = [folder / f"{_CATALOG}{suffix}" for suffix in ("", "-wal", "-shm")]
    return [file for file in files if file.exists()]


def _remove_derived(folder: Path) -> None:
    for derived in folder.glob(f"{_LEXICAL}*"):
        shutil.rmtree(derived, ignore_errors=True)
    for file in matrix_files(folder):
        file.unlink()


def _indexed(
    document_id: int,
    document: Document | StoredDocument,
    chunks: Iterable[tuple[int, Chunk | StoredChunk, str]],
) -> Indexed:
    told = [
        (chunk_id, text, [symbol.name for symbol in chunk.symbols], chunk.headings) for chunk_id, chunk, text in chunks
    ]
    return Indexed(document_id, document.kind, document.path, told)
