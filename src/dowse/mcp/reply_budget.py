"""The size of a reply, and how to fit one into its budget: items, pairs or the beginning of a text."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any, TypeVar

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


def total_wire_characters(values: Sequence[object]) -> int:
    """Return what values take together: as a list, without its brackets and commas and with quotes around each."""
    return wire_characters(values) - 2 * len(values) - 2 if values else 0


def present(**values: Any) -> Reply:
    """Return the keys whose value is not empty."""
    return {name: value for name, value in values.items() if value}


def fit_items(items: Iterable[Item], characters: int, size: Callable[[Any], int] = wire_characters) -> list[Item]:
    """Return the first items that take no more than this many characters of a reply."""
    kept = list(items)
    if size is wire_characters and total_wire_characters(kept) + len(kept) * _SEPARATORS <= characters:
        return kept  # as mostly; asking for the size of each takes three times as long
    items, kept = kept, []
    for item in items:
        characters -= size(item) + _SEPARATORS
        if characters < 0:
            break
        kept.append(item)
    return kept


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


def shorten_result(result: Reply, characters: int, key: str = "text") -> Reply:
    """Return a result that alone is too long with the beginning of its text."""
    room = characters - wire_characters({**result, key: ""})
    return {**result, key: fit_text(result[key], room - _SEPARATORS) + "…"}


def fit_results(results: Sequence[Reply], characters: int) -> list[Reply]:
    """Return the first results that fit; the first one is shortened rather than left out."""
    kept = fit_items(results, characters)
    return [shorten_result(results[0], characters)] if results and not kept else kept


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
