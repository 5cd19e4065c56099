"""The one service object of a process: the indexes it serves."""

import asyncio
import contextlib
from pathlib import Path

from dowse.errors import CatalogError, DowseError, UsageError
from dowse.indexes.first_search import IndexWork
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_lookup import unique_name
from dowse.keeping.encoding_worker.client import EncodingClient
from dowse.keeping.served_index import ServedIndex
from dowse.keeping.served_packages import ServedPackages
from dowse.types import SourceHealth, View


class Service:
    """The projects that a process serves, in the order they were named."""

    def __init__(self, roots: list[Path]) -> None:
        self.projects: list[ServedIndex] = []
        self.encoder = EncodingClient()
        """One encoding process for all projects; it is started when it is needed."""
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
            served = ServedIndex(
                root, unique_name(root, {served.name for served in self.projects}), encoder=self.encoder
            )
            if expected:
                expected.close()
        self.projects.append(served)
        return served

    def expect(self, root: Path) -> None:
        """Let a project be loaded that will be served if the client names no other one; it is not watched until then."""
        ProjectIndex(root)
        root = root.resolve()
        self._expected = ServedIndex(
            root, unique_name(root, {served.name for served in self.projects}), encoder=self.encoder
        )

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
