"""Questions to several projects at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from dowse.errors import DowseError
from dowse.keeping.served_index import ServedIndex

Result = TypeVar("Result")


async def ask_each(
    projects: Sequence[ServedIndex], ask: Callable[[ServedIndex], Awaitable[Result]]
) -> tuple[list[tuple[ServedIndex, Result]], list[str]]:
    """Return the results of the projects that answered, and the problems of the others; raise if none answered."""
    results = await asyncio.gather(*map(ask, projects), return_exceptions=True)
    errors = [result for result in results if isinstance(result, BaseException)]
    if errors and (len(errors) == len(results) or not all(isinstance(error, DowseError) for error in errors)):
        raise errors[0]
    pairs = list(zip(projects, results, strict=True))
    problems = [f"{served.name} is left out: {error}" for served, error in pairs if isinstance(error, BaseException)]
    return [(served, result) for served, result in pairs if not isinstance(result, BaseException)], problems
