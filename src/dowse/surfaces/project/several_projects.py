"""Questions to several projects at once: any question, and the search for an exact text."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from dowse.errors import DowseError
from dowse.indexes.project_search import ExactQuery, find_all_now
from dowse.keeping.served_index import ServedIndex
from dowse.searching.exact_search import Occurrences
from dowse.types import Coverage, View

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


async def find_text(
    queries: Mapping[ServedIndex, tuple[ExactQuery, View]],
) -> tuple[list[tuple[ServedIndex, tuple[Occurrences, Coverage]]], list[str]]:
    """Return the occurrences of a text in each folder, and the problems of those that did not answer."""
    for query, _ in queries.values():
        query.matcher()  # raises a usage error before anything is asked

    def ask(served: ServedIndex) -> Awaitable[tuple[Occurrences, Coverage]]:
        query, view = queries[served]
        return served.ask_fresh(lambda index, pending: find_all_now(index, query, len(pending)), view)

    try:
        return await ask_each(list(queries), ask)
    except asyncio.CancelledError:
        for query, _ in queries.values():
            query.stopped.set()  # the thread of the index is free for the next question
        raise
