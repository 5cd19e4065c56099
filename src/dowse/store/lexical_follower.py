"""The lexical index of one view of a store, kept in step with the catalog.

Each view has an index of its own, because the frequencies of words decide the order of hits: the documents of a root
leave the searches of its project as they are.

The catalog is committed first and the lexical index follows in the same call. If that is
interrupted, the next process that opens the store finds the index behind and replays the changes.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from dowse.errors import Failed, LexicalDamaged, NotWritable, StoreBusy, WordsMissing
from dowse.store import lexical
from dowse.store.catalog import Catalog, Changes
from dowse.store.catalog_writer import AddedDocument, AppliedBatch
from dowse.store.lexical import LexicalIndex
from dowse.store.lexical_entries import LexicalDocument, TermStatistics
from dowse.store.lexical_search import LexicalSearch
from dowse.store.segment_files import Marker
from dowse.store.storage_layout import READ_WAIT_SECONDS, WRITE_WAIT_SECONDS
from dowse.system.platform import Lock, refusal_to_write
from dowse.types import Batch, Chunk, Document, Progress, ReadText, StoredChunk, StoredDocument, View

REPLAY_DOCUMENTS = 500
"""Documents read into memory at once while the lexical index is replayed."""

QUICK_DOCUMENTS = 200
"""Up to this many documents are added to the index before a search, which takes about a second. More are left to the
process that indexes: 140,000 chunks take minutes."""

_FACTS = {View.PROJECT: "lexical", View.DOCUMENTS: "lexical_documents"}
"""The facts of the catalog that name the folders of the indexes."""

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*(?:\r\n|\r|\n)(?s:.*?)(?:\r\n|\r|\n)\1[ \t]*(?=[\r\n]|\Z)")
_TITLE_ENTRY = re.compile(r"^\W?title\W?[ \t]*[:=].*(?:(?:\r\n|\r|\n)[ \t]+.*)*", re.MULTILINE | re.IGNORECASE)

FOLDER_PREFIX = "lexical-"
"""A rebuilt lexical index gets a new folder, so that neither open files of a reader nor the remains
of a killed writer affect it."""

_BUILT_AGAIN = "The search by words is built again from the files, as after an update of dowse. Ask again in a minute."


class LexicalFollower(LexicalSearch):
    """The lexical index of one view, brought up to date from the catalog of its store."""

    def __init__(self, folder: Path, catalog: Catalog, lock: Lock, read_text: ReadText, view: View) -> None:
        self._folder, self._catalog, self._lock, self._read_text = folder, catalog, lock, read_text
        self._view = view
        self._index = LexicalIndex(folder / f"{FOLDER_PREFIX}none")
        self._counted: Path | None = None
        """Folder of the index whose number of chunks was compared with the catalog."""
        self._current_at: tuple[object, ...] | None = None
        """The states of the catalog and of the index in which the index was found to be current."""
        self._current_in: object = None
        """The hold of the catalog's state in which it was found to be current."""
        self._must_rebuild, self._missing = False, 0
        """Whether the index was not usable when it was last looked at, and how many documents it lacked."""
        self.refusal: NotWritable | None = None
        """Why the index is behind the catalog: it could not be written."""

    def refresh(self) -> bool:
        """Open the current index, and catch up with the catalog unless another process writes or nothing can be written.

        Return whether it has caught up. A backlog is left to the process that indexes.
        """
        self.refusal = None
        if self.is_current():
            return True
        if self._is_backlog:
            self.refusal = refusal_to_write(self._folder / f"{FOLDER_PREFIX}new")
            return False
        try:
            with contextlib.suppress(StoreBusy), self._lock.held(READ_WAIT_SECONDS):
                self.catch_up()
                return True
        except NotWritable as error:
            self.refusal = error
        return False

    @contextlib.contextmanager
    def searching(self) -> Iterator[TermStatistics]:
        """Give the searcher to a block. If its files are damaged, they are first rebuilt from the catalog.

        Raise WordsMissing if that takes long, and if the damage is found in the block.
        """
        self._require_words()
        try:
            with self._index.searching():
                pass
        except LexicalDamaged:
            self._catalog.end_hold()  # another process may have replaced it
            if not self.is_current():
                self._require_words()
                with self._lock.held(WRITE_WAIT_SECONDS):
                    self.catch_up()
        try:
            with self._index.searching() as terms:
                yield terms
        except LexicalDamaged as error:
            self._forget()
            raise WordsMissing(_BUILT_AGAIN) from error

    def _forget(self) -> None:
        """Forget an index with damage that its checksums do not show; what next catches up makes another."""
        self._catalog.end_hold()
        with contextlib.suppress(StoreBusy, NotWritable), self._lock.held(READ_WAIT_SECONDS):
            self._catalog.set_fact(_FACTS[self._view], f"{FOLDER_PREFIX}damaged")  # all processes notice that

    def _require_words(self) -> None:
        if self._must_rebuild and self._is_backlog:
            raise WordsMissing(_BUILT_AGAIN)

    @property
    def _is_backlog(self) -> bool:
        return self._missing > QUICK_DOCUMENTS

    def has_backlog(self) -> bool:
        """Return whether the index lacks more documents than are added before a search."""
        return not self.is_current() and self._is_backlog

    def is_current(self) -> bool:
        """Return whether the index has all documents of the catalog."""
        hold = self._catalog.hold
        if hold and hold is self._current_in:
            return True
        catalog_state = self._catalog.state()
        self._open_current()
        states = (catalog_state, self._index.state())
        if None not in states and states == self._current_at:
            self._current_in = hold
            return True
        changes = self._missing_changes()
        self._must_rebuild = changes is None
        self._missing = len(self._catalog.document_ids(self._view) if changes is None else changes.added)
        is_current = changes is not None and changes.is_empty
        self._current_at = states if is_current else None
        return is_current

    def missing_documents(self) -> Collection[int]:
        """Return the documents of the catalog that the index lacks."""
        if self.is_current():
            return ()
        changes = self._missing_changes()
        return self._catalog.document_ids(self._view) if changes is None else changes.added

    def problems(self) -> list[str]:
        """Return how the index differs from the catalog, and damage to its files."""
        self._open_current()
        marker = self._index.marker()
        if marker is None:
            return ["is missing or damaged"] if self._catalog.document_ids(self._view) else []
        if marker.catalog != self._catalog.id or marker.format != lexical.FORMAT:
            return ["belongs to another catalog or version"]
        problems = self._index.problems()
        if not self.is_current() and marker.sequence != (sequence := self._catalog.sequence()):
            return [*problems, f"is behind the catalog: transaction {marker.sequence} of {sequence}"]
        return problems or self._compare_chunks(self._index.chunk_ids())

    # Writing; the caller holds the write lock

    def append(self, applied: AppliedBatch) -> Callable[[], None] | None:
        """Add one batch, whose text is at hand; return a function that finishes the write, if anything is left to do."""
        added = [document for document in applied.added if document.views & self._view]
        removed = [document_id for document_id, views in applied.removed if views & self._view]
        if not added and not removed:
            return None
        try:
            documents = map(self._added_document, added)
            return self._index.write(self._marker(applied.sequence), removed, documents)
        except LexicalDamaged:
            self.rebuild()
            return None

    def catch_up(self, progress: Progress | None = None) -> None:
        """Bring the index up to date with the catalog: replay the missing changes, or rebuild it."""
        self._open_current()
        changes = self._missing_changes()
        if changes is None:
            self.rebuild(progress)
        elif not changes.is_empty:
            try:
                self._counted = None
                # A commit without a marker may have added some of them.
                self._replay(self._index, changes.sequence, [*changes.removed, *changes.added], changes.added)
                self._index.refresh()  # as merging has left it
                if not self._counts_agree():
                    self.rebuild()
            except LexicalDamaged:
                self.rebuild()

    def rebuild(self, progress: Progress | None = None) -> None:
        """Build the index anew in a new folder, and remove the old ones."""
        rebuilt = LexicalIndex(self._folder / f"{FOLDER_PREFIX}{os.urandom(4).hex()}")
        try:
            self._replay(rebuilt, self._catalog.sequence(), [], self._catalog.document_ids(self._view), progress)
        except BaseException as error:
            shutil.rmtree(rebuilt.folder, ignore_errors=True)  # it would never be used or removed
            if isinstance(error, LexicalDamaged):
                raise Failed(f"The lexical index cannot be written: {error}. Check the disk and try again.") from error
            raise
        self._catalog.set_fact(_FACTS[self._view], rebuilt.folder.name)
        self._index, self._must_rebuild = rebuilt, False
        self.remove_unused()

    def remove_unused(self) -> None:
        """Remove all indexes but those that the catalog names: older ones, and those of processes that were killed."""
        current = [self._catalog.fact(fact) for fact in _FACTS.values()]
        for folder in self._folder.glob(f"{FOLDER_PREFIX}*"):
            if folder.name not in current:
                shutil.rmtree(folder, ignore_errors=True)

    def _marker(self, sequence: int) -> Marker:
        return Marker(self._catalog.id, sequence, lexical.FORMAT)

    def _open_current(self) -> None:
        """Open the index that the catalog names, with what other processes have committed."""
        name = self._catalog.fact(_FACTS[self._view])
        if name and name != self._index.folder.name:
            self._index = LexicalIndex(self._folder / name)
        else:
            self._index.refresh()

    def _missing_changes(self) -> Changes | None:
        """Return the changes that the index lacks; None when it has to be rebuilt."""
        marker = self._index.marker()
        if marker is None or (marker.catalog, marker.format) != (self._catalog.id, lexical.FORMAT):
            return None
        changes = self._catalog.changes_since(marker.sequence, self._view)
        is_wrong = changes and changes.is_empty and (self._index.has_later_commit(marker) or not self._counts_agree())
        return None if is_wrong else changes

    def _counts_agree(self) -> bool:
        """Return whether an index with a current marker has as many chunks as the catalog; checked once per process.

        After a commit failed halfway on a broken disk, an index once had a current marker and still held a removed chunk.
        """
        if self._counted != self._index.folder:
            if self._index.chunk_count() != self._catalog.chunk_count(self._view):
                return False
            self._counted = self._index.folder
        return True

    def _replay(
        self,
        target: LexicalIndex,
        sequence: int,
        removed: Sequence[int],
        added: Sequence[int],
        progress: Progress | None = None,
    ) -> None:
        """Write changes with the text read from the files.

        A file that has changed since is dropped from the catalog, and the next scan finds it as new. It is dropped
        before the commit: if the process ends between the two, the index is behind, and lacks nothing that it names.
        """
        dropped: list[AppliedBatch] = []

        def documents() -> Iterator[LexicalDocument]:
            changed: list[str] = []
            yield from self._read_documents(added, changed, progress)
            if changed:
                dropped.append(self._catalog.apply(Batch(drops=changed)))

        target.write(self._marker(sequence), removed, documents())()
        for applied in dropped:
            target.write(self._marker(applied.sequence), [document_id for document_id, _ in applied.removed], ())()

    def _read_documents(
        self, ids: Sequence[int], changed: list[str], progress: Progress | None
    ) -> Iterator[LexicalDocument]:
        """Yield documents with their text; add the paths of files that have changed to `changed`."""
        for start in range(0, len(ids), REPLAY_DOCUMENTS):
            documents = self._catalog.documents_by_id(ids[start : start + REPLAY_DOCUMENTS])
            for done, document in enumerate(documents.values(), start + 1):
                if progress:
                    progress(done, len(ids))
                read = self._catalog.read_chunks(document, self._read_text)
                if read is None:
                    changed.append(document.path)
                    continue
                chunks = [(chunk.id, part, chunk) for chunk, part in read.chunks]
                yield self._lexical_document(document.id, document, document.title, read.text, chunks)

    def _compare_chunks(self, indexed: set[int]) -> list[str]:
        expected = set(self._catalog.chunk_ids(self._view))
        missing, extra = len(expected - indexed), len(indexed - expected)
        return [f"lacks {missing} chunks and contains {extra} removed ones"] if missing or extra else []

    def _added_document(self, added: AddedDocument) -> LexicalDocument:
        put, reading = added.put, added.put.document.reading
        chunks = [(number, chunk.text, chunk) for number, chunk in zip(added.chunk_ids, put.chunks, strict=True)]
        return self._lexical_document(added.document_id, put.document, reading.title, reading.text, chunks)

    def _lexical_document(
        self,
        document_id: int,
        document: Document | StoredDocument,
        title: str,
        text: str,
        chunks: Sequence[tuple[int, str, Chunk | StoredChunk]],
    ) -> LexicalDocument:
        titled = (title, without_title(text)) if self._view is View.DOCUMENTS else ()
        return LexicalDocument(document_id, document.kind, document.path, chunks, *titled)


def without_title(text: str) -> str:
    """Return a text without the title in its front matter, which is not a part of its content."""
    matter = _FRONT_MATTER.match(text)
    return _TITLE_ENTRY.sub("", matter[0], count=1) + text[matter.end() :] if matter else text
