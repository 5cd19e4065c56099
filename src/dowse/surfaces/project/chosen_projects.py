"""The projects that a call is about, asked at once."""

import asyncio
from collections.abc import Awaitable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from dowse.errors import DowseError, UsageError
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import ExactQuery, find_all_now
from dowse.keeping.served_index import ServedIndex, Service
from dowse.mcp.tools import Call
from dowse.searching.exact_search import Occurrences
from dowse.surfaces.project.path_search import relative_pattern
from dowse.surfaces.root_detection import find_roots
from dowse.types import Coverage, View


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

    async def only(self, call: Call) -> ServedIndex:
        """Return the project that the call names, or the only one."""
        projects = await self.kept_fresh(call)
        if len(projects) > 1:
            raise UsageError(f"There are several projects. Say which with project: {self.service.names()}.")
        return projects[0]

    async def located(self, call: Call) -> tuple[ServedIndex, str]:
        """Return the project of the path that the call names, and the path in it."""
        await self.kept_fresh(call)
        return self.service.locate(call.arguments["path"], call.arguments.get("project"))

    def glob_within(self, served: ServedIndex, glob: str | None) -> str | None:
        """Return a glob relative to one project; with several projects it may begin with the project's name."""
        if not glob:
            return None
        bare = relative_pattern(glob)
        return bare.removeprefix(f"{served.name}/") if self.service.has_several else bare


Result = TypeVar("Result")


async def gather_answers(
    asked: Mapping[ServedIndex, Awaitable[Result]],
) -> tuple[list[tuple[ServedIndex, Result]], list[str]]:
    """Return the results of the projects that answer, and the problems of the others; raise if none answers."""
    results = await asyncio.gather(*asked.values(), return_exceptions=True)
    errors = [result for result in results if isinstance(result, BaseException)]
    if errors and (len(errors) == len(results) or not all(isinstance(error, DowseError) for error in errors)):
        raise errors[0]
    pairs = list(zip(asked, results, strict=True))
    problems = [f"{served.name} is left out: {error}" for served, error in pairs if isinstance(error, BaseException)]
    return [(served, result) for served, result in pairs if not isinstance(result, BaseException)], problems


async def find_text(
    queries: Mapping[ServedIndex, tuple[ExactQuery, View]],
) -> tuple[list[tuple[ServedIndex, tuple[Occurrences, Coverage]]], list[str]]:
    """Return the occurrences of a text in each folder, and the problems of those that did not answer."""
    for query, _ in queries.values():
        query.matcher()  # raises a usage error before anything is asked

    def find(index: ProjectIndex, pending: list[str], query: ExactQuery) -> tuple[Occurrences, Coverage]:
        return find_all_now(index, query, len(pending))

    try:
        return await gather_answers(
            {one: one.ask_fresh(partial(find, query=query), view) for one, (query, view) in queries.items()}
        )
    except asyncio.CancelledError:
        for query, _ in queries.values():
            query.stopped.set()  # the thread of the index is free for the next question
        raise
