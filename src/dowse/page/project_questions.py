"""Questions about the projects of the page, which the handlers of the tools answer."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from dowse.errors import CatalogError, ItemNotFound
from dowse.federation.result_ids import id_of, source_name
from dowse.federation.source_list import NoClient, SourceList
from dowse.keeping.served_index import ServedIndex
from dowse.mcp.reply_budget import Reply
from dowse.page.page_search import read_address
from dowse.surfaces.project.project_surface import ProjectSurface

LISTED_USES, LISTED_COMMITS, LISTED_FILES = 200, 50, 12


class PageCall(NoClient):
    """A call of a handler by the page."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.arguments = arguments


class ProjectQuestions:
    """The handlers of the project tools, for the page."""

    def __init__(self, sources: SourceList) -> None:
        self._sources = sources
        self._made: ProjectSurface | None = None

    def project(self, source: str) -> ServedIndex:
        """Return the project of a source; ItemNotFound if it is none."""
        root = self._sources.root(source)
        if root is None or root.kind != "project":
            raise ItemNotFound("there is no such project")
        return root.served

    async def references(self, project: ServedIndex, name: str) -> Reply:
        """Return where a name is defined and used."""
        arguments = {"name": name, "kind": None, "path": None, "limit": LISTED_USES, "offset": 0}
        return await self._surface.find_references(PageCall({**arguments, "project": project.name}))

    async def related(self, project: ServedIndex, path: str) -> Reply:
        """Return the files around a file."""
        shown = self._surface.service.shown_path(project, path)
        return await self._surface.related_files(
            PageCall({"path": shown, "limit": LISTED_FILES, "project": project.name})
        )

    async def history(
        self, query: str, project: ServedIndex | None, path: str = "", limit: int = LISTED_COMMITS
    ) -> Reply:
        """Return the commits for a query, or without one the newest; of one project or path, or of all projects."""
        arguments = {
            "query": query,
            "path": path or None,
            "since": None,
            "until": None,
            "authors": True,
            "limit": limit,
        }
        return await self._surface.search_history(PageCall({**arguments, "project": project.name if project else None}))

    async def commit(self, project: ServedIndex, name: str) -> Reply:
        """Return the changes of one commit."""
        return await self._surface.read_commit(PageCall({"commit": name, "project": project.name}))

    def has_projects(self) -> bool:
        """Return whether there are projects."""
        return bool(self._sources.projects and self._sources.projects.projects)

    def only_project(self) -> ServedIndex | None:
        """Return the project, if there is one alone."""
        projects = self._surface.service.projects
        return projects[0] if len(projects) == 1 else None

    def place(self, shown_path: str, project: ServedIndex | None = None) -> tuple[ServedIndex, str] | None:
        """Return the project and the path in it of a path that a reply shows; None for one that is gone."""
        try:
            return self._surface.service.locate(shown_path, project.name if project else None)
        except CatalogError:
            return None

    def address(self, shown_path: str, line: int = 0) -> str:
        """Return the address at which a path of a reply is read."""
        place = self.place(shown_path)
        if place is None:
            return "/"
        return read_address(id_of(source_name("project", place[0].name), place[1])) + (f"#L{line}" if line else "")

    @property
    def _surface(self) -> ProjectSurface:
        service = self._sources.projects
        if service is None:
            raise ItemNotFound("no projects are served here")
        if self._made is None or self._made.service is not service:
            self._made = ProjectSurface(service, self._sources.start)
        return self._made


def glob_of(path: str) -> str:
    """Return the glob that matches one path, or everything below a folder."""
    written = "".join(f"[{sign}]" if sign in "*?[{" else sign for sign in path)
    return f"{written}**" if path.endswith("/") else written


def quoted_name(name: str) -> str:
    """Return a name as an address has it."""
    return quote(name, safe="", errors="replace")
