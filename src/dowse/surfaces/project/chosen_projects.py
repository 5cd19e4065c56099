"""The projects that a call is about."""

from pathlib import Path

from dowse.keeping.served_index import ServedIndex
from dowse.keeping.service import Service
from dowse.mcp.tools import Call
from dowse.surfaces.project.path_search import relative_pattern
from dowse.surfaces.root_detection import find_roots


class ChosenProjects:
    """The projects of a service, of which a call names one or means all."""

    def __init__(self, service: Service, start: Path) -> None:
        self.service = service
        self._start = start
        """The folder in which a root is detected if none was named."""

    async def kept_fresh(self, call: Call) -> list[ServedIndex]:
        """Return the project that the call names, or all of them; all are kept fresh from now on."""
        named = await self.named(call)
        for served in self.service.projects:
            served.keep_fresh()
        return named

    async def named(self, call: Call) -> list[ServedIndex]:
        """Return the project that the call names, or all of them."""
        if not self.service.projects:
            await find_roots(self.service, call, self._start)
        name = call.arguments.get("project")
        return [self.service.find(name)] if name else list(self.service.projects)

    def glob_within(self, served: ServedIndex, glob: str | None) -> str | None:
        """Return a glob relative to one project; with several projects it may begin with the project's name."""
        if not glob:
            return None
        bare = relative_pattern(glob)
        return bare.removeprefix(f"{served.name}/") if self.service.has_several else bare
