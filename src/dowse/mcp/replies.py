"""The layer that all replies share: how one fits into its budget, how complete it is, consent to a change, and errors."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any, TypeVar

from dowse.error_catalog import CATALOG, developer_message
from dowse.errors import CatalogError, DowseError, UsageError
from dowse.mcp.tools import Call
from dowse.system.platform import storage_root
from dowse.types import Coverage

Item = TypeVar("Item")
Reply = dict[str, Any]

BUDGET_TOKENS = 20_000
"""The default budget of a reply, its text and its structured content together."""
CHARACTERS_PER_TOKEN = 4
ENVELOPE_CHARACTERS = 1000
"""Kept free for what the protocol adds to a reply, and for the note that something was cut."""
NOTE_SHARE = 8
"""Each kind of note beside the results (warnings, pending files) takes at most this fraction of the budget."""
NAMED_FILES = 20
"""A reply names at most this many pending, stale or new files."""
_SEPARATORS = len(", , ")
"""Between two items, in the structured content and in the text."""
_to_json = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes an encoder for each of a hundred calls


def wire_characters(value: object) -> int:
    """Return what a value takes in a reply: once as structured content, and once more quoted in the text."""
    text = _to_json(value)
    return len(text) + len(encode_basestring(text))


def present(**values: Any) -> Reply:
    """Return the keys whose value is not empty."""
    return {name: value for name, value in values.items() if value}


def fit_items(items: Iterable[Item], characters: int, size: Callable[[Any], int] = wire_characters) -> list[Item]:
    """Return the first items that take no more than this many characters of a reply."""
    kept = []
    for item in items:
        characters -= size(item) + _SEPARATORS
        if characters < 0:
            break
        kept.append(item)
    return kept


def fit_page(
    items: Sequence[Item], offset: int, limit: int, characters: int, total: int = 0
) -> tuple[list[Item], Reply]:
    """Return the items of a page that fit, at least one, and where the next page begins.

    `total` is the number of items behind all pages, if it is greater than that of the items.
    """
    page = items[offset : offset + limit]
    shown = fit_items(page, characters) or list(page[:1])
    return shown, next_page(offset, shown, page, max(total, len(items)))


def next_page(offset: int, shown: Sequence[object], page: Sequence[object], total: int) -> Reply:
    """Return where the next page begins, and whether the budget cut this one."""
    following = offset + len(shown)
    cut = f"The budget is spent. More with offset: {following}." if len(shown) < len(page) else ""
    return present(nextOffset=following if following < total else 0, truncated=cut)


def fit_notes(items: Iterable[Item], budget: int) -> list[Item]:
    """Return the first notes of one kind that fit the share of the budget that notes may take."""
    return fit_items(items, budget // NOTE_SHARE)


def fit_pairs(pairs: Mapping[str, Item], characters: int) -> dict[str, Item]:
    """Return the first pairs of a mapping that take no more than this many characters of a reply."""
    return dict(fit_items(pairs.items(), characters))


def fit_text(text: str, characters: int) -> str:
    """Return the beginning of a text that takes no more characters in a reply, at least one character.

    It ends at the end of a line if one lies in its last quarter.
    """
    size = largest(len(text), lambda size: wire_characters(text[:size]) <= characters)
    line = text.rfind("\n", size * 3 // 4, size) + 1 if size < len(text) else 0
    return text[: line or max(size, 1)]


def fit_results(results: Sequence[Reply], characters: int) -> list[Reply]:
    """Return the first results that fit; the first one is shortened rather than left out."""
    kept = fit_items(results, characters)
    if kept or not results:
        return kept
    room = characters - wire_characters({**results[0], "text": ""})
    return [{**results[0], "text": fit_text(results[0]["text"], room - _SEPARATORS) + "…"}]


def largest(maximum: int, fits: Callable[[int], bool], minimum: int = 0) -> int:
    """Return the largest number from `minimum` to `maximum` that fits, by bisection; `minimum` is taken to fit."""
    low, high = minimum, maximum + 1
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


_WORST_FIRST = ("failed", "indexing", "incomplete", "not_found", "ready", "success")
_SEARCHABLE = frozenset({"ready", "success"})


def overall_state(states: Iterable[str]) -> str:
    """Return the state of several indexes together: the worst of them.

    Where some can be searched and others are not indexed yet, the whole is `incomplete`.
    """
    known = set(states)
    if "not_found" in known and known & _SEARCHABLE:
        known.add("incomplete")
    return next((state for state in _WORST_FIRST if state in known), "not_found")


def coverage_warnings(coverage: Coverage) -> list[str]:
    """Return why changed files are left out of an answer, if it is because nothing can be written."""
    return [f"Changed files are not searched: {without_storage_root(coverage.problem)}"] if coverage.problem else []


def coverage_reply(coverages: Sequence[Coverage]) -> Reply:
    """Return how much of some indexes an answer is about."""
    return {
        "indexedFiles": sum(coverage.files for coverage in coverages),
        "expectedFiles": sum(max(coverage.files, coverage.expected) for coverage in coverages),
        "complete": all(coverage.is_complete for coverage in coverages),
    } | present(
        pending=sum(coverage.pending for coverage in coverages),
        indexing=any(coverage.is_indexing for coverage in coverages),
        searchedDirectly=sum(coverage.direct for coverage in coverages),
        secondsLeft=max((coverage.seconds_left or 0 for coverage in coverages), default=0),
    )


HOW_TO_CONFIRM = "Nothing was changed. To confirm, call again with confirm: true."


async def ask_consent(call: Call, question: str, *, needs_argument: bool = True) -> Reply | None:
    """Ask the user, and return None for a yes, else the reply that nothing was changed.

    A client that cannot ask has to pass `confirm: true`, unless the call itself counts as consent.
    """
    if call.can_ask:
        return {"status": "cancelled"} if await call.ask("confirm", question) is None else None
    if needs_argument and not call.arguments["confirm"]:
        return {"status": "cancelled", "question": question, "message": HOW_TO_CONFIRM}
    return None


def error_reply(error: DowseError) -> dict[str, Any]:
    """Return the reply to a call that failed with this error."""
    if isinstance(error, UsageError):  # its own message says which argument is wrong
        message = without_storage_root(str(error))
        return {"code": error.code, "userMessage": message, "developerMessage": f"{error.code}: {error}"}
    if not isinstance(error, CatalogError):
        error = CatalogError(error.code if error.code in CATALOG else "FAILED", detail=str(error), **error.facts)
    developer = developer_message(error.code, error.facts)
    return {"code": error.code, "userMessage": str(error), "developerMessage": developer}


def without_storage_root(message: str) -> str:
    """Return a message for a user, in which paths of the storage root begin below it."""
    root = str(storage_root())
    return message.replace(f"{root}{os.sep}", "").replace(root, "the storage root")
