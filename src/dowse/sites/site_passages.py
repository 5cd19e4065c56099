"""The part of a page that shows why it was found."""

from collections.abc import Iterable

import numpy as np

from dowse.screening.masking import KEY_CHARACTERS, NEAR_CHARACTERS, Screened, shown
from dowse.sites import site_constants as weights
from dowse.sites.proximity import Term, map_words_to_terms
from dowse.sites.site_postings import BODY, Postings
from dowse.sites.site_tokens import SiteTokenizer

PASSAGE_CHARACTERS = 300
_WINDOW_WORDS = 40
"""About as many as fit."""


def best_passage(
    postings: Postings, tokenizer: SiteTokenizer, page: int, terms: Iterable[Term], *, masks: bool = True
) -> Screened:
    """The words around the place that has most of the query; empty where the body has none of it."""
    terms = list(terms)
    numbers = postings.texts.numbers(page, BODY)
    met = map_words_to_terms(postings, terms, weights.INFIX_WEIGHT / 2)[numbers]
    places = np.flatnonzero(met)
    if not len(places):
        return Screened("")
    text = postings.texts.encoded(page, BODY)
    _, starts, ends = tokenizer.words(text)
    first, last = _best_window(places.tolist(), met[places].tolist(), [0.0, *(term.worth for term in terms)])
    if last >= len(starts):
        return Screened("")
    start, end = int(starts[first]), int(ends[last])
    return shown(_cut_passage(text, start, end), around=_surroundings(text, start, end) if masks else "", masks=masks)


def _surroundings(text: bytes, start: int, end: int) -> str:
    """What tells of secrets that were cut."""
    wide = text[max(0, start - KEY_CHARACTERS) : end + KEY_CHARACTERS]
    if b"PRIVATE KEY" not in wide:
        wide = text[max(0, start - PASSAGE_CHARACTERS - NEAR_CHARACTERS) : end + PASSAGE_CHARACTERS + NEAR_CHARACTERS]
    return wide.decode("utf-8", "ignore")


def _best_window(places: list[int], roles: list[int], worths: list[float]) -> tuple[int, int]:
    """The first and last word of the window that has the most telling words of the query."""
    best, found, first = -1.0, (0, 0), 0
    for at, place in enumerate(places):
        while place - places[first] > _WINDOW_WORDS:
            first += 1
        worth = sum(worths[role] for role in set(roles[first : at + 1]))
        if worth > best + 1e-9:
            best, found = worth, (places[first], place)
    return found


def _cut_passage(text: bytes, start: int, end: int) -> str:
    """The text from here to there with as much around it as fits, on one line, from a word to a word."""
    room = max(0, PASSAGE_CHARACTERS - (end - start))
    before = text[max(0, start - room // 3) : start].decode("utf-8", "ignore")
    inside = text[start:end].decode("utf-8", "ignore")
    after = text[end : end + room - len(before.encode())].decode("utf-8", "ignore")
    if start - room // 3 > 0:
        before = "…" + (before.partition(" ")[2] or before)
    if "\n\n" in before:
        before = before.rpartition("\n\n")[2]
    shown = inside + after
    if end + len(after.encode()) < len(text):
        shown = inside + (after.rpartition(" ")[0] or after) + "…"
    return " ".join((before + shown).split())
