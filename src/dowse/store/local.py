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
from typing import TYPE_CHECKING

from dowse.encoding.packing import pack_vectors
from dowse.errors import LexicalDamaged
from dowse.platform import Lock, make_private_folder
from dowse.protocols import ReadText
from dowse.store.catalog import Catalog, Changes
from dowse.store.catalog_database import is_current_format
from dowse.store.lexical import LexicalIndex
from dowse.store.lexical_follower import FOLDER_PREFIX, LexicalFollower, nothing_to_finish
from dowse.store.lock_waits import WRITE_WAIT_SECONDS
from dowse.store.matrices import Matrices
from dowse.store.matrix import matrix_files
from dowse.types import (
    KINDS,
    Batch,
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

SMALL_BATCH_DOCUMENTS = 50
"""After so few, nobody waits for segments to be merged: 120 to 400 ms after one update in seven."""

_CATALOG = "catalog.sqlite"


class LocalStore:
    """A `Store` in one folder."""

    def __init__(self, folder: Path, read_text: ReadText) -> None:
        make_private_folder(folder)
        self.folder = folder
        self._lock = Lock(folder / "write.lock")
        file = folder / _CATALOG
        with contextlib.nullcontext() if is_current_format(file) else self._lock.held(WRITE_WAIT_SECONDS):
            self._catalog = Catalog(file)
        self._file = file.stat().st_ino
        self._lexical = LexicalFollower(folder, self._catalog, self._lock, read_text)
        self._finishing: threading.Thread | None = None
        self._matrices = Matrices(folder, self._catalog, self._lock)

    # The catalog answers these

    def document(self, path: str) -> StoredDocument | None:
        return self._catalog.document(path)

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        return self._catalog.documents(below, after)

    def find_twin(self, document: Document, recipe: str) -> StoredDocument | None:
        return self._catalog.find_twin(document, recipe)

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

    def link_targets(self) -> Iterator[tuple[int, int, str]]:
        return self._catalog.link_targets()

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

    def fact(self, key: str) -> str | None:
        return self._catalog.fact(f"note:{key}")

    def chunks_without_vectors(self, encoder: str, limit: int, *, first: Collection[int] = (), after: int = 0) -> list[int]:
        return self._catalog.chunks_without_vectors(encoder, limit, first=first, after=after)

    def newest_chunk_id(self) -> int:
        return self._catalog.newest_chunk_id()

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
        finish: Callable[[], None] = nothing_to_finish
        try:
            self._lexical.catch_up()
            applied = self._catalog.apply(batch)
            finish = self._lexical.append(batch, applied)
        finally:
            self._release_after(finish, in_background=len(batch.puts) <= SMALL_BATCH_DOCUMENTS)
        return applied.sequence

    def _release_after(self, finish: Callable[[], None], *, in_background: bool) -> None:
        """Give the write lock back once what is left is done; after a small batch nobody waits for that."""

        def finish_and_release() -> None:
            try:
                with contextlib.suppress(LexicalDamaged, OSError):  # the commit stands, with or without the merge
                    finish()
            finally:
                self._lock.release()

        if in_background and finish is not nothing_to_finish:
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
                self._catalog.put_vectors(encoder, zip(chunks, pack_vectors(np.stack(vectors)), strict=True))
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

    def set_fact(self, key: str, value: str | None) -> None:
        """Remember a fact about the index as a whole."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            self._catalog.set_fact(f"note:{key}", value)

    # Searching

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Chunks by words, best first."""
        return self._lexical.query(lambda index: index.find_chunks(query, limit))

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Documents by words of their path, best first."""
        return self._lexical.query(lambda index: index.find_documents(query, limit))

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Documents that hold a word."""
        return self._lexical.query(lambda index: index.documents_with_word(word))

    def entry_count(self) -> int:
        """How many chunks and paths words are looked for in."""
        return self._lexical.query(LexicalIndex.entry_count)

    def chunk_frequency(self, term: str) -> int:
        """How many chunks hold a term in their parts."""
        return self._lexical.query(lambda index: index.chunk_frequency(term))

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Whole words that begin with a prefix, and how many chunks hold each."""
        return self._lexical.query(lambda index: index.words_with_prefix(prefix, limit))

    def refresh(self) -> None:
        """See what is there now, and let the lexical index catch up unless another process writes."""
        self._lexical.refresh()

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

    def quick_check(self) -> list[Finding]:
        """Whether the lexical index is there and has followed."""
        if self._lexical.is_current() or not self._catalog.document_ids():
            return []
        return [Finding("lexical index", "is missing, damaged or behind the catalog")]

    def check(self) -> list[Finding]:
        """Compare the catalog with itself and every derived part with the catalog."""
        findings = [Finding("catalog", problem) for problem in self._catalog.problems()]
        findings += [Finding("lexical index", problem) for problem in self._lexical.problems()]
        return findings + [Finding("vectors", problem) for problem in self._matrices.problems()]

    def repair(self) -> None:
        """Rebuild the derived parts that are wrong."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            if self._lexical.problems():
                self._lexical.rebuild()
            self._matrices.repair()

    def is_in_place(self) -> bool:
        """Whether the catalog we hold is the one in the folder: another process may have removed or rebuilt it."""
        try:
            return (self.folder / _CATALOG).stat().st_ino == self._file
        except OSError:
            return False

    def release_memory(self) -> None:
        """Give back what is held in memory for the next question; it takes 20 ms more."""
        self._matrices.release_memory()
        self._catalog.release_memory()

    def close(self) -> None:
        """Let go of the files."""
        if self._finishing is not None:
            self._finishing.join(WRITE_WAIT_SECONDS)
        self._catalog.close()


def set_catalog_aside(folder: Path) -> Path:
    """Move a catalog that cannot be read out of the way, with its derived parts gone."""
    backup = folder / f"{_CATALOG}.bak"
    for file in _catalog_files(folder):
        file.replace(folder / file.name.replace(_CATALOG, backup.name))
    _remove_derived(folder)
    return backup


def remove_store(folder: Path) -> None:
    """Remove a store; what else is in the folder stays."""
    for file in _catalog_files(folder):
        file.unlink()
    _remove_derived(folder)


def _catalog_files(folder: Path) -> list[Path]:
    files = [folder / f"{_CATALOG}{suffix}" for suffix in ("", "-wal", "-shm")]
    return [file for file in files if file.exists()]


def _remove_derived(folder: Path) -> None:
    for derived in folder.glob(f"{FOLDER_PREFIX}*"):
        shutil.rmtree(derived, ignore_errors=True)
    for file in matrix_files(folder):
        file.unlink()
