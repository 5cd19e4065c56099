"""Highlights: the title, the question and passages of a hit as HTML, with the found words in `<mark>` elements."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

from dowse.archives.archive_types import Highlight
from dowse.screening.masking import screen_text
from dowse.searching.passages import Passage, found_terms, without_front_matter
from dowse.text.excerpts import FoundWord, add_marks, choose_windows, window_around

CHARACTERS_BEFORE, CHARACTERS_AFTER = 60, 140
"""Characters of a snippet before and after the word it is made for."""
MAX_SNIPPETS = 3
"""Maximum number of snippets of one field."""
HEADING_FACTOR = 0.3
"""The weight of a heading; other passages have 1."""
_SPACE = re.compile(r"\s+")
_BETWEEN = re.compile(r"[\s-]{1,3}")
"""Text between two words that share one `<mark>` element."""
_MARKUP_AT_START = re.compile(r"(?:[#>*+-]+|\d+[.)])\s+")

Terms = Mapping[str, float]


def make_highlights(
    title: str, question: str, passage: Passage | None, terms: Terms, *, masks: bool
) -> tuple[Highlight, ...]:
    """Return the fields of a document that have words of the query; the passage is masked already."""
    found = list[Highlight]()
    names: tuple[tuple[Literal["title", "question"], str], ...] = (("title", title), ("question", question))
    for field, text in names:
        screened = screen_text(text, masks=masks)
        if places := _places(screened.text, terms):
            snippet = _render(screened.text, (0, len(screened.text)), places)
            masked, flags = (sorted({one.kind for one in some}) for some in (screened.masked, screened.flags))
            found.append(Highlight(field, [snippet], masked, flags))
    if passage and (snippets := _make_snippets(without_front_matter(passage), terms, title)):
        found.append(Highlight("content", snippets, list(passage.masked), sorted(set(passage.flags))))
    return tuple(found)


def _places(text: str, terms: Terms) -> list[FoundWord]:
    groups = {term: number for number, term in enumerate(terms)}
    return [FoundWord(start, end, groups[term]) for start, end, term in found_terms(text, terms)]


def _make_snippets(text: str, terms: Terms, title: str) -> list[str]:
    """Return the best few parts of a passage. Headings come after other parts, and one that is the title is none."""
    places, weights = _places(text, terms), dict(enumerate(terms.values()))
    cut = partial(window_around, text, before=CHARACTERS_BEFORE, after=CHARACTERS_AFTER, in_paragraph=True)

    def factor(window: tuple[int, int]) -> float:
        line = text[text.rfind("\n", 0, window[0]) + 1 : window[1]].strip()
        return 0.0 if line.strip("#=* \t") == title else HEADING_FACTOR if line.startswith("#") else 1.0

    reach = (CHARACTERS_BEFORE, CHARACTERS_AFTER)
    chosen = choose_windows(places, weights, MAX_SNIPPETS, cut, reach=reach, factor=factor)
    return [_render(text, window, places) for window in chosen]


def _render(text: str, window: tuple[int, int], places: Iterable[FoundWord]) -> str:
    start, end = window
    inside = [place for place in places if start <= place.start and place.end <= end]
    if skipped := _MARKUP_AT_START.match(text, start, inside[0].start if inside else start):
        start = skipped.end()
    pieces, done = list[str](), start
    for first, last in _join_adjacent(text, inside):
        pieces += [_escape(text[done:first]), f"<mark>{_escape(text[first:last])}</mark>"]
        done = last
    line = _SPACE.sub(" ", "".join((*pieces, _escape(text[done:end])))).strip()
    is_cut_before = start > 0 and not _begins_paragraph(text, start)
    is_cut_after = end < len(text) and "\n\n" not in text[end : end + 2] and bool(text[end:].strip())
    return add_marks(line, "...", is_cut_before=is_cut_before, is_cut_after=is_cut_after)


def _escape(text: str) -> str:
    return html.escape(text, quote=False)


def _join_adjacent(text: str, places: Sequence[FoundWord]) -> list[tuple[int, int]]:
    """Return the places as spans, with adjacent words joined."""
    joined = list[tuple[int, int]]()
    for place in places:
        if joined and (place.start <= joined[-1][1] or _BETWEEN.fullmatch(text, joined[-1][1], place.start)):
            joined[-1] = (joined[-1][0], max(joined[-1][1], place.end))
        else:
            joined.append((place.start, place.end))
    return joined


def _begins_paragraph(text: str, at: int) -> bool:
    line = text.rfind("\n", 0, at - 1) + 1
    return not text[:at].strip() or "\n\n" in text[max(0, at - 2) : at] or bool(_MARKUP_AT_START.match(text, line, at))
