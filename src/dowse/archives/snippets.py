"""Snippets: passages around the found words as HTML, with the words in `<mark>` elements and the rest escaped."""

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import partial
from string import ascii_lowercase, digits
from typing import NamedTuple

from dowse.archives.archive_words import indexed_spans
from dowse.screening.instructions import find_flags
from dowse.screening.masking import find_hidden, mask_label, surroundings
from dowse.text.excerpts import (
    FoundWord,
    Groups,
    Splitting,
    add_marks,
    choose_windows,
    find_words,
    first_places,
    window_around,
)

CHARACTERS_BEFORE, CHARACTERS_AFTER = 60, 140
"""Characters of a snippet before and after the word it is made for."""
MAX_SNIPPETS = 3
"""Maximum number of snippets of one field."""
_SPACE = re.compile(r"\s+")
_BETWEEN = re.compile(r"[\s-]{1,3}")
"""Text between two words that share one `<mark>` element."""
_MARKUP_AT_START = re.compile(r"(?:[#>*+-]+|\d+[.)])\s+")
_LETTERS = frozenset(ascii_lowercase + digits + "_")
_SPLITTING = Splitting(indexed_spans, partial(unicodedata.is_normalized, "NFC"), _LETTERS)


class Snippet(NamedTuple):
    """A passage as HTML, with the kinds of secrets that are masked in it and its content warnings."""

    text: str
    masked: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def mark_words(text: str, groups: Groups, *, masks: bool = True) -> Snippet | None:
    """Return a short text as a whole, with its words marked; None where it has none of them."""
    places = list(find_words(text, groups, _SPLITTING))
    return _render(text, 0, len(text), places, masks=masks) if places else None


def make_snippets(
    text: str, groups: Groups, weights: Mapping[int, float], title: str = "", start: int = 0, *, masks: bool = True
) -> tuple[Snippet, ...]:
    """Return the best few passages of a text from a character on. Headings come after other passages."""
    places = first_places(find_words(text, groups, _SPLITTING), start, CHARACTERS_AFTER)
    cut = partial(window_around, text, before=CHARACTERS_BEFORE, after=CHARACTERS_AFTER, in_paragraph=True)
    chosen = choose_windows(
        places,
        weights,
        MAX_SNIPPETS,
        cut,
        reach=(CHARACTERS_BEFORE, CHARACTERS_AFTER),
        factor=lambda window: _heading_factor(text, window, title),
    )
    return tuple(_render(text, first, last, places, masks=masks) for first, last in chosen)


def _heading_factor(text: str, window: tuple[int, int], title: str) -> float:
    """Return a smaller factor for a heading, and 0 for one that repeats the title, which is shown anyway."""
    start, end = window
    line = text[text.rfind("\n", 0, start) + 1 : end].strip()
    if title and line.strip("#=* \t") == title:
        return 0.0
    return 0.3 if line.startswith("#") else 1.0


def _render(text: str, start: int, end: int, places: Iterable[FoundWord], *, masks: bool) -> Snippet:
    inside = [place for place in places if start <= place.start and place.end <= end]
    if skipped := _MARKUP_AT_START.match(text, start, inside[0].start if inside else start):
        start = skipped.end()
    hidden = _find_secrets(text, start, end) if masks else []
    shown = [
        (first, last, "") for first, last in _join_adjacent(text, inside) if not _overlaps_secret(first, last, hidden)
    ]
    pieces, done = list[str](), start
    for first, last, kind in sorted([*shown, *hidden]):
        if first >= done:
            inner = mask_label(kind) if kind else f"<mark>{html.escape(text[first:last], quote=False)}</mark>"
            pieces += [html.escape(text[done:first], quote=False), inner]
            done = last
    pieces.append(html.escape(text[done:end], quote=False))
    line = _SPACE.sub(" ", "".join(pieces)).strip()
    is_cut_before = start > 0 and not _is_paragraph_edge(text, start, -1)
    is_cut_after = end < len(text) and not _is_paragraph_edge(text, end, 1)
    flags = dict.fromkeys(flag.kind for flag in find_flags(text[start:end]))
    masked = dict.fromkeys(kind for _, _, kind in hidden)
    dotted = add_marks(line, "...", is_cut_before=is_cut_before, is_cut_after=is_cut_after)
    return Snippet(dotted, tuple(masked), tuple(flags))


def _find_secrets(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    """Return the places and kinds of the secrets in a passage."""
    found = find_hidden(text[start:end], around=surroundings(text, start, end))
    return [(start + secret.start, start + secret.end, secret.kind) for secret in found]


def _overlaps_secret(first: int, last: int, hidden: list[tuple[int, int, str]]) -> bool:
    return any(first < end and start < last for start, end, _ in hidden)


def _join_adjacent(text: str, places: list[FoundWord]) -> list[tuple[int, int]]:
    """Return the places as spans, with adjacent words joined."""
    joined = list[tuple[int, int]]()
    for place in places:
        if joined and (place.start <= joined[-1][1] or _BETWEEN.fullmatch(text, joined[-1][1], place.start)):
            joined[-1] = (joined[-1][0], max(joined[-1][1], place.end))
        else:
            joined.append((place.start, place.end))
    return joined


def _is_paragraph_edge(text: str, at: int, step: int) -> bool:
    """Return whether a paragraph begins (step -1) or ends (step 1) here."""
    near = text[max(0, at - 2) : at] if step < 0 else text[at : at + 2]
    return "\n\n" in near or (
        step < 0 and _MARKUP_AT_START.match(text, text.rfind("\n", 0, at - 1) + 1, at) is not None
    )
