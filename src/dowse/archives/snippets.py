"""What was found, in a few words around it: the words in marks, everything else escaped."""

import html
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dowse.archives.archive_words import as_word, spans
from dowse.screening.instructions import flags_in
from dowse.screening.masking import hidden_in, label, surroundings

BEFORE, AFTER = 60, 140
"""Characters of a snippet before and after the word it is shown for."""
MOST = 3
"""Snippets of one field."""
_MOST_PLACES = 25
"""Places of one word that are looked at; a word that is everywhere is shown where it first is."""
_MOST_WINDOWS = 50
"""Places around which a passage is weighed, from the first on: of a long document that has the words everywhere the
rest adds nothing but time."""
_CUT_AT_WORD = 15
_ALIKE = 4
"""Letters that words which are looked for together are taken to share."""
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_SPACE = re.compile(r"\s+")
_BETWEEN = re.compile(r"[\s-]{1,3}")
"""What may stand between two words that share a mark."""
_MARKUP_AT_START = re.compile(r"(?:[#>*+-]+|\d+[.)])\s+")

Groups = Mapping[str, int]
"""For each word that is looked for, which word of the query it stands for."""


class FoundWord(NamedTuple):
    """A word that was found."""

    start: int
    end: int
    group: int


class Snippet(NamedTuple):
    """A passage as it may be shown, what was masked in it, and what it is to be read with care for."""

    text: str
    masked: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def marked(text: str, groups: Groups, *, masks: bool = True) -> Snippet | None:
    """A short text, whole, with its words in marks; None where it has none."""
    places = find(text, groups)
    return _rendered(text, 0, len(text), places, masks=masks) if places else None


def snippets(
    text: str, groups: Groups, weights: Mapping[int, float], title: str = "", start: int = 0, *, masks: bool = True
) -> tuple[Snippet, ...]:
    """The best few passages of a text from a character on; where they are as good, not its heading."""
    places = [place for place in find(text, groups) if place.start >= start]
    windows = [_window(text, place) for place in places[:_MOST_WINDOWS]]
    values = [_value(window, places, at, weights) * _newness(text, window, title) for at, window in enumerate(windows)]
    chosen = list[tuple[int, int]]()
    for at in sorted((at for at, value in enumerate(values) if value), key=lambda at: (-values[at], windows[at][0])):
        first, last = windows[at]
        if all(last <= other[0] or first >= other[1] for other in chosen):
            chosen.append((first, last))
        if len(chosen) == MOST:
            break
    return tuple(_rendered(text, first, last, places, masks=masks) for first, last in chosen)


def find(text: str, groups: Groups) -> list[FoundWord]:
    """Where words stand in a text, in order."""
    lowered = text.lower()
    if len(lowered) != len(text) or not (text.isascii() or _is_composed(text)):
        return _found_by_word(text, groups)
    places, starts = list[FoundWord](), dict[str, int]()
    for word, group in groups.items():
        # Words that begin alike are forms of one: where their beginning is not, none of them is.
        if (beginning := word[:_ALIKE]) not in starts:
            starts[beginning] = lowered.find(beginning)
        first, count = starts[beginning], 0
        at = lowered.find(word, first) if first >= 0 else -1
        while at >= 0 and count < _MOST_PLACES:
            end = at + len(word)
            if _is_word(lowered, at, end):
                places.append(FoundWord(at, end, group))
                count += 1
            at = lowered.find(word, end)
    return sorted(places)


def _found_by_word(text: str, groups: Groups) -> list[FoundWord]:
    found = ((start, end, groups.get(as_word(text[start:end]))) for start, end in spans(text))
    return [FoundWord(start, end, group) for start, end, group in found if group is not None]


def _is_composed(text: str) -> bool:
    import unicodedata

    return unicodedata.is_normalized("NFC", text)


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether a word stands alone, as it was cut: in scripts without spaces each character does."""
    around = text[max(0, start - 1) : end + 1]
    if around.isascii():
        before, after = text[start - 1] if start else " ", text[end] if end < len(text) else " "
        return not (before.isalnum() or before == "_" or after.isalnum() or after == "_")
    first = max(0, start - 64)
    return (start - first, end - first) in spans(text[first : end + 64])


def _window(text: str, place: FoundWord) -> tuple[int, int]:
    """The passage around a word, within its paragraph, cut between words."""
    start, end = max(0, place.start - BEFORE), min(len(text), place.end + AFTER)
    for blank in _BLANK_LINE.finditer(text, start, place.start):
        start = blank.end()
    if following := _BLANK_LINE.search(text, place.end, end):
        end = following.start()
    if start and not text[start - 1].isspace():
        start = text.find(" ", start, min(start + _CUT_AT_WORD, place.start)) + 1 or start
    if end < len(text) and not text[end].isspace():
        end = max(text.rfind(" ", max(place.end, end - _CUT_AT_WORD), end), 0) or end
    return start, end


def _value(window: tuple[int, int], places: list[FoundWord], at: int, weights: Mapping[int, float]) -> float:
    """How much of the query the passage around a place has."""
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


def _newness(text: str, window: tuple[int, int], title: str) -> float:
    """Less for a heading, nothing for one that repeats the title, which is shown anyway."""
    start, end = window
    line = text[text.rfind("\n", 0, start) + 1 : end].strip()
    if title and line.strip("#=* \t") == title:
        return 0.0
    return 0.3 if line.startswith("#") else 1.0


def _rendered(text: str, start: int, end: int, places: Iterable[FoundWord], *, masks: bool) -> Snippet:
    inside = [place for place in places if start <= place.start and place.end <= end]
    if skipped := _MARKUP_AT_START.match(text, start, inside[0].start if inside else start):
        start = skipped.end()
    hidden = _hidden(text, start, end) if masks else []
    shown = [(first, last, "") for first, last in _joined(text, inside) if not _touches(first, last, hidden)]
    pieces, done = list[str](), start
    for first, last, kind in sorted([*shown, *hidden]):
        if first >= done:
            inner = label(kind) if kind else f"<mark>{html.escape(text[first:last], quote=False)}</mark>"
            pieces += [html.escape(text[done:first], quote=False), inner]
            done = last
    pieces.append(html.escape(text[done:end], quote=False))
    line = _SPACE.sub(" ", "".join(pieces)).strip()
    is_cut_before = start > 0 and not _at_end(text, start, -1)
    is_cut_after = end < len(text) and not _at_end(text, end, 1)
    flags = dict.fromkeys(flag.kind for flag in flags_in(text[start:end]))
    masked = dict.fromkeys(kind for _, _, kind in hidden)
    dotted = ("..." if is_cut_before else "") + line + ("..." if is_cut_after else "")
    return Snippet(dotted, tuple(masked), tuple(flags))


def _hidden(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    """Where in a passage secrets stand, and of which kind."""
    found = hidden_in(text[start:end], around=surroundings(text, start, end))
    return [(start + one.start, start + one.end, one.kind) for one in found]


def _touches(first: int, last: int, hidden: list[tuple[int, int, str]]) -> bool:
    return any(first < end and start < last for start, end, _ in hidden)


def _joined(text: str, places: list[FoundWord]) -> list[tuple[int, int]]:
    """The places with those that follow each other taken together."""
    joined = list[tuple[int, int]]()
    for place in places:
        if joined and (place.start <= joined[-1][1] or _BETWEEN.fullmatch(text, joined[-1][1], place.start)):
            joined[-1] = (joined[-1][0], max(joined[-1][1], place.end))
        else:
            joined.append((place.start, place.end))
    return joined


def _at_end(text: str, at: int, step: int) -> bool:
    """Whether a paragraph ends here."""
    near = text[max(0, at - 2) : at] if step < 0 else text[at : at + 2]
    return "\n\n" in near or (
        step < 0 and _MARKUP_AT_START.match(text, text.rfind("\n", 0, at - 1) + 1, at) is not None
    )
