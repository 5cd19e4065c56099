"""The search over all sources, items that are fetched by their ids, the status of all sources, and the replies about them."""

import asyncio
import logging
import sys
from collections.abc import Coroutine, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, TypeVar
from urllib.parse import unquote

from dowse.errors import DowseError, ItemNotFound, SourceNotReady, UsageError
from dowse.federation.federated_ranking import RankedItem, merge_results
from dowse.federation.federation_types import (
    AS_DOCUMENT,
    MAX_ID_CHARACTERS,
    SOURCE_KINDS,
    FetchedItem,
    SearchSource,
    SourceQuery,
    SourceResult,
    SourceStatus,
    locator_in,
)
from dowse.federation.source_list import SourceList
from dowse.mcp.replies import (
    ENVELOPE_CHARACTERS,
    NAMED_FILES,
    NOTE_SHARE,
    Reply,
    coverage_reply,
    error_reply,
    fit_items,
    fit_notes,
    fit_pairs,
    fit_results,
    fit_text,
    overall_state,
    present,
    wire_characters,
)
from dowse.mcp.tools import Call
from dowse.screening.masking import find_flags
from dowse.types import View
from dowse.visible_text import one_line

Result = TypeVar("Result")

ANSWER_SECONDS = 8.0
"""How long the slowest source is waited for; then the others' answers are worth more than a complete one."""
SHARED_FROM, SHARE = 3, 0.5
"""From this many rankings on, of which a root with code and documents has two, each source is first asked for this share
of the limit, which few go beyond: nDCG@10 is 0.764 with it, 0.765 without and 0.755 with 0.4, and reading and cutting
hits is most of the work."""
NAMED_SOURCES = 20
"""An error names at most this many sources."""

_log = logging.getLogger(__name__)


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


async def search_all(
    sources: SourceList,
    call: Call,
    query: SourceQuery,
    source: str | None = None,
    exclude: Sequence[str] = (),
    *,
    is_quick: bool = False,
) -> FederatedResult:
    """Ask every source that is meant; a source that fails does not fail the others.

    Items that the caller holds are excluded by their ids. A quick search asks each source once: with several of them there may
    be fewer results than the limit.
    """
    known, problems = await sources.find(call)
    # Packages of strangers have an answer to everything: they are asked only where they are named.
    chosen = [one for one in known if one.kind != "dependencies"]
    query = query.with_typed_filters()
    if source:
        chosen, views = _choose(known, source)
        query = replace(query, views=views)
    left_out = {one.name: why for one in chosen if (why := one.unsupported_filter(query))}
    able = [one for one in chosen if one.name not in left_out]
    limit, has_both = query.limit, query.views is View.BOTH
    rankings = sum(len(one.kinds) if has_both else 1 for one in able)
    share = limit if rankings < SHARED_FROM else ceil(SHARE * limit)
    # One more than the limit says whether there is more; each held item may be among the first.
    wanted = {one: share + 1 + sum(item_id.startswith(f"{one.name}/") for item_id in exclude) for one in able}
    answers, silent = await _gather({one: one.find_items(replace(query, limit=wanted[one])) for one in able})
    held = frozenset(item_id.removesuffix(AS_DOCUMENT) for item_id in exclude)
    results = _merge(query, answers, held)
    has_room = len(results) <= limit and share < limit
    if has_room and not is_quick:  # a source that has more than its share may fill the rest
        asked = {one: wanted[one] - share + limit for one in able if _has_more(answers.get(one.name), wanted[one])}
        more, _ = await _gather({one: one.find_items(replace(query, limit=most)) for one, most in asked.items()})
        answers |= more
        results = _merge(query, answers, held)
    without_filters = 0
    if not results and query.query.has_filters:
        unfiltered = replace(query, query=query.query.without_filters())
        found = await search_all(sources, call, unfiltered, source, exclude, is_quick=is_quick)
        without_filters = min(limit, len(found.results))
    results[:limit] = await asyncio.to_thread(lambda: list(map(_add_passage, results[:limit])))
    failed = {name: _problem(name, answer.error) for name, answer in answers.items() if answer.error}
    problems = {**({} if source else problems), **silent, **failed}
    return FederatedResult(results, answers, left_out, problems, without_filters)


def _merge(query: SourceQuery, answers: Mapping[str, SourceResult], held: Set[str]) -> list[RankedItem]:
    return merge_results(query.query, [ranking for answer in answers.values() for ranking in answer.rankings], held)


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
    statuses, silent = await _gather({source: source.status() for source in known})
    missing = [
        SourceStatus(kind, kind, "not_found", problem=problems[kind]) for kind in SOURCE_KINDS if kind in problems
    ]
    return missing + [
        statuses.get(source.name) or SourceStatus(source.kind, source.name, "failed", problem=silent[source.name])
        for source in known
    ]


async def _gather(
    asked: Mapping[SearchSource, Coroutine[Any, Any, Result]],
) -> tuple[dict[str, Result], dict[str, str]]:
    """Return the results of the sources that answer in time, and why the others do not."""
    tasks = {asyncio.ensure_future(answer): source.name for source, answer in asked.items()}
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


def _has_more(answer: SourceResult | None, wanted: int) -> bool:
    """Return whether a source gave as many items as it was asked for, and need not read its files again for more."""
    if answer is None or (answer.coverage and answer.coverage.direct):
        return False
    return any(len(ranking) >= wanted for ranking in answer.rankings)


def _choose(sources: Sequence[SearchSource], name: str) -> tuple[list[SearchSource], View]:
    """Return the sources of a name, of a kind, or of the part of a name after the kind, and the views that are asked."""
    given = name.strip().strip("/")
    wanted = next(
        (one for one in (given, unquote(given)) if any(one in _names_of(source) for source in sources)), given
    )
    found = [source for source in sources if wanted in _names_of(source)]
    if not found and wanted not in SOURCE_KINDS:
        raise UsageError(f"source: '{one_line(name, 100)}' is not one. There are: {_names(sources)}.")
    if any(wanted == unquote(source.name) for source in found):
        return found, View.BOTH
    return found, {"project": View.PROJECT, "documents": View.DOCUMENTS}.get(wanted.partition("/")[0], View.BOTH)


def _names_of(source: SearchSource) -> list[str]:
    """Return the names by which a source is asked for: each kind, alone and before its name, and its name alone."""
    bare = unquote(source.name.partition("/")[2])
    alone = [] if source.kind == "dependencies" else [bare]  # the name of a project means its own files
    return [*alone, *source.kinds, *(f"{kind}/{bare}" for kind in source.kinds)]


def _names(sources: Sequence[SearchSource]) -> str:
    names = [source.name for source in sources]
    more = f" and {len(names) - NAMED_SOURCES} more" if len(names) > NAMED_SOURCES else ""
    return (", ".join(names[:NAMED_SOURCES]) or "none here") + more


CALL_AGAIN = "call again with the ids above in exclude, beside those that were in it."


def search_reply(found: FederatedResult, limit: int, budget: int) -> Reply:
    """Return the results that fit, and what to know about them."""
    metadata = _metadata(found, budget)
    page = [_result(ranked) for ranked in found.results[:limit]]
    results = fit_results(page, budget - ENVELOPE_CHARACTERS - wire_characters(metadata))
    if len(results) < len(page):
        metadata["truncated"] = f"{len(results)} of {len(page)} results fit the reply. {CALL_AGAIN.capitalize()}"
    elif len(found.results) > len(results):
        metadata["more"] = f"There is more: {CALL_AGAIN}"
    return {"results": results, "metadata": {"totalResults": len(results), **metadata}}


def fetch_reply(item_id: str, source: SearchSource, item: FetchedItem, offset: int, budget: int) -> Reply:
    """Return an item, its text from a character on, as much as fits."""
    size = len(item.text)
    if offset and offset >= size:
        raise UsageError(f"offset: {offset:,} is behind the end; the text has {size:,} characters.")
    metadata = {"source": source.name, **item.metadata, "totalCharacters": size} | present(offset=offset)
    metadata |= present(flags=sorted({flag.kind for flag in find_flags(item.text)}))
    reply = {"id": item_id, "title": item.title, "text": item.text[offset:], "url": item.url, "metadata": metadata}
    if wire_characters(reply) <= budget - ENVELOPE_CHARACTERS:
        return reply
    room = budget - ENVELOPE_CHARACTERS - wire_characters({**reply, "text": ""})
    reply["text"] = fit_text(item.text[offset : offset + budget], room)
    end = offset + len(reply["text"])
    cut = f"Characters {offset:,} to {end:,} of {size:,}. Go on with fetch and offset {end}."
    return {**reply, "metadata": {**metadata, "nextOffset": end, "truncated": cut}}


def status_reply(statuses: Sequence[SourceStatus], budget: int = sys.maxsize) -> Reply:
    """Return the status of all sources together."""
    return {
        "status": overall_state(status.state for status in statuses if not status.is_indexed_on_demand),
        "totalFiles": sum(status.total for status in statuses),
        "totalChunks": sum(status.counts.get("chunks", 0) for status in statuses),
        "lastUpdated": max((status.last_updated for status in statuses if status.last_updated), default=None),
        **sources_reply(statuses, budget),
    }


def sources_reply(statuses: Sequence[SourceStatus], budget: int) -> Reply:
    """Return every source, as many as fit."""
    shown = fit_items((status.as_json() for status in statuses), budget - ENVELOPE_CHARACTERS)
    if len(shown) == len(statuses):
        return {"sources": shown}
    return {"sources": shown, "truncated": f"{len(shown)} of {len(statuses)} sources fit. dowse status lists all."}


def _result(ranked: RankedItem) -> Reply:
    item = ranked.item
    result = {"id": item.id, "title": item.title, "url": item.url, "text": item.text, "source": item.source}
    return {**result, "score": ranked.score, **item.more, **present(alsoIn=list(ranked.also))}


def _metadata(found: FederatedResult, budget: int) -> Reply:
    answers, share = found.answers, budget // NOTE_SHARE
    pending = [path for answer in answers.values() for path in answer.pending]
    warnings = {f"{name}: {warning}" for name, answer in answers.items() for warning in answer.warnings}
    coverages = {
        name: coverage_reply([answer.coverage])
        for name, answer in answers.items()
        if answer.coverage and not answer.coverage.is_complete
    }
    return {"searched": fit_notes(answers, budget)} | present(
        withoutFilters=found.without_filters,
        problems=fit_pairs(found.problems, share),
        leftOut=fit_pairs(found.left_out, share),
        coverage=fit_pairs(coverages, share),
        searchedBy=fit_pairs(
            {name: dict(answer.search_methods) for name, answer in answers.items() if answer.search_methods}, share
        ),
        pending=fit_notes(pending[:NAMED_FILES], budget),
        corrected={word: near for answer in answers.values() for word, near in answer.corrected.items()},
        warnings=fit_notes(sorted(warnings), budget),
    )
