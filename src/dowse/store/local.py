"""The default store: a catalog on this machine, and the derived parts that follow it.

A store shows one view of the index, or everything in it. All views of one index share its files and connections.

A batch is durable once its catalog transaction is committed. The lexical index follows in the same
call; if that is interrupted, the next process that opens the store replays the changes. The vector
matrix follows when it is next used.
"""

import contextlib
import copy
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.encoding.packing import pack_vectors
from dowse.errors import LexicalDamaged, NotWritable, StoreBusy
from dowse.store.catalog import Catalog, Changes
from dowse.store.catalog_writer import WorkStart, is_recorded, renew_sequence
from dowse.store.lexical_entries import TermStatistics
from dowse.store.lexical_follower import LexicalFollower
from dowse.store.lexical_search import LexicalSearch
from dowse.store.matrices import Matrices
from dowse.store.reference_index import ReadReferences, ReferenceIndex, read_none
from dowse.store.storage_layout import READ_WAIT_SECONDS, WRITE_WAIT_SECONDS, folder_size
from dowse.store.store_files import CATALOG_FILE, TABLES_FILE
from dowse.system.platform import Lock, make_private_folder
from dowse.types import (
    KINDS,
    Batch,
    Finding,
    Kind,
    Progress,
    ReadText,
    Scored,
    StoredDocument,
    Totals,
    View,
)

if TYPE_CHECKING:
    from dowse.store.lance_tables import LanceTables
    from dowse.types import Vectors

SMALL_BATCH_DOCUMENTS = 50
"""After a batch of at most this many documents, merging segments (120 to 400 ms after one update in seven) runs in the
background."""

ENCODED_FACT = "encoded to:"
"""Begins the facts that say up to which chunk all have a vector of an encoder."""


class LocalStore(LexicalSearch):
    """Everything that is kept of one index, in one folder. A batch is atomic: readers see whole batches only."""

    stored_share = 1.0
    """The share of the chunks that an index has."""

    def __init__(
        self,
        folder: Path,
        read_text: ReadText,
        read_references: ReadReferences = read_none,
        *,
        has_tables: bool = False,
        project_name: str = "",
    ) -> None:
        """With `has_tables`, LanceDB tables show the index to other programs."""
        self._project_name = project_name.lower()
        make_private_folder(folder)
        self.folder = folder
        self._lock = Lock(folder / "write.lock")
        file = folder / CATALOG_FILE
        # Two processes that switch a new file to a write-ahead log at once are in each other's way.
        is_there = file.exists() and file.stat().st_size > 0
        with contextlib.nullcontext() if is_there else self._lock.held(WRITE_WAIT_SECONDS):
            self.catalog = catalog = Catalog(file)
        # These do not depend on the view.
        self.views, self.converted_text = catalog.views, catalog.converted_text
        self.documents_by_id, self.paths_by_id = catalog.documents_by_id, catalog.paths_by_id
        self.chunks, self.chunks_by_id, self.chunk_lines = catalog.chunks, catalog.chunks_by_id, catalog.chunk_lines
        self._catalog_file, self._catalog_inode = file, file.stat().st_ino
        self._view = View.BOTH
        self._lexical = {
            view: LexicalFollower(folder, self.catalog, self._lock, read_text, view)
            for view in (View.PROJECT, View.DOCUMENTS)
        }
        self.references = ReferenceIndex(self.catalog, self._lock, read_references)
        self._wait_seconds = WRITE_WAIT_SECONDS
        self._merging: threading.Thread | None = None
        self._work_start = WorkStart()
        self._lost: list[str] = []
        self._matrices = Matrices(folder, self.catalog, self._lock)
        self._renew_sequence()
        self._tables: LanceTables | None = None
        if has_tables:
            from dowse.store.lance_tables import LanceTables as Tables  # few have them

            self._tables = Tables(folder, catalog, read_text)

    def _renew_sequence(self) -> None:
        """Distrust what follows the catalog if its last transaction is none of its own."""
        with self.catalog.snapshot() as connection:
            if is_recorded(connection, self.catalog.sequence()):
                return
        with (
            contextlib.suppress(StoreBusy, NotWritable),
            self._lock.held(READ_WAIT_SECONDS),
            self.catalog.transaction() as connection,
        ):
            renew_sequence(connection, f"note:{ENCODED_FACT}*")

    def seen_as(self, view: View) -> "LocalStore":
        """Return this store with one view of the index."""
        seen = copy.copy(self)
        seen._view = view
        return seen

    def add_views(self, views: View) -> None:
        """Add views to the index, whose files are compared with it next; the index is not complete until then."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            self.catalog.set_fact("views", str(int(self.catalog.views() | views)))

    # Reading from the catalog

    def document(self, path: str) -> StoredDocument | None:
        return next(iter(self.documents_at(path)), None)

    def documents_at(self, path: str) -> list[StoredDocument]:
        return self.catalog.documents_at(path, self._view)

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        return self.catalog.documents(below, after, self._view)

    def paths(self) -> list[str]:
        return self.catalog.paths(self._view)

    def ids_by_path(self) -> list[tuple[int, str]]:
        return self.catalog.ids_by_path(self._view)

    def titles(self) -> list[tuple[int, str, str]]:
        """Return the ids, the paths and the titles of all documents."""
        return self.catalog.rows("SELECT id, path, title FROM documents WHERE views & ? ORDER BY path", (self._view,))

    def given_words(self) -> frozenset[str]:
        totals = self.totals("code")
        languages = (language for language, files in totals.languages.items() if 2 * files > totals.documents)
        return frozenset(filter(None, (*languages, self._project_name)))

    def totals(self, kind: Kind) -> Totals:
        return self.catalog.totals(kind, self._view)

    def changes_since(self, sequence: int) -> Changes | None:
        return self.catalog.changes_since(sequence, self._view)

    def fact(self, key: str) -> str | None:
        return self.catalog.fact(f"note:{key}")

    def size_bytes(self) -> int:
        """Return the size on disk of everything in the folder."""
        return folder_size(self.folder)

    # Writing

    def begin_work(self) -> None:
        """Note that files are compared with the store from now on, and that the next batches say what differs."""
        self._work_start, self._lost = self.catalog.work_start(), []

    def take_lost_paths(self) -> list[str]:
        """Return the paths that have to be compared again: another process has changed the store since the work began."""
        lost, self._lost = self._lost, []
        return lost

    @contextlib.contextmanager
    def waiting(self, seconds: float) -> Iterator[None]:
        """Let a batch in a block wait only so long for another process that writes; StoreBusy says that it does."""
        before, self._wait_seconds = self._wait_seconds, seconds
        try:
            yield
        finally:
            self._wait_seconds = before

    def apply(self, batch: Batch) -> int:
        """Make a batch durable and searchable; return the sequence number of the store after it."""
        self._lock.acquire(self._wait_seconds)
        unfinished = list[Callable[[], None]]()
        try:
            self._catch_up()
            batch, lost = self.catalog.leave_out_overtaken(batch, self._work_start)
            self._lost += lost
            applied = self.catalog.apply(batch)
            unfinished += filter(None, [follower.append(applied) for follower in self._followers()])
        finally:
            if unfinished and len(batch.puts) <= SMALL_BATCH_DOCUMENTS:
                self._merging = threading.Thread(target=self._finish, args=(unfinished,), daemon=True, name="merging")
                self._merging.start()
            else:
                self._finish(unfinished)
        return applied.sequence

    def _finish(self, unfinished: Sequence[Callable[[], None]]) -> None:
        """Finish a write, and release the write lock."""
        try:
            for finish in unfinished:
                # The commit is valid with or without the merge.
                with contextlib.suppress(LexicalDamaged, NotWritable, OSError):
                    finish()
        finally:
            self._lock.release()

    def _followers(self) -> list[LexicalFollower]:
        """Return the lexical indexes of the views that this store shows and the index has."""
        shown = (self.catalog.views() or View.PROJECT) & self._view
        return [follower for view, follower in self._lexical.items() if view & shown]

    def put_vectors(self, encoder: str, rows: "Sequence[tuple[int, Vectors]]") -> int:
        """Store vectors of the chunks that still exist; return the sequence number of the store after it."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            if rows:
                import numpy as np

                chunks, vectors = zip(*rows, strict=True)
                self.catalog.put_vectors(encoder, zip(chunks, pack_vectors(np.stack(vectors)), strict=True))
            return self.catalog.sequence()

    def forget_vectors(self, encoder: str) -> None:
        with self._lock.held(WRITE_WAIT_SECONDS):
            self.catalog.forget_vectors(encoder)
            self._matrices.forget(encoder)

    def forget_unused_vectors(self) -> None:
        """Remove vectors of content that no chunk has any more."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            self.catalog.forget_unused_vectors()

    def set_fact(self, key: str, value: str | None) -> None:
        """Store a fact about the index as a whole; None removes it."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            self.catalog.set_fact(f"note:{key}", value)

    # Searching; by words in one view, which is the project's unless this store shows the documents

    def searching(self) -> AbstractContextManager[TermStatistics]:
        return self._words.searching()

    def unsearchable_paths(self) -> list[str]:
        """Return the paths of the documents that the lexical index lacks, although the catalog has them."""
        return sorted(self.paths_by_id(self._words.missing_documents()).values())

    def refresh(self) -> bool:
        """Open the current lexical index, and let it catch up unless another process writes; return whether it has."""
        return all([follower.refresh() for follower in self._followers()])  # noqa: C419 - each of them has to catch up

    def catch_up(self, progress: Progress | None = None) -> None:
        """Let the lexical index catch up, however long that takes."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            self._catch_up(progress)

    def _catch_up(self, progress: Progress | None = None) -> None:
        """Let each lexical index catch up: one drops files that have changed from the catalog, which the other follows."""
        reached = None
        while reached != (reached := self.catalog.sequence()):
            for follower in self._followers():
                follower.catch_up(progress)

    def has_backlog(self) -> bool:
        """Return whether the lexical index lacks more documents than are added before a search."""
        return any(follower.has_backlog() for follower in self._followers())

    @property
    def _words(self) -> LexicalFollower:
        return self._lexical[View.DOCUMENTS if self._view is View.DOCUMENTS else View.PROJECT]

    @property
    def refusal(self) -> NotWritable | None:
        """Why some of the newest changes are not found by their words: they could not be written."""
        return next((follower.refusal for follower in self._followers() if follower.refusal), None)

    def nearest(
        self,
        encoder: str,
        vector: "Vectors",
        limit: int,
        *,
        kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:
        return self._matrices.nearest(encoder, vector, limit, view=self._view, kind=kind, among=among)

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        return self._matrices.encoded_documents(encoder, documents)

    def vector_counts(self, encoder: str) -> tuple[int, int]:
        """Return the number of chunks with a vector, and the number of all chunks."""
        return self._matrices.count(encoder, self._view), sum(self.totals(kind).chunks for kind in KINDS)

    # Checking and repairing

    def quick_check(self) -> list[Finding]:
        """Return a finding if the lexical index is missing, damaged or behind; cheap."""
        if all(follower.is_current() for follower in self._followers()) or not self.catalog.document_ids(self._view):
            return []
        return [Finding("lexical index", "is missing, damaged or behind the catalog")]

    def check(self) -> list[Finding]:
        """Check the catalog, compare every derived part with it, and return the problems."""
        findings = self._compare()
        with contextlib.suppress(StoreBusy, NotWritable):
            if findings:
                with self._lock.held(WRITE_WAIT_SECONDS):  # another process may have been between two commits
                    return self._compare()
        return findings

    def _compare(self) -> list[Finding]:
        if findings := [Finding("catalog", problem) for problem in self.catalog.problems()]:
            return findings  # everything else is derived from it
        for follower in self._followers():
            findings += [Finding("lexical index", problem) for problem in follower.problems()]
        findings += [Finding("references", problem) for problem in self.references.problems()]
        findings += [Finding("vectors", problem) for problem in self._matrices.problems()]
        if findings or not self._tables:
            return findings
        return [Finding("tables", problem) for problem in self._tables.problems()]

    def repair(self) -> None:
        """Rebuild the derived parts that are wrong."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            if self.references.problems():
                self.references.forget()
            self._matrices.repair()  # first: a rebuild drops documents that changed, and then a matrix cannot be compared
            for follower in self._followers():
                if follower.problems():
                    follower.rebuild()
            if self._tables and self._tables.problems():
                self._tables.set_aside()
                self._tables.follow()

    def write_tables(self) -> None:
        """Bring the tables up to date; remove them if the settings do not ask for them any more."""
        if self._tables:
            with self._lock.held(WRITE_WAIT_SECONDS):
                self._tables.follow()
        elif (self.folder / TABLES_FILE).exists():
            from dowse.store.lance_tables import remove_tables

            with self._lock.held(WRITE_WAIT_SECONDS):
                remove_tables(self.folder)

    def remove_leftovers(self) -> None:
        """Remove what killed writers left: half-written matrices, and lexical indexes that are not in use."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            self._lexical[View.PROJECT].remove_unused()
            for file in self.folder.glob("vectors-*.tmp"):
                file.unlink()

    def is_in_place(self) -> bool:
        """Return whether the open catalog is the one in the folder: another process may have removed or rebuilt it."""
        try:
            is_found = os.stat(self._catalog_file).st_ino == self._catalog_inode  # noqa: PTH116 - often in every search
        except OSError:
            return False
        return is_found and self.catalog.is_same()

    def release_memory(self) -> None:
        """Release the memory that is cached for searches; the next search takes 20 ms longer."""
        self._matrices.release_memory()
        self.catalog.release_memory()

    def close(self) -> None:
        """Wait for a merge in the background, and close the files."""
        if self._merging is not None:
            self._merging.join(WRITE_WAIT_SECONDS)
        self.catalog.close()
