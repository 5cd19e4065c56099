"""Passages of a text around the words of a query: finding the words, and choosing what is shown of the text."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from heapq import heapify, heappop, heapreplace
from math import fsum
from string import ascii_lowercase, digits
from typing import NamedTuple

PASSAGE_CHARACTERS, CHARACTERS_BEFORE = 300, 100
"""Characters of a passage of prose, and how many of them are before the word it is made for."""
MAX_WINDOWS = 50
"""Further places in a text are not considered: in a long text they add only time."""
SHOWN_AGAIN = 0.1
"""The share of its weight that a word has in a passage, if another passage shows it."""
_MAX_PLACES_PER_WORD = 25
"""Further places of the same word are ignored."""
_WORD_BREAK_CHARACTERS = 15
_MIN_SENTENCES = 0.5
"""A passage ends with a sentence if that leaves at least this share of it."""
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])[\"')\]*_`]*\s+|(?<=[。！？])|\n(?=[ \t]*(?:[-*+#>|]|\d+[.)])[ \t])")
"""The text between two sentences, or the line end before an item, a heading or a row of a table."""
_PART_CHARACTERS, _SPLIT_CHARACTERS = 4_000, 200
"""Characters of a text that are searched for words at a time; and where some are not plain, that are split into words."""
_BLANK_LINE = re.compile(r"\n[ \t]*\n")

Groups = Mapping[str, int]
"""For each word to find, the number of the query word that it matches."""
Window = tuple[int, int]
"""The start and end of a passage."""


class FoundWord(NamedTuple):
    """The place of a found word."""

    start: int
    end: int
    group: int


class Splitting(NamedTuple):
    """How texts are split into words."""

    spans: Callable[[str], Iterable[tuple[str, int, int]]]
    """Returns the words of a text as they are compared, with their places."""
    is_plain: Callable[[str], bool]
    """Returns whether the words of a text are compared as they are written, but for their case."""
    letters: Set[str] = frozenset(ascii_lowercase + digits)
    """The ASCII characters that words are made of, in lower case."""
    fold_case: Callable[[str], str] = str.lower


def find_words(text: str, groups: Groups, splitting: Splitting) -> Iterator[FoundWord]:
    """Yield the places of words in a text, in order.

    The text is read a part at a time: the beginning of a long text usually has as many places as are looked at.
    """
    left, end = dict.fromkeys(groups, _MAX_PLACES_PER_WORD), 0
    while left and end < len(text):
        start, end = end, text.find(" ", end + _PART_CHARACTERS)
        end = end if end >= 0 else len(text)
        for first, last, word in sorted(_find_in_part(text[start:end], left, splitting)):
            yield FoundWord(start + first, start + last, groups[word])
            left[word] -= 1
        left = {word: places for word, places in left.items() if places > 0}


def first_places(found: Iterable[FoundWord], start: int, after: int) -> list[FoundWord]:
    """Return the places from a character on that windows are made for, and others behind them that these may show."""
    places = list[FoundWord]()
    for place in found:
        if len(places) >= MAX_WINDOWS and place.start >= places[MAX_WINDOWS - 1].end + after:
            break
        if place.start >= start:
            places.append(place)
    return places


def _find_in_part(part: str, left: Mapping[str, int], splitting: Splitting) -> Iterator[tuple[int, int, str]]:
    """Yield the first places of each word, as many as are left."""
    lowered = splitting.fold_case(part)
    if len(lowered) != len(part) or not splitting.is_plain(part):
        # Mostly, a few words are written otherwise: only the text around them is split.
        middle = part.find(" ", len(part) // 2) if len(part) > _SPLIT_CHARACTERS else -1
        if middle < 0:
            yield from ((start, end, word) for word, start, end in splitting.spans(part) if word in left)
            return
        yield from _find_in_part(part[:middle], left, splitting)
        for start, end, word in _find_in_part(part[middle:], left, splitting):
            yield middle + start, middle + end, word
        return
    for word, most in left.items():
        at, count, size = lowered.find(word), 0, len(word)
        while at >= 0 and count < most:
            if _is_word(lowered, at, at + size, splitting):
                yield at, at + size, word
                count += 1
            at = lowered.find(word, at + size)


def _is_word(text: str, start: int, end: int, splitting: Splitting) -> bool:
    """Return whether a match is a whole word; in scripts without spaces each character is one."""
    before, after = text[start - 1] if start else " ", text[end : end + 1]
    if before in splitting.letters or after in splitting.letters:
        return False
    if before.isascii() and after.isascii() and text[start].isascii() and text[end - 1].isascii():
        return True
    first = max(0, start - 64)
    wanted = (start - first, end - first)
    return any(span[1:] == wanted for span in splitting.spans(text[first : end + 64]))


def window_around(text: str, place: FoundWord, before: int, after: int, *, in_paragraph: bool = False) -> Window:
    """Return the passage around a word; it begins in the paragraph of the word, or is within it.

    It is cut between sentences where that leaves enough of it, else between words.
    """
    start, end = max(0, place.start - before), min(len(text), place.end + after)
    for blank in _BLANK_LINE.finditer(text, start, place.start):
        start = blank.end()
    if in_paragraph and (following := _BLANK_LINE.search(text, place.end, end)):
        end = following.start()
    if start and not text[start - 1].isspace():
        first = _SENTENCE_BREAK.search(text, start, place.start + 1)
        word = text.find(" ", start, min(start + _WORD_BREAK_CHARACTERS, place.start)) + 1
        start = first.end() if first and first.end() <= place.start else word or start
    if end < len(text) and not text[end].isspace():
        ends = [last.start() for last in _SENTENCE_BREAK.finditer(text, place.end, end)]
        word = max(text.rfind(" ", max(place.end, end - _WORD_BREAK_CHARACTERS), end), 0)
        end = ends[-1] if ends and ends[-1] - start >= _MIN_SENTENCES * (end - start) else word or end
    return start, end


def best_window(text: str, places: list[FoundWord], weights: Mapping[int, float]) -> Window | None:
    """Return the passage with the most important words; None without any."""

    def cut(place: FoundWord) -> Window:
        after = PASSAGE_CHARACTERS - min(CHARACTERS_BEFORE, place.start) - (place.end - place.start)
        return window_around(text, place, CHARACTERS_BEFORE, max(0, after))

    return next(iter(choose_windows(places, weights, 1, cut, reach=(CHARACTERS_BEFORE, PASSAGE_CHARACTERS))), None)


def choose_windows(
    places: list[FoundWord],
    weights: Mapping[int, float],
    count: int,
    window_of: Callable[[FoundWord], Window],
    *,
    reach: tuple[int, int],
    factor: Callable[[Window], float] = lambda _: 1.0,
) -> list[Window]:
    """Return the best windows around places, which do not overlap; by the query words in each that none before has.

    A window reaches at most `reach` characters before and after its word, and its factor is at most 1. So most windows
    need not be cut: with all words within reach they would weigh less than the best ones, or begin later.
    """
    queue = [
        (-weight, max(0, places[at].start - reach[0]), at, -1)
        for at, weight in enumerate(_max_weights(places, weights, reach))
    ]
    heapify(queue)
    windows, chosen, shown = dict[int, Window](), list[Window](), set[int]()
    while queue and len(chosen) < count:
        weight, _, at, weighed_after = queue[0]
        if weighed_after < len(chosen):
            window = windows[at] = windows.get(at) or window_of(places[at])
            groups = _groups_in(window, places, at)
            new, old = (_sum_weights(some, weights) for some in (groups - shown, groups & shown))
            heapreplace(queue, (-(new + SHOWN_AGAIN * old) * factor(window), window[0], at, len(chosen)))
        else:
            heappop(queue)
            start, end = windows[at]
            if weight and all(end <= other[0] or start >= other[1] for other in chosen):
                chosen.append((start, end))
                shown |= _groups_in((start, end), places, at)
    return chosen


def _max_weights(places: list[FoundWord], weights: Mapping[int, float], reach: tuple[int, int]) -> Iterator[float]:
    """Yield, for each place, a weight that the window around it does not exceed."""
    first = last = 0
    counts: dict[int, int] = {}
    for place in places:
        while last < len(places) and places[last].start < place.end + reach[1]:
            counts[places[last].group] = counts.get(places[last].group, 0) + 1
            last += 1
        while places[first].start < place.start - reach[0]:
            counts[places[first].group] -= 1
            first += 1
        yield _sum_weights((group for group, number in counts.items() if number), weights)


def _groups_in(window: Window, places: list[FoundWord], at: int) -> set[int]:
    """Return the query words in the passage around a place."""
    start, end = window
    groups, near = set[int](), at
    while near < len(places) and places[near].start < end:
        if places[near].end <= end:
            groups.add(places[near].group)
        near += 1
    while at >= 0 and places[at].start >= start:
        groups.add(places[at].group)
        at -= 1
    return groups


def _sum_weights(groups: Iterable[int], weights: Mapping[int, float]) -> float:
    return fsum(weights.get(group, 0.0) for group in groups)  # the same in any order


def add_marks(shown: str, mark: str, *, is_cut_before: bool, is_cut_after: bool) -> str:
    """Return a passage with marks where it was cut, and a space between a full stop and a mark."""
    space = " " if shown.endswith((".", "!", "?")) else ""
    return f"{mark if is_cut_before else ''}{shown}{f'{space}{mark}' if is_cut_after else ''}"


def cut_line(line: str, max_characters: int, first_match: Callable[[str], int | None]) -> str:
    """Return a line, and of a longer one the part around its first match."""
    if len(line) <= max_characters:
        return line
    at, before = first_match(line) or 0, max_characters // 4
    start, end = window_around(line, FoundWord(at, at, 0), before, max_characters - min(at, before))
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
