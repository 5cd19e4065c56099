"""The replies of `search`, `fetch` and the status over all sources: the shapes that research assistants expect."""

import sys
from collections.abc import Sequence

from dowse.errors import UsageError
from dowse.federation.federated_ranking import RankedItem
from dowse.federation.federated_search import FederatedQuery, FederatedResult
from dowse.federation.federation_types import FetchedItem, SearchSource, SourceStatus
from dowse.mcp.reply_budget import (
    ENVELOPE_CHARACTERS,
    NAMED_FILES,
    NOTE_SHARE,
    Reply,
    fit_items,
    fit_notes,
    fit_pairs,
    fit_results,
    fit_text,
    present,
    wire_characters,
)
from dowse.mcp.reply_status import coverage_reply, overall_state
from dowse.screening.instructions import find_flags

CALL_AGAIN = "call again with the ids above in exclude, beside those that were in it."


def search_reply(found: FederatedResult, asked: FederatedQuery, budget: int) -> Reply:
    """Return the results that fit, and what to know about them."""
    metadata = _metadata(found, budget)
    page = [_result(ranked) for ranked in found.results[: asked.query.limit]]
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
    files = sum(count for status in statuses for name, count in status.counts.items() if name != "chunks")
    return {
        "status": overall_state(status.state for status in statuses if not status.is_indexed_on_demand),
        "totalFiles": files,
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
