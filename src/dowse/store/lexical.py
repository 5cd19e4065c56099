"""The lexical index: a Tantivy index derived from the catalog.

It holds one entry per document and one per chunk. A marker file beside it names its catalog, the transaction and the
commit it has reached. After a kill between a commit and its marker, the changes since the marker are replayed.
"""

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import tantivy

from dowse.errors import LexicalDamaged, NotWritable
from dowse.memory_plan import scaled
from dowse.store.lexical_entries import (
    SCHEMA,
    LexicalDocument,
    TermStatistics,
    entries_of,
    register_analyzers,
    term_query,
)
from dowse.store.lexical_search import LexicalSearch
from dowse.store.segment_files import FileStamp, Marker, SegmentFiles
from dowse.system.platform import disk_errors, make_private_folder, refusal_to_write, writing_error

_LOCK_FILE = ".tantivy-meta.lock"
_LOCK_PREFIX = ".tantivy-"
_TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - a folder of its own is made there
"""Tried after the folders that the environment names. Never the working directory, which is a user's project."""

FORMAT = 3
"""Version of the index format. It changes when the same chunk would be indexed differently; an index of another format is
rebuilt."""

WRITER_BYTES = 40_000_000
"""Memory of the writer: of 15, 40 and 100 MB, the smallest that does not slow down indexing a whole project."""
MIN_WRITER_BYTES = 15_000_000
"""The least that Tantivy accepts."""

WRITER_THREADS = 1
"""One thread: the interpreter keeps the other core busy."""

NO_DOCUMENT = 0
"""The number of no document, which every writer removes first. The first number that a writer of tantivy 0.27 gives to
a removal is that of the last commit. If segments are merged while the next one is on its way, those that this commit
removed documents from count as up to date with that number, and what the first removal removed from them comes back."""

_KILLED = "index writer was killed"
"""In the message of Tantivy after an error in one of its threads, which it does not name."""


class LexicalIndex(LexicalSearch):
    """An open lexical index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = SegmentFiles(folder)
        self._index: Any = None
        self._terms: TermStatistics | None = None
        """Tantivy's searcher, kept until the index is reloaded: a search uses it about ten times, and making one takes 80 µs."""
        self._is_linked = False
        """Whether the index was opened through links, which are gone when it is to be reloaded."""
        self._loaded_meta: FileStamp | None = None
        """The stamp that `meta.json` had before the index was last loaded."""

    def marker(self) -> Marker | None:
        """Return the marker of the index on disk; None when the index is missing or damaged, or older than its marker."""
        try:
            marker, _ = self._files.read_record()
            self.refresh()  # after the marker was read, so that the index is never behind it
            with self.searching():
                return marker if marker.commit <= self._files.commit_number() else None
        except LexicalDamaged:
            return None

    def has_later_commit(self, marker: Marker) -> bool:
        """Return whether the index has a commit that its marker does not know."""
        return self._files.commit_number() > marker.commit

    def write(self, marker: Marker, removed: Iterable[int], added: Iterable[LexicalDocument]) -> Callable[[], None]:
        """Bring the index to the transaction of `marker` in one commit; the caller holds the write lock.

        Returns a function that waits until segments are merged. The caller calls it while it still holds the lock.
        Merging takes a moment after one update in seven, and searches need not wait for it.
        """
        if self._is_linked:
            self._close()
        with _writing(self.folder):
            make_private_folder(self.folder)
            index = self._open(is_writing=True)
            self._files.check()
            writer = index.writer(max(MIN_WRITER_BYTES, scaled(WRITER_BYTES)), WRITER_THREADS)
            try:
                for document_id in (NO_DOCUMENT, *removed):
                    # By query: `delete_documents_by_term` of tantivy 0.27 turns a number into a signed
                    # term, which no unsigned field contains, and silently deletes nothing.
                    writer.delete_documents_by_query(term_query("document", document_id))
                for document in added:
                    for entry in entries_of(document):
                        writer.add_document(entry)
                reached = marker._replace(commit=int(writer.commit()))
                finish = self._merge_waiter(writer, reached)
            finally:
                del writer  # a traceback must not keep it, and its threads, alive after a failure
            self._files.record(reached)
            self._reload()
        return finish

    def _merge_waiter(self, writer: Any, reached: Marker) -> Callable[[], None]:
        def finish() -> None:
            with _translate_errors():
                writer.wait_merging_threads()
                self._files.record(reached)

        return finish

    def refresh(self) -> None:
        """Load what other processes have committed."""
        stamp = self._files.meta_stamp()
        if self._is_linked:
            if self._loaded_meta != stamp or can_lock(self.folder):
                self._close()
        elif self._index is not None:
            try:
                with _translate_errors():
                    self._files.check()
                    if self._loaded_meta != stamp:
                        self._reload()
                        self._loaded_meta = stamp
            except LexicalDamaged:
                self._close()

    def state(self) -> object:
        """Return a value that is another one after every commit; None if the index is not open or damaged."""
        return self._loaded_meta if self._index is not None and not self._is_linked else None

    def problems(self) -> list[str]:
        """Return the first problem with a file: missing, cut short or with a wrong checksum."""
        try:
            self._files.check(reads_all=True)
        except LexicalDamaged as error:
            return [str(error)]
        return []

    def _open(self, *, is_writing: bool = False) -> Any:
        if self._index is None:
            with _translate_errors():
                if is_writing or can_lock(self.folder):
                    self._index = _open_index(self.folder)
                else:
                    self._loaded_meta, self._is_linked = self._files.meta_stamp(), True
                    with linked_folder(self.folder) as links:
                        self._index = _open_index(links)
        return self._index

    def _reload(self) -> None:
        self._index.reload()
        self._terms = None

    def _close(self) -> None:
        self._index = self._terms = None
        self._is_linked = False

    @contextlib.contextmanager
    def searching(self) -> Iterator[TermStatistics]:
        """Give the searcher to a block; every error of Tantivy in it becomes one of dowse's own."""
        with _translate_errors():
            if self._index is None:
                self._files.check()
            index = self._open()
            self._terms = terms = self._terms or TermStatistics(index.searcher())
            yield terms


class MemoryIndex(LexicalSearch):
    """A lexical index in memory, of documents that no other index has."""

    def __init__(self, documents: Iterable[LexicalDocument]) -> None:
        self._index = tantivy.Index(SCHEMA)
        register_analyzers(self._index)
        writer = self._index.writer(MIN_WRITER_BYTES, 1)
        for document in documents:
            for entry in entries_of(document):
                writer.add_document(entry)
        writer.commit()
        self._index.reload()
        self._terms = TermStatistics(self._index.searcher())

    @contextlib.contextmanager
    def searching(self) -> Iterator[TermStatistics]:
        """Give the searcher to a block."""
        yield self._terms


def can_lock(folder: Path) -> bool:
    """Return whether Tantivy can open its lock file; true as well where something else is wrong with it."""
    try:
        os.close(os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        return writing_error(error, folder) is None
    return True


@contextlib.contextmanager
def linked_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder with links to the files of an index whose own folder cannot be written.

    Tantivy opens a lock file for writing before it reads an index. The links are needed only while it opens the files.
    """
    links = _make_links(folder)
    try:
        yield links
    finally:
        shutil.rmtree(links, ignore_errors=True)


def _make_links(folder: Path) -> Path:
    import tempfile  # rarely needed

    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    for place in filter(None, (*named, *_TEMPORARY_FOLDERS)):
        try:
            links = Path(tempfile.mkdtemp(prefix="dowse-", dir=place))
        except OSError:
            continue
        try:
            for file in folder.resolve().iterdir():
                if not file.name.startswith(_LOCK_PREFIX):
                    (links / file.name).symlink_to(file)
        except OSError:
            shutil.rmtree(links, ignore_errors=True)
            continue
        return links
    raise NotWritable(
        "The index is on storage that cannot be written, and reading it there needs a folder for temporary files. "
        "Set TMPDIR to a folder that can be written."
    )


def _open_index(folder: Path) -> Any:
    index = tantivy.Index(SCHEMA, path=str(folder))
    register_analyzers(index)
    index.config_reader("manual")
    return index


@contextlib.contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate the errors of Tantivy into dowse's own, even a Rust panic, which is not an ordinary exception."""
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if "No space left" in str(error):
            raise OSError(errno.ENOSPC, str(error)) from error
        why = "a thread could not write, perhaps for want of open files" if _KILLED in str(error) else str(error)
        raise LexicalDamaged(f"the lexical index cannot be used ({why})") from error
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
