"""The files of one root's index, opened when they are first needed, and seen as a project or as documents."""

import contextlib
import copy
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Self

from dowse.errors import Failed, NotIndexed, NotWritable, UsageError
from dowse.indexes.freshness.indexer import text_reader
from dowse.indexes.freshness.scan import Drift
from dowse.settings import Settings, load_settings, settings_stamp
from dowse.sources.project_files import ProjectFiles
from dowse.store import storage_layout
from dowse.store.local import LocalStore
from dowse.store.storage_layout import index_folder
from dowse.system.platform import Lock
from dowse.types import Entry, Reason, StoredDocument, Verdict, View

if TYPE_CHECKING:
    from dowse.searching.found_files import ReadBytes
    from dowse.searching.kept_files import KeptFiles

_Referenced = tuple[StoredDocument, bytes | None]


@dataclass(slots=True)
class _SharedParts:
    """The parts that all views of an index share."""

    source: ProjectFiles | None = None
    store: LocalStore | None = None
    refusal: NotWritable | None = None
    kept_files: "KeptFiles | None" = None
    has_pending: bool = False
    held_by: int | None = None
    """The thread that does not ask just now whether another process has replaced the index."""


class OpenedIndex:
    """The index of one root, seen as a project or as documents. It opens its files when they are first needed.

    It has the views that were asked for once. Each update is about all of them.
    """

    def __init__(self, root: Path, view: View = View.PROJECT) -> None:
        self._require_root(root)
        self.given_root = root
        """The folder as it was named, perhaps by a link."""
        self._open(root.resolve(), self.folder_of(root.resolve()), view)
        self.warnings += storage_layout.move_obstacles_aside(self.folder)
        self._setting_warnings: list[str] = []
        self._take_settings()

    def _open(self, root: Path, folder: Path, view: View) -> None:
        self.root, self.folder, self.view = root, folder, view
        self.settings_files = (storage_layout.global_settings_file(), self.folder / "config.json")
        self.warnings: list[str] = []
        self._rule_files: tuple[Path, ...] = ()
        """Files that decide about the root's files as the settings do, because no event tells of their changes."""
        self._stamp = self.settings_stamp()
        self._shared = _SharedParts()
        self._turn = Lock(self.folder / "index.lock")
        self._catalog_file = self.folder / "catalog.sqlite"

    # What another kind of root says about itself

    def _require_root(self, root: Path) -> None:
        """Raise UsageError if a folder cannot have an index."""
        if not root.is_dir():
            raise UsageError(f"{root} is not a folder.")

    @classmethod
    def folder_of(cls, root: Path) -> Path:
        """Return the folder of the index of a root, whether or not it exists."""
        return index_folder(root)

    def _load_settings(self) -> tuple[Settings, list[str]]:
        return load_settings(*self.settings_files)

    def _make_source(self, views: View) -> ProjectFiles:
        """Return the files of the root that some views show."""
        if not views & View.DOCUMENTS:
            return ProjectFiles(self.root, self.settings)
        from dowse.sources.document_files import DocumentFiles, RootFiles  # imports readers that only documents need

        return (RootFiles if views is View.BOTH else DocumentFiles)(self.root, self.settings)

    def seen_as(self, view: View) -> Self:
        """Return this index with another view."""
        if view is self.view:
            return self
        seen = copy.copy(self)
        seen.view = view
        return seen

    @property
    def has_catalog(self) -> bool:
        """Whether there is an index with any view, in any state."""
        return self._is_held or os.path.exists(self._catalog_file)  # noqa: PTH110 - a fifth of the time, often in every search

    @contextlib.contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Look only once in a block, on this thread, whether others have changed or replaced the index."""
        store = self._shared.store
        if store is None or self._shared.held_by or not self.is_in_place():
            yield
            return
        self._shared.held_by = get_ident()
        try:
            with store.catalog.held_state():
                yield
        finally:
            self._shared.held_by = None

    @property
    def _is_held(self) -> bool:
        return self._shared.held_by == get_ident()

    def look_again(self) -> None:
        """Look again from now on whether others have changed the index, also in a block of one moment."""
        if self._is_held:
            self._shared.held_by = None
            if self._shared.store is not None:
                self._shared.store.catalog.end_hold()

    @property
    def exists(self) -> bool:
        """Whether there is an index with this view, in any state."""
        try:
            return self.has_catalog and bool(self._open_store().views() & self.view)
        except Failed:  # whoever reads the index is told
            return True

    def is_in_place(self) -> bool:
        """Return whether the index on disk exists and is the one that is open."""
        store = self._shared.store  # another thread may close it
        return self.has_catalog and (store is None or store.is_in_place())

    @property
    def refusal(self) -> NotWritable | None:
        """Why the last changes could not be stored; None once some could be."""
        return self._shared.refusal

    @refusal.setter
    def refusal(self, refusal: NotWritable | None) -> None:
        self._shared.refusal = refusal

    @property
    def source(self) -> ProjectFiles:
        """The files of the root that this view shows, and those that the index has."""
        return self._files_of(self.view | self._kept_views())

    @property
    def kept_source(self) -> ProjectFiles:
        """The files of the root that the index has to have."""
        return self._files_of(self._kept_views() or self.view)

    def _kept_views(self) -> View:
        """Return the views that the index has now; another process may have added one."""
        with contextlib.suppress(Failed):  # a damaged catalog has none
            return self._open_store().views() if self.has_catalog else View(0)
        return View(0)

    def _files_of(self, views: View) -> ProjectFiles:
        source = self._shared.source
        if source is None or source.views is not views:
            source = self._shared.source = self._make_source(views)
            self.forget_files()
        return source

    @property
    def has_pending(self) -> bool:
        """Whether some files differed from the index when they were last compared."""
        return self._shared.has_pending

    @has_pending.setter
    def has_pending(self, has_pending: bool) -> None:
        self._shared.has_pending = has_pending

    @property
    def read_bytes(self) -> "ReadBytes":
        """The function that reads the files of an answer.

        While files are pending it asks the policy about each, which takes 0.2 ms: a rule may have changed, and the index
        may have files that are denied by now.
        """
        source = self.source
        return source.read_if_allowed if self.has_pending else source.read_bytes

    def shows(self, path: str) -> bool:
        """Return whether a file that the index has is still there and, while files are pending, still allowed."""
        if self.has_pending:
            return isinstance(self.source.entry_at(path), Entry)
        return os.path.lexists(f"{self.root}/{path}")

    def named(self, paths: Collection[str]) -> tuple[str, ...]:
        """Return paths that changed as an answer names them, in order: the root, a dot, stands for files that are denied."""
        source = self.source

        def is_named(path: str) -> bool:
            found = source.entry_at(path)
            return isinstance(found, Entry) or found.reason is Reason.VANISHED

        return tuple(sorted({path if is_named(path) else "." for path in paths}))

    def is_folder(self, path: str) -> bool:
        """Return whether a path is an allowed folder, in which any number of files may have changed; the root is one."""
        if not path or not os.path.isdir(f"{self.root}/{path}"):  # noqa: PTH112 - asked for 1,000 paths before an answer
            return not path
        try:
            found = self.kept_source.entry_at(path)
        except Failed:  # the rules cannot be read
            return True
        return isinstance(found, Verdict) and found.is_allowed

    def kept_files(self) -> "KeptFiles":
        """Return the files that searches read while the index lacks them."""
        from dowse.searching.kept_files import KeptFiles  # most searches do not need it

        source = self.source
        self._shared.kept_files = self._shared.kept_files or KeptFiles(source.read)
        return self._shared.kept_files

    def forget_files(self) -> None:
        """Release the memory of the files that searches read."""
        self._shared.kept_files = None

    @property
    def device(self) -> str:
        """The device that the root is on; empty where there is no root."""
        try:
            return str(self.root.stat().st_dev)
        except OSError:
            return ""

    @property
    def is_on_another_device(self) -> bool:
        """Whether the root is on another device than when it was indexed."""
        return self.whole.fact("device") not in (None, self.device)

    def require_mounted(self, drift: Drift) -> None:
        """Raise Failed for a root that is empty and on another device than when it was indexed."""
        is_empty = bool(drift.gone) and not drift.files and not drift.skipped
        if is_empty and self.is_on_another_device:
            raise Failed(f"{self.root} is empty and on another device; its index is kept. Mount the disk again.")

    def record_device(self) -> None:
        """Record the device that the root is on, after all of its files were compared."""
        if self.whole.fact("device") != self.device:
            self.whole.set_fact("device", self.device)

    def settings_stamp(self) -> tuple[int, ...]:
        """Return a fingerprint of the settings files, and of the files of a repository that decide about the root's."""
        return settings_stamp((*self.settings_files, *self._rule_files))

    def has_new_settings(self) -> bool:
        """Return whether a settings file changed since the index was opened."""
        source = self._shared.source
        return self.settings_stamp() != self._stamp or (source is not None and source.has_new_rules())

    def renew(self) -> None:
        """Open the index again, by the settings as they are now."""
        self.close()
        self._take_settings()

    def _take_settings(self) -> None:
        before = settings_stamp(self.settings_files)
        others = [warning for warning in self.warnings if warning not in self._setting_warnings]
        self.settings, self._setting_warnings = self._load_settings()
        self.warnings[:] = [*self._setting_warnings, *others]
        self._shared.source = source = self._make_source(self.view)  # refuses what may not be a root
        self._rule_files = source.rule_files_outside()  # read again by each walk
        self._stamp = before + settings_stamp(self._rule_files)

    @property
    def store(self) -> LocalStore:
        """The open store with this view; raises NotIndexed if the index does not have the view."""
        if not self.exists:
            raise self._not_indexed()
        return self._open_store().seen_as(self.view)

    @property
    def whole(self) -> LocalStore:
        """The open store with all views; raises NotIndexed if there is none."""
        if not self.has_catalog:
            raise self._not_indexed()
        return self._open_store()

    def _not_indexed(self) -> NotIndexed:
        if not self.has_catalog:
            self.close()
        return NotIndexed(f"{self.root} is not indexed. Run: dowse index {self.root}")

    def is_being_updated(self) -> bool:
        """Return whether a process is updating the index right now."""
        return self._turn.path.exists() and self._turn.is_taken()

    def updating_process(self) -> str:
        """Return the process that is updating the index, for a message."""
        return self._turn.owner()

    def is_being_made(self) -> bool:
        """Return whether a process is making the index, which has no view yet."""
        return self.is_being_updated() and not self._kept_views()

    def close(self) -> None:
        """Close the store and its files."""
        self.forget_files()
        self.look_again()
        if self._shared.store is not None:
            self._shared.store.close()
            self._shared.store = None

    def _open_store(self) -> LocalStore:
        if self._shared.store is not None and not (self._is_held or self._shared.store.is_in_place()):
            self.close()
        if self._shared.store is None:
            self.warnings += storage_layout.move_obstacles_aside(self.folder)
            self._shared.store = LocalStore(
                self.folder, self._read_text, self._read_references,
                has_tables=self.settings.store == "lancedb", project_name=self.root.name,
            )  # fmt: skip
            storage_layout.mark_used(self.folder)
        return self._shared.store

    def _read_text(self, document: StoredDocument) -> str | None:
        if not self.root.exists():  # the disk may be unmounted: keep the index
            raise Failed(f"{self.root} does not exist; its index is kept.")
        return text_reader(self.kept_source)(document)

    def _read_references(self, documents: Iterable[StoredDocument]) -> Iterator[_Referenced]:
        """Yield documents with their references; those of a changed file are None until it is indexed."""
        from dowse.parsing.parser_pool import read_ahead, shared_pool  # a search does not need them

        files, wanted = self.kept_source, list(documents)
        shared_pool().expect(sum(document.kind == "code" for document in wanted))
        return read_ahead(_start_reading(files, document) for document in wanted)


def _start_reading(source: ProjectFiles, document: StoredDocument) -> tuple[Callable[[], _Referenced], int]:
    if document.kind != "code":
        return (lambda: (document, b"")), 0
    read = source.read_path(document.path)
    contents = [] if isinstance(read, Verdict) else [one for one in read if one.views & document.views]
    if not contents or contents[0].content_hash != document.content_hash:
        return (lambda: (document, None)), 0
    from dowse.parsing.document_parsing import start_parsing  # imports readers, which a search does not need

    wait = start_parsing(source, contents[0], is_cut=False, has_references=True)

    def finish() -> _Referenced:
        parsed = wait()
        return document, None if isinstance(parsed, Verdict) else parsed.references

    return finish, len(contents[0].data)
