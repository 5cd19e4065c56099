"""Snippets: passages around the found words as HTML, with the words in `<mark>` elements and the rest escaped."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from dowse.archives.archive_words import normalize_word, word_spans
from dowse.screening.instructions import find_flags
from dowse.screening.masking import find_hidden, mask_label, surroundings

CHARACTERS_BEFORE, CHARACTERS_AFTER = 60, 140
"""Characters of a snippet before and after the word it is made for."""
MAX_SNIPPETS = 3
"""Maximum number of snippets of one field."""
_MAX_PLACES_PER_WORD = 25
"""Further places of the same word are ignored."""
_MAX_WINDOWS = 50
"""Further places in a text are not considered for snippets: in a long document they add only time."""
_PART_CHARACTERS = 8_000
"""Characters of a text that are searched for words at a time."""
_WORD_BREAK_CHARACTERS = 15
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_SPACE = re.compile(r"\s+")
_BETWEEN = re.compile(r"[\s-]{1,3}")
"""Text between two words that share one `<mark>` element."""
_MARKUP_AT_START = re.compile(r"(?:[#>*+-]+|\d+[.)])\s+")

Groups = Mapping[str, int]
"""For each word to find, the number of the query word that it matches."""


class FoundWord(NamedTuple):
    """The place of a found word."""

    start: int
    end: int
    group: int


class Snippet(NamedTuple):
    """A passage as HTML, with the kinds of secrets that are masked in it and its content warnings."""

    text: str
    masked: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def mark_words(text: str, groups: Groups, *, masks: bool = True) -> Snippet | None:
    """Return a short text as a whole, with its words marked; None where it has none of them."""
    places = list(find_words(text, groups))
    return _render(text, 0, len(text), places, masks=masks) if places else None


def make_snippets(
    text: str, groups: Groups, weights: Mapping[int, float], title: str = "", start: int = 0, *, masks: bool = True
) -> tuple[Snippet, ...]:
    """Return the best few passages of a text from a character on. Headings come after other passages."""
    places = _first_places(find_words(text, groups), start)
    windows = [_window(text, place) for place in places[:_MAX_WINDOWS]]
    weighted = [
        _window_weight(window, places, at, weights) * _heading_factor(text, window, title)
        for at, window in enumerate(windows)
    ]
    chosen = list[tuple[int, int]]()
    for at in sorted(
        (at for at, weight in enumerate(weighted) if weight), key=lambda at: (-weighted[at], windows[at][0])
    ):
        first, last = windows[at]
        if all(last <= other[0] or first >= other[1] for other in chosen):
            chosen.append((first, last))
        if len(chosen) == MAX_SNIPPETS:
            break
    return tuple(_render(text, first, last, places, masks=masks) for first, last in chosen)


def _first_places(found: Iterable[FoundWord], start: int) -> list[FoundWord]:
    """Return the places that snippets are made for, and those behind them that the same snippets may show."""
    places = list[FoundWord]()
    for place in found:
        if len(places) >= _MAX_WINDOWS and place.start >= places[_MAX_WINDOWS - 1].end + CHARACTERS_AFTER:
            break
        if place.start >= start:
            places.append(place)
    return places


def find_words(text: str, groups: Groups) -> Iterator[FoundWord]:
    """Yield the places of words in a text, in order.

    The text is read a part at a time: the beginning of a long text usually has as many places as are looked at.
    """
    left, end = dict.fromkeys(groups, _MAX_PLACES_PER_WORD), 0
    while left and end < len(text):
        start, end = end, text.find(" ", end + _PART_CHARACTERS)
        end = end if end >= 0 else len(text)
        for first, last, word in sorted(_find_in_part(text[start:end], left)):
            yield FoundWord(start + first, start + last, groups[word])
            left[word] -= 1
        left = {word: places for word, places in left.items() if places > 0}


def _find_in_part(part: str, left: Mapping[str, int]) -> Iterator[tuple[int, int, str]]:
    """Yield the first places of each word, as many as are left."""
    lowered = part.lower()
    if len(lowered) != len(part) or not (part.isascii() or _is_composed(part)):
        spans = ((start, end, normalize_word(part[start:end])) for start, end in word_spans(part))
        yield from (span for span in spans if span[2] in left)
        return
    for word, most in left.items():
        at, count = lowered.find(word), 0
        while at >= 0 and count < most:
            end = at + len(word)
            if _is_word(lowered, at, end):
                yield at, end, word
                count += 1
            at = lowered.find(word, end)


def _is_composed(text: str) -> bool:
    import unicodedata

    return unicodedata.is_normalized("NFC", text)


def _is_word(text: str, start: int, end: int) -> bool:
    """Return whether a match is a whole word; in scripts without spaces each character is one."""
    around = text[max(0, start - 1) : end + 1]
    if around.isascii():
        before, after = text[start - 1] if start else " ", text[end] if end < len(text) else " "
        return not (before.isalnum() or before == "_" or after.isalnum() or after == "_")
    first = max(0, start - 64)
    return (start - first, end - first) in word_spans(text[first : end + 64])


def _window(text: str, place: FoundWord) -> tuple[int, int]:
    """Return the passage around a word, within its paragraph, cut between words."""
    start, end = max(0, place.start - CHARACTERS_BEFORE), min(len(text), place.end + CHARACTERS_AFTER)
    for blank in _BLANK_LINE.finditer(text, start, place.start):
        start = blank.end()
    if following := _BLANK_LINE.search(text, place.end, end):
        end = following.start()
    if start and not text[start - 1].isspace():
        start = text.find(" ", start, min(start + _WORD_BREAK_CHARACTERS, place.start)) + 1 or start
    if end < len(text) and not text[end].isspace():
        end = max(text.rfind(" ", max(place.end, end - _WORD_BREAK_CHARACTERS), end), 0) or end
    return start, end


def _window_weight(window: tuple[int, int], places: list[FoundWord], at: int, weights: Mapping[int, float]) -> float:
    """Return the weight of the query words in the passage around a place."""
    start, end = window
    groups, near = set[int](), at
    while near < len(places) and places[near].start < end:
        if places[near].end <= end:
            groups.add(places[near].group)
        near += 1
    while at >= 0 and places[at].start >= start:
        groups.add(places[at].group)
        at -= 1
    return sum(weights.get(group, 0.0) for group in groups)


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
    dotted = ("..." if is_cut_before else "") + line + ("..." if is_cut_after else "")
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
