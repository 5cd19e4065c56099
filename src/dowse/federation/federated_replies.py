"""What `search`, `fetch` and the status over all sources reply: the shapes that research assistants expect."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from dowse.errors import UsageError
from dowse.federation.federated_ranking import RankedItem
from dowse.federation.federated_search import FederatedQuery, FederatedResult
from dowse.federation.federation_types import FetchedItem, SearchSource, SourceStatus
from dowse.indexes.project_search import Coverage
from dowse.mcp.tools import wire_characters
from dowse.screening.instructions import flags_in

Fitting = TypeVar("Fitting")
Reply = dict[str, Any]

NAMED_FILES = 20
"""Of pending files so many are named."""
NOTES_SHARE = 8
"""What is told beside the results takes, of each sort, at most this part of the budget."""
SPARE_CHARACTERS = 600
"""What is said of a cut, and what the protocol adds."""
MORE = "There is more: call again with the ids above in exclude, beside those that were in it."
_WORST_FIRST = ("failed", "indexing", "incomplete", "ready", "not_found")
"""What a whole is when its parts are so; one that is not indexed yet says so itself, and the others can be searched."""


def found(outcome: FederatedResult, asked: FederatedQuery, budget: int) -> Reply:
    """What was found, as much as fits, and what is to be known about it."""
    metadata = _about(outcome, budget)
    left = budget - SPARE_CHARACTERS - wire_characters(metadata)
    wanted = outcome.results[: asked.wanted.limit]
    results = fitting((_result(one) for one in wanted), left)
    if wanted and not results:
        results = [_shortened(_result(wanted[0]), left)]
    if len(results) < len(wanted):
        cut = f"{len(results)} of {len(wanted)} results fit the reply. {MORE.partition(': ')[2].capitalize()}"
        metadata["truncated"] = cut
    elif len(outcome.results) > len(results):
        metadata["more"] = MORE
    return {"results": results, "metadata": {"totalResults": len(results), **metadata}}


def fetched(given: str, member: SearchSource, whole: FetchedItem, offset: int, budget: int) -> Reply:
    """A thing, its text from a character on, as much as fits."""
    size = len(whole.text)
    if offset and offset >= size:
        raise UsageError(f"offset: {offset:,} is behind the end; the text has {size:,} characters.")
    about = {"source": member.name, **whole.metadata, "totalCharacters": size} | ({"offset": offset} if offset else {})
    if flags := sorted({flag.kind for flag in flags_in(whole.text)}):
        about["flags"] = flags
    reply = {"id": given, "title": whole.title, "text": whole.text[offset:], "url": whole.url, "metadata": about}
    if wire_characters(reply) <= budget - SPARE_CHARACTERS:
        return reply
    room = budget - SPARE_CHARACTERS - wire_characters({**reply, "text": ""})
    reply["text"] = _beginning(whole.text[offset : offset + budget], room)
    end = offset + len(reply["text"])
    said = f"Characters {offset:,} to {end:,} of {size:,}. Go on with fetch and offset {end}."
    return {**reply, "metadata": {**about, "nextOffset": end, "truncated": said}}


def overview(each: Sequence[SourceStatus], budget: int = sys.maxsize) -> Reply:
    """How all sources stand together."""
    states = [one.state for one in each]
    worst = next((state for state in _WORST_FIRST if state in states), "not_found")
    files = sum(count for one in each for name, count in one.counts.items() if name != "chunks")
    return {
        "status": worst,
        "totalFiles": files,
        "totalChunks": sum(one.counts.get("chunks", 0) for one in each),
        "lastUpdated": max((one.last_updated for one in each if one.last_updated), default=None),
        **listed(each, budget),
    }


def listed(each: Sequence[SourceStatus], budget: int) -> Reply:
    """Every source, as many as fit."""
    shown = fitting((one.as_json() for one in each), budget - SPARE_CHARACTERS)
    if len(shown) == len(each):
        return {"sources": shown}
    return {"sources": shown, "truncated": f"{len(shown)} of {len(each)} sources fit. dowse status lists all."}


def fitting(values: Iterable[Fitting], characters: int) -> list[Fitting]:
    """The first values that take no more than so many characters of a reply."""
    taken: list[Fitting] = []
    for value in values:
        characters -= wire_characters(value) + len(", , ")
        if characters < 0:
            break
        taken.append(value)
    return taken


def _result(one: RankedItem) -> Reply:
    item = one.item
    result = {"id": item.id, "title": item.title, "url": item.url, "text": item.text, "source": item.source}
    return {**result, "score": one.score, **item.more, **_present(alsoIn=list(one.also))}


def _about(outcome: FederatedResult, budget: int) -> Reply:
    answers = outcome.answers
    share = budget // NOTES_SHARE
    pending = [path for answer in answers.values() for path in answer.pending]
    warnings = {f"{name}: {one}" for name, answer in answers.items() for one in answer.warnings}
    return {"searched": fitting(answers, share)} | _present(
        problems=_fitting_pairs(outcome.problems, share),
        leftOut=_fitting_pairs(outcome.left_out, share),
        coverage=_fitting_pairs(
            {name: _covered(one.coverage) for name, one in answers.items() if one.coverage and not one.coverage.is_complete},
            share,
        ),
        searchedBy=_fitting_pairs({name: dict(one.ways) for name, one in answers.items() if one.ways}, share),
        pending=fitting(pending[:NAMED_FILES], share),
        corrected={word: near for answer in answers.values() for word, near in answer.corrected.items()},
        warnings=fitting(sorted(warnings), share),
    )  # fmt: skip


def _covered(one: Coverage) -> Reply:
    return {
        "indexedFiles": one.files,
        "expectedFiles": max(one.files, one.expected),
        "complete": one.is_complete,
    } | _present(pending=one.pending, indexing=one.is_indexing)


def _fitting_pairs(values: Mapping[str, Fitting], characters: int) -> dict[str, Fitting]:
    return dict(fitting(values.items(), characters))


def _shortened(result: Reply, characters: int) -> Reply:
    """A result that alone is too long, with the beginning of its text."""
    room = characters - wire_characters({**result, "text": ""})
    return {**result, "text": _beginning(result["text"], room - 4) + "…"}


def _beginning(text: str, characters: int) -> str:
    """As much of a text as takes no more characters in a reply, up to the end of a line where one is near."""
    fits, too_many = 0, len(text) + 1
    while too_many - fits > 1:  # halve what is not known until the most that fits is
        middle = (fits + too_many) // 2
        if wire_characters(text[:middle]) <= characters:
            fits = middle
        else:
            too_many = middle
    line = text.rfind("\n", fits * 3 // 4, fits) + 1
    return text[: line or max(fits, 1)]


def _present(**values: Any) -> Reply:
    """Only what says something."""
    return {name: value for name, value in values.items() if value}
