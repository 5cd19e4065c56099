"""A question to every source at once, a thing fetched by its id, and how all sources stand."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TypeVar
from urllib.parse import unquote

from dowse.errors import DowseError, ItemNotFound, SourceNotReady, UsageError
from dowse.federation.federated_ranking import RankedItem, held_of, merged
from dowse.federation.federation_types import (
    SOURCE_KINDS,
    FetchedItem,
    SearchSource,
    SourceQuery,
    SourceResult,
    SourceStatus,
)
from dowse.federation.result_ids import MOST_CHARACTERS, locator_in
from dowse.federation.source_list import SourceList
from dowse.mcp.error_replies import error_reply
from dowse.mcp.tools import Call
from dowse.surfaces.documents.document_replies import on_one_line

Got = TypeVar("Got")

ANSWER_SECONDS = 8.0
"""How long the slowest source is waited for; the others' answers are worth more than a complete one."""
SHARED_FROM, SHARE = 3, 0.6
"""Of so many sources each is asked first for a share of what is wanted, which hardly one goes beyond: nDCG@10 is 0.746
with it and 0.747 without, and reading and cutting hits is most of the work."""
NAMED_SOURCES = 20
"""So many names of sources are told in an error."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FederatedQuery:
    """What a caller wants: `wanted` of all sources or of some, without what it holds."""

    wanted: SourceQuery
    source: str | None = None
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FederatedResult:
    """What came of it."""

    results: Sequence[RankedItem] = ()
    """More than were asked for, where there is more."""
    answers: Mapping[str, SourceResult] = field(default_factory=dict)
    """By the sources' names, of those that answered."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Sources that a filter has no meaning for, and which."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Sources that did not answer, and why."""


async def search_all(holdings: SourceList, call: Call, asked: FederatedQuery) -> FederatedResult:
    """Ask every source that is meant; one that fails does not fail the others."""
    members, problems = await holdings.members(call)
    chosen = _chosen(members, asked.source) if asked.source else members
    left_out = {member.name: why for member in chosen if (why := member.lacks(asked.wanted))}
    able = [member for member in chosen if member.name not in left_out]
    share = asked.wanted.limit if len(able) < SHARED_FROM else ceil(SHARE * asked.wanted.limit)
    answers, silent = await _of_each(able, lambda member: member.search(_wanted_of(member, asked, share)))
    keys = (member.keys(locator) for member in members for locator in _locators(member, asked.exclude))
    held = held_of(asked.exclude, keys)
    results = merged(asked.wanted.text, [found.items for found in answers.values()], held)
    if (
        len(results) <= asked.wanted.limit and share < asked.wanted.limit
    ):  # who has more than its share may fill the rest
        able = [member for member in able if _has_more(member, answers, asked, share)]
        more, _ = await _of_each(able, lambda member: member.search(_wanted_of(member, asked, asked.wanted.limit)))
        answers |= more
        results = merged(asked.wanted.text, [found.items for found in answers.values()], held)
    known = problems if not asked.source else {}
    return FederatedResult(results, answers, left_out, {**known, **silent})


async def fetch_one(holdings: SourceList, call: Call, given: str) -> tuple[SearchSource, FetchedItem]:
    """The thing that an id leads to; NoSuchThing where there is none."""
    members, _ = await holdings.members(call)
    for member in members:
        locator = locator_in(member.name, given) if len(given) <= MOST_CHARACTERS else None
        if locator is not None:
            return member, await member.fetch(locator)
    raise ItemNotFound(f"it does not begin with the name of a source. There are: {_names(members)}")


async def standings(holdings: SourceList, call: Call) -> list[SourceStatus]:
    """How each source stands."""
    members, problems = await holdings.members(call)
    known, silent = await _of_each(members, lambda member: member.standing())
    return [
        *(SourceStatus(kind, kind, "not_found", problem=problems[kind]) for kind in SOURCE_KINDS if kind in problems),
        *(
            known.get(member.name) or SourceStatus(member.kind, member.name, "failed", problem=silent[member.name])
            for member in members
        ),
    ]


async def _of_each(
    members: Sequence[SearchSource], work: Callable[[SearchSource], Awaitable[Got]]
) -> tuple[dict[str, Got], dict[str, str]]:
    """What each source gives in time, and why the others give nothing."""
    tasks = {asyncio.ensure_future(work(member)): member.name for member in members}
    if not tasks:
        return {}, {}
    try:
        await asyncio.wait(tasks, timeout=ANSWER_SECONDS)
    finally:
        for task in tasks:
            task.cancel()  # those that are done do not mind
    given: dict[str, Got] = {}
    silent: dict[str, str] = {}
    for task, name in tasks.items():
        if not task.done() or task.cancelled():
            silent[name] = f"It did not answer within {ANSWER_SECONDS:.0f} seconds. Ask again, or for source '{name}'."
        elif error := task.exception():
            silent[name] = _told(name, error)
        else:
            given[name] = task.result()
    return given, silent


def _told(name: str, error: BaseException) -> str:
    """Why a source did not answer, without a path of this machine."""
    if isinstance(error, SourceNotReady):
        return str(error)
    if isinstance(error, DowseError):
        return str(error_reply(error)["userMessage"])
    _log.error("%s failed", name, exc_info=error)
    return "Something went wrong inside the search of this source."


def _wanted_of(member: SearchSource, asked: FederatedQuery, limit: int) -> SourceQuery:
    """One more than wanted, to know whether there is more, and as many more as the caller holds of it."""
    return replace(asked.wanted, limit=limit + 1 + len(_locators(member, asked.exclude)))


def _has_more(member: SearchSource, answers: Mapping[str, SourceResult], asked: FederatedQuery, share: int) -> bool:
    """Whether a source gave all that it was asked for."""
    found = answers.get(member.name)
    return found is not None and len(found.items) >= _wanted_of(member, asked, share).limit


def _locators(member: SearchSource, ids: Sequence[str]) -> list[str]:
    return [locator for one in ids if (locator := locator_in(member.name, one)) is not None]


def _chosen(members: Sequence[SearchSource], source: str) -> list[SearchSource]:
    """The sources that are meant: by name, by kind, or by what comes after the kind."""
    wanted = source.strip().strip("/")
    found = [member for member in members if wanted in (member.name, member.kind, _bare(member), unquote(member.name))]
    if not found and wanted not in SOURCE_KINDS:
        raise UsageError(f"source: '{on_one_line(source, 100)}' is not one. There are: {_names(members)}.")
    return found


def _bare(member: SearchSource) -> str:
    return unquote(member.name.partition("/")[2])


def _names(members: Sequence[SearchSource]) -> str:
    names = [member.name for member in members]
    more = f" and {len(names) - NAMED_SOURCES} more" if len(names) > NAMED_SOURCES else ""
    return (", ".join(names[:NAMED_SOURCES]) or "none here") + more
