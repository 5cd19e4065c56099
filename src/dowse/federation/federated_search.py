"""One search over every source, an item fetched by its id, and the status of all sources."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TypeVar
from urllib.parse import unquote

from dowse.errors import DowseError, ItemNotFound, SourceNotReady, UsageError
from dowse.federation.federated_ranking import RankedItem, collect_held, merge_results
from dowse.federation.federation_types import (
    SOURCE_KINDS,
    FetchedItem,
    SearchSource,
    SourceQuery,
    SourceResult,
    SourceStatus,
)
from dowse.federation.result_ids import MAX_ID_CHARACTERS, locator_in
from dowse.federation.source_list import SourceList
from dowse.mcp.error_replies import error_reply
from dowse.mcp.tools import Call
from dowse.visible_text import one_line

Result = TypeVar("Result")

ANSWER_SECONDS = 8.0
"""How long the slowest source is waited for; then the others' answers are worth more than a complete one."""
SHARED_FROM, SHARE = 3, 0.5
"""From this many sources on, each is first asked for this share of the limit, which few go beyond: nDCG@10 is 0.764
with it, 0.765 without and 0.755 with 0.4, and reading and cutting hits is most of the work."""
NAMED_SOURCES = 20
"""An error names at most this many sources."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FederatedQuery:
    """A query to all sources or to some, without the items that the caller holds."""

    query: SourceQuery
    source: str | None = None
    exclude: tuple[str, ...] = ()
    is_quick: bool = False
    """Ask each source once: with several of them there may be fewer results than the limit."""


@dataclass(frozen=True, slots=True)
class FederatedResult:
    """The results of all sources in one order, and what to know about them."""

    results: Sequence[RankedItem] = ()
    """More than the limit if there are more."""
    answers: Mapping[str, SourceResult] = field(default_factory=dict)
    """The answers by the names of their sources."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The sources that cannot apply a filter, and which filter."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """The sources that did not answer, and why."""
    without_filters: int = 0
    """Results without `+`, `-` and phrases, up to the limit, where these left nothing."""


async def search_all(sources: SourceList, call: Call, asked: FederatedQuery) -> FederatedResult:
    """Ask every source that is meant; a source that fails does not fail the others."""
    known, problems = await sources.find(call)
    # Packages of strangers have an answer to everything: they are asked only where they are named.
    usual = [source for source in known if source.kind != "dependencies"]
    chosen = _choose(known, asked.source) if asked.source else usual
    asked = replace(asked, query=asked.query.with_typed_filters())
    left_out = {source.name: why for source in chosen if (why := source.unsupported_filter(asked.query))}
    able = [source for source in chosen if source.name not in left_out]
    names = frozenset(source.name for source in able)
    asked = replace(asked, query=replace(asked.query, asked=names))
    limit = asked.query.limit
    share = limit if len(able) < SHARED_FROM else ceil(SHARE * limit)
    answers, silent = await _ask_each(able, lambda source: source.search(_query_for(source, asked, share)))
    held = collect_held(
        asked.exclude, (source.keys(locator) for source in known for locator in _locators(source, asked.exclude))
    )
    results = merge_results(asked.query.query, [answer.items for answer in answers.values()], held)
    has_room = len(results) <= limit and share < limit
    if has_room and not asked.is_quick:  # a source that has more than its share may fill the rest
        able = [source for source in able if _has_more(source, answers, asked, share)]
        more, _ = await _ask_each(able, lambda source: source.search(_query_for(source, asked, limit)))
        answers |= more
        results = merge_results(asked.query.query, [answer.items for answer in answers.values()], held)
    without_filters = 0
    if not results and asked.query.query.has_filters:
        unfiltered = replace(asked, query=replace(asked.query, query=asked.query.query.without_filters()))
        without_filters = min(limit, len((await search_all(sources, call, unfiltered)).results))
    results[:limit] = await asyncio.to_thread(lambda: list(map(_add_passage, results[:limit])))
    problems = {**({} if asked.source else problems), **silent}
    return FederatedResult(results, answers, left_out, problems, without_filters)


def _add_passage(ranked: RankedItem) -> RankedItem:
    """Return a result with its passage; without one if the source cannot read it any more."""
    if ranked.item.add_passage is None:
        return ranked
    try:
        return replace(ranked, item=ranked.item.add_passage())
    except DowseError as error:
        _log.warning("%s has no passage: %s", ranked.item.id, error)
        return ranked


async def fetch_one(sources: SourceList, call: Call, item_id: str) -> tuple[SearchSource, FetchedItem]:
    """Return the item of an id and its source; ItemNotFound if there is none."""
    source, locator = await find_source(sources, call, item_id)
    return source, await source.fetch(locator)


async def find_source(sources: SourceList, call: Call, item_id: str) -> tuple[SearchSource, str]:
    """Return the source of an id, and the locator in it; ItemNotFound if there is no such source."""
    known, _ = await sources.find(call)
    for source in known:
        locator = locator_in(source.name, item_id) if len(item_id) <= MAX_ID_CHARACTERS else None
        if locator is not None:
            return source, locator
    raise ItemNotFound(f"it does not begin with the name of a source. There are: {_names(known)}")


async def source_statuses(sources: SourceList, call: Call) -> list[SourceStatus]:
    """Return the status of every source."""
    known, problems = await sources.find(call)
    statuses, silent = await _ask_each(known, lambda source: source.status())
    missing = [
        SourceStatus(kind, kind, "not_found", problem=problems[kind]) for kind in SOURCE_KINDS if kind in problems
    ]
    return missing + [
        statuses.get(source.name) or SourceStatus(source.kind, source.name, "failed", problem=silent[source.name])
        for source in known
    ]


async def _ask_each(
    sources: Sequence[SearchSource], ask: Callable[[SearchSource], Awaitable[Result]]
) -> tuple[dict[str, Result], dict[str, str]]:
    """Return the results of the sources that answer in time, and why the others do not."""
    tasks = {asyncio.ensure_future(ask(source)): source.name for source in sources}
    if not tasks:
        return {}, {}
    try:
        await asyncio.wait(tasks, timeout=ANSWER_SECONDS)
    finally:
        for task in tasks:
            task.cancel()  # has no effect on those that are done
    results: dict[str, Result] = {}
    silent: dict[str, str] = {}
    for task, name in tasks.items():
        if not task.done() or task.cancelled():
            silent[name] = f"It did not answer within {ANSWER_SECONDS:.0f} seconds. Ask again, or for source '{name}'."
        elif error := task.exception():
            silent[name] = _problem(name, error)
        else:
            results[name] = task.result()
    return results, silent


def _problem(name: str, error: BaseException) -> str:
    """Return why a source did not answer, without a path of this machine."""
    if isinstance(error, SourceNotReady):
        return str(error)
    if isinstance(error, DowseError):
        return str(error_reply(error)["userMessage"])
    _log.error("%s failed", name, exc_info=error)
    return "Something went wrong inside the search of this source."


def _query_for(source: SearchSource, asked: FederatedQuery, limit: int) -> SourceQuery:
    """Return the query with one more than the limit, to know whether there is more, and one for each held item."""
    return replace(asked.query, limit=limit + 1 + len(_locators(source, asked.exclude)))


def _has_more(source: SearchSource, answers: Mapping[str, SourceResult], asked: FederatedQuery, share: int) -> bool:
    """Return whether a source gave as many items as it was asked for, and need not read its files again for more."""
    answer = answers.get(source.name)
    if answer is not None and answer.coverage and answer.coverage.direct:
        return False
    return answer is not None and len(answer.items) >= _query_for(source, asked, share).limit


def _locators(source: SearchSource, ids: Sequence[str]) -> list[str]:
    return [locator for item_id in ids if (locator := locator_in(source.name, item_id)) is not None]


def _choose(sources: Sequence[SearchSource], name: str) -> list[SearchSource]:
    """Return the sources of a name, of a kind, or of the part of a name after the kind."""
    wanted = name.strip().strip("/")
    found = [source for source in sources if wanted in (source.name, source.kind, _bare(source), unquote(source.name))]
    if wanted != "dependencies":  # the name of a project means its own files
        found = [source for source in found if source.kind != "dependencies" or wanted != _bare(source)]
    if not found and wanted not in SOURCE_KINDS:
        raise UsageError(f"source: '{one_line(name, 100)}' is not one. There are: {_names(sources)}.")
    return found


def _bare(source: SearchSource) -> str:
    return unquote(source.name.partition("/")[2])


def _names(sources: Sequence[SearchSource]) -> str:
    names = [source.name for source in sources]
    more = f" and {len(names) - NAMED_SOURCES} more" if len(names) > NAMED_SOURCES else ""
    return (", ".join(names[:NAMED_SOURCES]) or "none here") + more
