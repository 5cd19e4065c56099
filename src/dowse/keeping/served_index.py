"""The indexes of a server, each with a thread that answers, a thread that keeps it fresh, and a process that indexes."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from dowse.errors import CatalogError, DowseError, StoreDamaged, UsageError
from dowse.indexes.damage_recovery import setting_damage_aside, with_index_facts
from dowse.indexes.first_search import IndexWork, prepare_index, search_first
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_lookup import unique_name
from dowse.keeping.encoding_worker.background_encoder import BackgroundEncoder
from dowse.keeping.indexing_run import IndexingRun, start_run
from dowse.keeping.keeper import IndexCallback, Keeper
from dowse.keeping.served_packages import ServedPackages
from dowse.keeping.watch_status import WatchStatus, read_watch_status
from dowse.memory_plan import is_memory_small
from dowse.store.storage_layout import read_project
from dowse.store.store_files import CATALOG_FILE
from dowse.system.platform import release_memory
from dowse.types import SourceHealth, View

Result = TypeVar("Result")

IDLE_SECONDS = 30.0
"""After this long without a call, the memory kept for the next one is released: 28 of 117 MB on 89,000 chunks."""
SMALL_IDLE_SECONDS = 2.0
"""The same where memory is short."""
START_SECONDS = 2.5
"""How long a query waits for a process that makes an index to begin; then files are searched directly."""


class ServedIndex:
    """One index of a server. All work on it runs on one thread of its own, so nothing in it needs a lock."""

    def __init__(
        self,
        root: Path,
        name: str,
        encoder: BackgroundEncoder | None = None,
        index_type: type[ProjectIndex] = ProjectIndex,
    ) -> None:
        self.root = root
        self._index_type = index_type
        self.name = name
        self.encoder = encoder
        """Makes the vectors of the index, if it gets any."""
        self.run: IndexingRun | None = None
        self._run_views = View(0)
        """The views that `run` and those that it waits for were started for."""
        self._earlier_runs: list[IndexingRun] = []
        """Runs for other views, which `run` waits for."""
        self.keeper: Keeper | None = None
        self._starting = threading.Lock()
        """Held while a keeper is started, which any thread may do."""
        self._prepared: dict[View, Future[None]] = {}
        self._asking = 0
        """Calls that are being answered or wait for an answer; preparations end early for them."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"answers for {name}")
        self._listeners: list[IndexCallback] = []
        """Called after each change of the index."""
        self._index: ProjectIndex | None = None
        self._idle_timer: asyncio.TimerHandle | None = None

    # Asking the index

    async def ask(self, work: Callable[[ProjectIndex], Result], view: View = View.PROJECT) -> Result:
        """Do some work on the index's thread. If the index turns out to be damaged, it is built again."""
        loop = asyncio.get_running_loop()
        self._asking += 1
        try:
            return await loop.run_in_executor(self._thread, self._do, work, view)
        except DowseError as error:
            if error.code == StoreDamaged.code:
                self.start_run(view=view)
            raise
        finally:
            self._asking -= 1
            self._release_when_idle(loop)

    async def ask_fresh(self, work: Callable[[ProjectIndex, list[str]], Result], view: View = View.PROJECT) -> Result:
        """Index recent changes within a bound, then do some work, which is given the paths that are still pending."""

        def answer(index: ProjectIndex) -> Result:
            pending = self.catch_up(index)
            with index.at_one_moment():
                return work(index, pending)

        return await self.ask(answer, view)

    def catch_up(self, index: ProjectIndex) -> list[str]:
        """Index recent changes within a bound, on the index's thread; return the paths that are still pending."""
        deadline = time.monotonic() + START_SECONDS
        while self.is_running and not (index.exists or index.is_being_updated()) and time.monotonic() < deadline:
            time.sleep(0.02)  # the process that indexes has just been started
        return self.keeper.catch_up(index) if self.keeper else []

    def watch_status(self, index: ProjectIndex) -> WatchStatus:
        """Return how the index is kept fresh."""
        return self.keeper.watch_status(index) if self.keeper else read_watch_status(index)

    def prepare(
        self, view: View = View.PROJECT, search: IndexWork = search_first, *, is_kept_fresh: bool = True
    ) -> "Future[None]":
        """Load what the first search of a view needs, once, and keep the index fresh; nothing is indexed for that."""
        if view not in self._prepared:
            self._prepared[view] = self._thread.submit(self._prepare, view, search, is_kept_fresh=is_kept_fresh)
        return self._prepared[view]

    @property
    def preparations(self) -> "list[Future[None]]":
        """The work that loads what the first searches need, as far as it has begun."""
        return list(self._prepared.values())

    async def wait_until_prepared(self, view: View = View.PROJECT) -> None:
        """Load what the first search of a view needs, and wait for it."""
        try:
            await asyncio.wrap_future(self.prepare(view))
        finally:
            self._release_when_idle(asyncio.get_running_loop())

    # Keeping it

    def keep_fresh(self, changed: IndexCallback | None = None) -> None:
        """Keep the index equal to the files from now on; `changed` is called after each change, on another thread."""
        if changed and changed not in self._listeners:
            self._listeners.append(changed)
        with self._starting:
            if self.keeper is None:
                encode = self.encoder.encode_if_needed if self.encoder else None
                self.keeper = Keeper(self.root, self._may_resume, self._tell_listeners, encode, self._index_type)

    def _tell_listeners(self, index: ProjectIndex) -> None:
        for changed in self._listeners:
            changed(index)

    def make_index(self, view: View) -> None:
        """Start indexing if there is no index with a view."""
        if not self.is_running and not self.has_view(view):
            self.start_run(view=view)

    def has_view(self, view: View) -> bool:
        """Return whether the index has a view, as its metadata say."""
        folder = self._index_type.folder_of(self.root)
        known = read_project(folder)
        return known is not None and bool(known.views & view) and (folder / CATALOG_FILE).exists()

    def start_run(self, how: str | None = None, view: View = View.PROJECT) -> IndexingRun:
        """Start indexing in a process of its own, unless one runs already that indexes this view.

        A process for another view is not disturbed: the new one waits for it.
        """
        if self.run is None or not self.run.is_running or view & ~self._run_views:
            self._earlier_runs = self._running()
            self._run_views = view | (self._run_views if self._earlier_runs else View(0))
            self.run = start_run(self.root, view, how, self._index_type)
        return self.run

    def _running(self) -> list[IndexingRun]:
        return [run for run in (*self._earlier_runs, self.run) if run and run.is_running]

    def progress(self, view: View) -> tuple[int, int] | None:
        """Return how many files of how many a process of this server has indexed; None if it does not index a view."""
        return (self.run.done, self.run.total) if self.run and self.run.is_running and self._run_views & view else None

    def is_making(self, index: ProjectIndex) -> bool:
        """Return whether a view is being indexed for the first time: documents alone make no index of a project."""
        return self.progress(index.view) is not None if self.is_running else index.is_being_made()

    def require_index(self, index: ProjectIndex) -> None:
        """Raise NotIndexed if there is no index and none is being made."""
        if not index.exists and not self.is_making(index):
            _ = index.store  # raises NotIndexed

    @property
    def is_running(self) -> bool:
        """Whether a process of this server is indexing now."""
        return self.run is not None and self.run.is_running

    async def leave_alone(self) -> None:
        """Stop watching, indexing and encoding, until the index is kept fresh again."""
        keeper, self.keeper = self.keeper, None
        if keeper:
            await asyncio.to_thread(keeper.stop)
        for run in self._running():
            await asyncio.to_thread(run.stop)
        if self.encoder:
            await asyncio.to_thread(self.encoder.release, self.root)

    def close(self) -> None:
        """Stop everything; no call may follow."""
        if self.keeper:
            self.keeper.stop()
        for run in self._running():
            run.stop()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _may_resume(self) -> bool:
        """Whether an unfinished index may be finished: not after the user has stopped the run."""
        return self.run is None or not self.run.was_stopped

    # On the index's thread

    def _prepare(self, view: View, search: IndexWork, *, is_kept_fresh: bool) -> None:
        with contextlib.suppress(DowseError, OSError):  # the first search says so, and repairs a damaged index
            load_model = self.encoder.use if self.encoder else None
            is_ready = prepare_index(self._open().seen_as(view), load_model, search, lambda: self._asking > 0)
            if is_ready and is_kept_fresh:
                self.keep_fresh()

    def _do(self, work: Callable[[ProjectIndex], Result], view: View) -> Result:
        index = self._open().seen_as(view)
        try:
            with setting_damage_aside(index):
                return work(index)
        except DowseError as error:
            raise with_index_facts(error, index) from error

    def _open(self) -> ProjectIndex:
        """Return the open index; it is opened again after a settings file changed."""
        if self._index is not None and self._index.has_new_settings():
            self._index.close()
            self._index = None
        if self._index is None:
            try:
                self._index = self._index_type(self.root)
            except UsageError as error:  # the folder is gone
                raise CatalogError("PERMISSION_DENIED", path=self.root) from error
        return self._index

    def _release_when_idle(self, loop: asyncio.AbstractEventLoop) -> None:
        """Release memory unless another call ends within a while."""

        def release() -> None:
            with contextlib.suppress(RuntimeError):  # it was closed meanwhile
                self._thread.submit(self._release)

        if self._idle_timer:
            self._idle_timer.cancel()
        self._idle_timer = loop.call_later(SMALL_IDLE_SECONDS if is_memory_small() else IDLE_SECONDS, release)

    def _release(self) -> None:
        with contextlib.suppress(DowseError):
            if self._index is not None and self._index.is_in_place():
                self._index.whole.release_memory()
        release_memory()


class Service:
    """The projects that a process serves, in the order they were named."""

    def __init__(self, roots: list[Path]) -> None:
        self.projects: list[ServedIndex] = []
        self.encoder = BackgroundEncoder()
        """The models of all projects; their processes are started when they are needed."""
        self.warnings: list[str] = []
        self._expected: ServedIndex | None = None
        """The project that is loaded already and will be served unless the client names another one."""
        self._packages: dict[Path, ServedPackages] = {}
        for root in roots:
            self.add(root)

    def add(self, root: Path) -> ServedIndex:
        """Serve one more project, unless it is served already."""
        ProjectIndex(root)  # refuses what may not be a root
        root = root.resolve()
        for served in self.projects:
            if served.root == root:
                return served
        expected, self._expected = self._expected, None
        if expected and expected.root == root:
            served = expected
        else:
            served = self._load(root)
            if expected:
                expected.close()
        self.projects.append(served)
        return served

    def expect(self, root: Path) -> None:
        """Let a project be loaded that will be served if the client names no other one; it is not watched until then."""
        ProjectIndex(root)
        self._expected = self._load(root.resolve())

    def _load(self, root: Path) -> ServedIndex:
        return ServedIndex(root, unique_name(root, {served.name for served in self.projects}), self.encoder)

    def prepare(self, views: tuple[View, ...], search: IndexWork) -> None:
        """Begin to load what the first search of each project needs, each on its own thread."""
        for view in views:
            for served in self.projects:
                served.prepare(view, search)
            if self._expected:
                self._expected.prepare(view, search, is_kept_fresh=False)

    async def wait_until_prepared(self, seconds: float) -> None:
        """Wait for what has begun to be loaded, so many seconds at most."""
        known = [*self.projects, *([self._expected] if self._expected else [])]
        loading = [asyncio.wrap_future(one) for served in known for one in served.preparations]
        if loading:
            await asyncio.wait(loading, timeout=seconds)

    @property
    def has_several(self) -> bool:
        """Whether paths begin with the name of their project."""
        return len(self.projects) > 1

    def packages_of(self, served: ServedIndex) -> ServedPackages:
        """Return the packages that a project uses."""
        return self._packages.setdefault(served.root, ServedPackages(served.root))

    def find(self, name: str) -> ServedIndex:
        """Return the project of a name; UsageError names the projects there are."""
        for served in self.projects:
            if served.name == name:
                return served
        raise UsageError(f"project '{name}' is not served here. It is one of: {self.names()}.")

    def names(self) -> str:
        """Return the names of all projects, for a message."""
        return ", ".join(served.name for served in self.projects)

    def locate(self, path: str, name: str | None) -> tuple[ServedIndex, str]:
        """Return the project that a path of a reply belongs to, and the path within it."""
        if name is not None:
            served = self.find(name)
            return served, path.removeprefix(f"{served.name}/") if self.has_several else path
        if not self.has_several:
            return self.projects[0], path
        first, _, rest = path.partition("/")
        if rest and any(served.name == first for served in self.projects):
            return self.find(first), rest
        detail = f"it does not begin with the name of a project: {self.names()}"
        raise CatalogError("FILE_NOT_FOUND", path=path, detail=detail)

    def shown_path(self, served: ServedIndex, path: str) -> str:
        """Return a path as replies show it: with several projects it begins with the project's name."""
        return f"{served.name}/{path}" if self.has_several else path

    def health(self, view: View = View.PROJECT) -> list[SourceHealth]:
        """Return the problems of all projects, for monitoring."""
        return [SourceHealth(served.name, _problem(served.root, view)) for served in self.projects]

    def close(self) -> None:
        """Stop everything."""
        self.encoder.stop()
        for packages in self._packages.values():
            packages.close()
        for served in self.projects:
            served.close()
        if self._expected:
            self._expected.close()


def _problem(root: Path, view: View) -> str | None:
    """Return what keeps a project from being served; a project that is not indexed yet has no problem."""
    if not root.is_dir():
        return "its folder is not there"
    try:
        with contextlib.closing(ProjectIndex(root, view)) as project:
            return "its index cannot be used" if project.status().state == "failed" else None
    except DowseError:
        return "it cannot be read"
