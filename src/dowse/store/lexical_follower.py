"""The lexical index of a store, kept in step with the catalog.

The catalog is committed first and the lexical index follows in the same call. If that is
interrupted, the next process that opens the store finds the index behind and replays the changes.
"""

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

from dowse.errors import Failed, LexicalDamaged, NotWritable, StoreBusy
from dowse.platform import Lock
from dowse.protocols import ReadText
from dowse.store import lexical
from dowse.store.catalog import Catalog, Changes
from dowse.store.catalog_writer import AppliedBatch
from dowse.store.lexical import LexicalDocument, LexicalIndex, Marker
from dowse.store.lock_waits import READ_WAIT_SECONDS, WRITE_WAIT_SECONDS
from dowse.types import Batch, Chunk, Document, StoredChunk, StoredDocument

REPLAY_DOCUMENTS = 500
"""Documents read into memory at once while the lexical index is replayed."""

FOLDER_PREFIX = "lexical-"
"""A rebuilt lexical index gets a new folder, so that neither open files of a reader nor the remains
of a killed writer affect it."""

_Answer = TypeVar("_Answer")


class LexicalFollower:
    """The lexical index of one store, brought up to date from its catalog."""

    def __init__(self, folder: Path, catalog: Catalog, lock: Lock, read_text: ReadText) -> None:
        self._folder, self._catalog, self._lock, self._read_text = folder, catalog, lock, read_text
        self._index = LexicalIndex(folder / f"{FOLDER_PREFIX}none")
        self._counted: Path | None = None
        """Folder of the index whose number of entries was compared with the catalog."""
        self.refusal: NotWritable | None = None
        """Why the index is behind the catalog: it could not be written."""

    def refresh(self) -> bool:
        """Open the current index, and catch up with the catalog unless another process writes or nothing can be written.

        Return whether it has caught up.
        """
        self.refusal = None
        if self.is_current():
            return True
        try:
            with contextlib.suppress(StoreBusy), self._lock.held(READ_WAIT_SECONDS):
                self.catch_up()
                return True
        except NotWritable as error:
            self.refusal = error
        return False

    def query(self, question: Callable[[LexicalIndex], _Answer]) -> _Answer:
        """Query the lexical index; if it is damaged, open it again, and rebuild it only if that does not help."""
        try:
            return question(self._index)
        except LexicalDamaged:
            with self._lock.held(WRITE_WAIT_SECONDS):
                self.catch_up()
        try:
            return question(self._index)
        except LexicalDamaged:
            with self._lock.held(WRITE_WAIT_SECONDS):
                self.rebuild()
        try:
            return question(self._index)
        except LexicalDamaged as error:
            raise Failed(f"The lexical index cannot be read: {error}. Check the disk and try again.") from error

    def is_current(self) -> bool:
        """Return whether the index has all documents of the catalog."""
        changes = self._missing_changes()
        return changes is not None and not (changes.added or changes.removed)

    def problems(self) -> list[str]:
        """Return how the index differs from the catalog, and damage to its files."""
        self._open_current()
        marker = self._index.marker()
        if marker is None:
            return ["is missing or damaged"] if self._catalog.document_ids() else []
        if marker.catalog != self._catalog.id or marker.format != lexical.FORMAT:
            return ["belongs to another catalog or version"]
        problems = self._index.problems()
        if not self.is_current():
            problems.append(f"is behind the catalog: transaction {marker.sequence} of {self._catalog.sequence()}")
        elif not problems:
            problems += self._compare_chunks(self._index.chunk_ids())
        return problems

    # Writing; the caller holds the write lock

    def append(self, batch: Batch, applied: AppliedBatch) -> Callable[[], None]:
        """Add one batch, whose text is at hand; return a function that finishes the write."""
        added = (
            _lexical_document(
                document_id, put.document, zip(chunk_ids, put.chunks, (chunk.text for chunk in put.chunks), strict=True)
            )
            for put, (document_id, chunk_ids) in zip(batch.puts, applied.added, strict=True)
        )
        if not applied.added and not applied.removed:
            return nothing_to_finish
        try:
            return self._index.write(self._marker(applied.sequence), applied.removed, added)
        except LexicalDamaged:
            self.rebuild()
            return nothing_to_finish

    def catch_up(self) -> None:
        """Bring the index up to date with the catalog: replay the missing changes, or rebuild it."""
        changes = self._missing_changes()
        if changes is None:
            self.rebuild()
        elif changes.added or changes.removed:
            try:
                self._counted = None
                self._replay(self._index, changes.sequence, changes.removed, changes.added)
                if not self._counts_agree():
                    self.rebuild()
            except LexicalDamaged:
                self.rebuild()

    def rebuild(self) -> None:
        """Build the index anew in a new folder, and remove the old ones."""
        rebuilt = LexicalIndex(self._folder / f"{FOLDER_PREFIX}{token_hex(4)}")
        try:
            rebuilt.begin()
            self._replay(rebuilt, self._catalog.sequence(), [], self._catalog.document_ids())
        except BaseException as error:
            shutil.rmtree(rebuilt.folder, ignore_errors=True)  # it would never be used or removed
            if isinstance(error, LexicalDamaged):
                raise Failed(f"The lexical index cannot be written: {error}. Check the disk and try again.") from error
            raise
        self._catalog.set_fact("lexical", rebuilt.folder.name)
        self._index = rebuilt
        self.remove_unused()

    def remove_unused(self) -> None:
        """Remove all indexes but the one that the catalog names: older ones, and those of processes that were killed."""
        current = self._catalog.fact("lexical")
        for folder in self._folder.glob(f"{FOLDER_PREFIX}*"):
            if folder.name != current:
                shutil.rmtree(folder, ignore_errors=True)

    def _marker(self, sequence: int) -> Marker:
        return Marker(self._catalog.id, sequence, lexical.FORMAT)

    def _open_current(self) -> None:
        """Open the index that the catalog names, with what other processes have committed."""
        name = self._catalog.fact("lexical")
        if name and name != self._index.folder.name:
            self._index = LexicalIndex(self._folder / name)
        else:
            self._index.refresh()

    def _missing_changes(self) -> Changes | None:
        """Return the changes that the index lacks; None when it has to be rebuilt."""
        self._open_current()
        marker = self._index.marker()
        if marker is None or marker != self._marker(marker.sequence):
            return None
        changes = self._catalog.changes_since(marker.sequence)
        is_current = changes is not None and not (changes.added or changes.removed)
        return None if is_current and not self._counts_agree() else changes

    def _counts_agree(self) -> bool:
        """Return whether an index with a current marker has as many entries as the catalog; checked once per process.

        After a commit failed halfway on a broken disk, an index once had a current marker and still held a removed chunk.
        """
        if self._counted != self._index.folder:
            if self._index.entry_count() != self._catalog.entries() + 1:  # one for the marker
                return False
            self._counted = self._index.folder
        return True

    def _replay(self, target: LexicalIndex, sequence: int, removed: Sequence[int], added: Sequence[int]) -> None:
        """Write changes with the text read from the files.

        A file that has changed since is dropped from the catalog, and the next scan finds it as new.
        """
        changed: list[str] = []
        target.write(self._marker(sequence), removed, self._read_documents(added, changed))()
        if changed:
            applied = self._catalog.apply(Batch(drops=changed))
            target.write(self._marker(applied.sequence), applied.removed, ())()

    def _read_documents(self, ids: Sequence[int], changed: list[str]) -> Iterator[LexicalDocument]:
        """Yield documents with their text; add the paths of files that have changed to `changed`."""
        for start in range(0, len(ids), REPLAY_DOCUMENTS):
            for document in self._catalog.documents_by_id(ids[start : start + REPLAY_DOCUMENTS]).values():
                converted = self._catalog.converted_text(document.id)
                text = self._read_text(document) if converted is None else converted
                if text is None:
                    changed.append(document.path)
                    continue
                data = text.encode()
                yield _lexical_document(
                    document.id,
                    document,
                    (
                        (chunk.id, chunk, data[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace"))
                        for chunk in self._catalog.chunks(document.id)
                    ),
                )

    def _compare_chunks(self, indexed: set[int]) -> list[str]:
        expected = set(self._catalog.chunk_ids())
        missing, extra = len(expected - indexed), len(indexed - expected)
        return [f"lacks {missing} chunks and contains {extra} removed ones"] if missing or extra else []


def nothing_to_finish() -> None:
    """Do nothing: no work is left after a write."""


def _lexical_document(
    document_id: int,
    document: Document | StoredDocument,
    chunks: Iterable[tuple[int, Chunk | StoredChunk, str]],
) -> LexicalDocument:
    entries = [
        (chunk_id, text, [symbol.name for symbol in chunk.symbols], chunk.headings) for chunk_id, chunk, text in chunks
    ]
    return LexicalDocument(document_id, document.kind, document.path, entries)
