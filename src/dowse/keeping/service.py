"""The one service object of a process: the projects it serves, and what goes on with each."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from dowse.encoding_worker.client import EncodingClient
from dowse.encoding_worker.messages import IndexKey
from dowse.errors import CatalogError, DowseError, StoreDamaged, UsageError
from dowse.indexes.index import ProjectIndex, What, folder_of
from dowse.indexes.index_errors import with_index_facts
from dowse.keeping.indexing_run import IndexingRun, start_run
from dowse.keeping.keeper import Changed, Keeper
from dowse.keeping.watch_status import WatchStatus, watch_of
from dowse.platform import release_memory
from dowse.types import SourceHealth

Got = TypeVar("Got")
REST_SECONDS = 30.0
"""After so long without a question, what was kept for the next one is given back: 28 of 117 MB on 89,000 chunks."""
BEGIN_SECONDS = 2.5
"""How long a question waits for an index that is being made to begin."""

CatchUp = Callable[[ProjectIndex], list[str]]
HowKept = Callable[[ProjectIndex], WatchStatus]


class ServedIndex:
    """One project as a server has it: questions on a thread of its own, indexing in a process of its own.

    Everything that touches the project's index runs on that one thread, so nothing in it needs a lock.
    """

    def __init__(self, root: Path, name: str, what: What = "project", encoder: EncodingClient | None = None) -> None:
        self.root = root
        self.encoder = encoder
        """Who makes its vectors, if it gets any."""
        self.what = what
        self.name = name
        self.run: IndexingRun | None = None
        self.keeper: Keeper | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"answers for {name}")
        self._project: ProjectIndex | None = None
        self._settings_seen: tuple[int, ...] = ()
        self._resting: asyncio.TimerHandle | None = None

    def keep_fresh(self, changed: Changed | None = None) -> None:
        """From now on, keep the index equal to the files; `changed` is told of each change, on another thread."""
        if self.keeper is None:
            may_resume: Callable[[], bool] = lambda: self.run is None or not self.run.was_stopped  # noqa: E731
            encode = self.encoder.consider if self.encoder else None
            self.keeper = Keeper(self.root, may_resume, self.what, changed, encode)

    def make_index(self) -> None:
        """Start an index where there is none."""
        if not self.is_running and not (folder_of(self.root, self.what) / "catalog.sqlite").exists():
            self.start_run()

    async def leave_alone(self) -> None:
        """Do not touch the index any more, until it is kept fresh again."""
        keeper, self.keeper = self.keeper, None
        if keeper:
            await asyncio.to_thread(keeper.stop)
        if self.run and self.run.is_going_on:
            await asyncio.to_thread(self.run.stop)
        if self.encoder:
            await asyncio.to_thread(self.encoder.leave, IndexKey(self.root, self.what))

    def catch_up(self, project: ProjectIndex) -> list[str]:
        """Index what changed, within a bound, on the thread that answers; the paths that are left."""
        deadline = time.monotonic() + BEGIN_SECONDS
        while self.is_running and not project.exists and time.monotonic() < deadline:
            time.sleep(0.02)  # the process that indexes has just been started
        return self.keeper.catch_up(project) if self.keeper else []

    def watch(self, project: ProjectIndex) -> WatchStatus:
        """How the index is kept fresh."""
        return self.keeper.watch(project) if self.keeper else watch_of(project)

    async def do(self, work: Callable[..., Got], *values: object) -> Got:
        """Do something with the project's index on its thread; a damaged one is built again from here on."""

        def with_project() -> Got:
            project = self._open()
            try:
                return work(project, *values)
            except DowseError as error:
                raise with_index_facts(error, project) from error

        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, with_project)
        except DowseError as error:
            if error.code == StoreDamaged.code:
                self.start_run()
            raise
        finally:
            if self._resting:
                self._resting.cancel()
            self._resting = loop.call_later(REST_SECONDS, self._rest)

    def _rest(self) -> None:
        """Nobody has asked for a while."""
        with contextlib.suppress(RuntimeError):  # it was closed meanwhile
            self._thread.submit(self._let_go)

    def _let_go(self) -> None:
        with contextlib.suppress(DowseError):
            if self._project is not None and self._project.is_in_place():
                self._project.store.let_go()
        release_memory()

    def start_run(self, how: str | None = None) -> IndexingRun:
        """Start indexing, unless that goes on already."""
        if self.run is None or not self.run.is_going_on:
            self.run = start_run(self.root, how, self.what)
        return self.run

    @property
    def is_running(self) -> bool:
        """Whether our own process is indexing now."""
        return self.run is not None and self.run.is_going_on

    def close(self) -> None:
        """Stop everything; nothing may be asked any more."""
        if self.keeper:
            self.keeper.stop()
        if self.run and self.run.is_going_on:
            self.run.stop()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _open(self) -> ProjectIndex:
        """The project with the settings as they are now."""
        if self._project is not None and self._settings_seen != self._project.settings_stamp():
            self._project.close()
            self._project = None
        if self._project is None:
            if not self.root.is_dir():
                raise CatalogError("PERMISSION_DENIED", path=self.root)
            self._project = ProjectIndex(self.root, self.what)
            self._settings_seen = self._project.settings_stamp()
        return self._project


class Service:
    """The projects that a process serves, in the order they were named."""

    def __init__(self, roots: list[Path]) -> None:
        self.projects: list[ServedIndex] = []
        self.encoder = EncodingClient()
        """One process for all that encodes; nothing of it is there before it is needed."""
        self._documents: list[ServedIndex] = []
        self.warnings: list[str] = []
        for root in roots:
            self.add(root)

    def add(self, root: Path) -> ServedIndex:
        """Serve one more project; the same one twice is one."""
        ProjectIndex(root)  # refuses what may not be a root
        root = root.resolve()
        for served in self.projects:
            if served.root == root:
                return served
        served = ServedIndex(root, self._unique_name(root), encoder=self.encoder)
        self.projects.append(served)
        return served

    @property
    def has_several(self) -> bool:
        """Whether paths begin with the name of their project."""
        return len(self.projects) > 1

    def named(self, name: str) -> ServedIndex:
        """The project of a name."""
        for served in self.projects:
            if served.name == name:
                return served
        raise UsageError(f"project '{name}' is not served here. It is one of: {self.names()}.")

    def names(self) -> str:
        """The names of all projects, for a message."""
        return ", ".join(served.name for served in self.projects)

    def place(self, path: str, name: str | None) -> tuple[ServedIndex, str]:
        """The project that a path of a reply belongs to, and the path within it."""
        if name is not None:
            served = self.named(name)
            return served, path.removeprefix(f"{served.name}/") if self.has_several else path
        if not self.has_several:
            return self.projects[0], path
        first, _, rest = path.partition("/")
        if rest and any(served.name == first for served in self.projects):
            return self.named(first), rest
        detail = f"it does not begin with the name of a project: {self.names()}"
        raise CatalogError("FILE_NOT_FOUND", path=path, detail=detail)

    def shown(self, served: ServedIndex, path: str) -> str:
        """A path as replies show it."""
        return f"{served.name}/{path}" if self.has_several else path

    def sources(self, what: What = "project") -> list[SourceHealth]:
        """What is served, for those who watch over the server."""
        return [SourceHealth(served.name, _problem(served.root, what)) for served in self.projects]

    def documents(self) -> list[ServedIndex]:
        """The folders of the projects once more, as folders of documents."""
        for served in self.projects[len(self._documents) :]:
            self._documents.append(ServedIndex(served.root, served.name, "documents"))
        return self._documents

    def close(self) -> None:
        """Stop everything."""
        self.encoder.stop()
        for served in (*self.projects, *self._documents):
            served.close()

    def _unique_name(self, root: Path) -> str:
        taken = {served.name for served in self.projects}
        base = root.name or "root"
        names = [base, *(f"{base}-{number}" for number in range(2, len(taken) + 3))]
        return next(name for name in names if name not in taken)


def _problem(root: Path, what: What) -> str | None:
    """What keeps a project from being served; one that is not indexed yet is not a problem."""
    if not root.is_dir():
        return "its folder is not there"
    try:
        with contextlib.closing(ProjectIndex(root, what)) as project:
            return "its index cannot be used" if project.status().state == "failed" else None
    except DowseError:
        return "it cannot be read"
