"""The passage of a page that shows why it was found."""

from collections.abc import Iterable

import numpy as np

from dowse.screening.masking import PRIVATE_KEY_CHARACTERS, SURROUNDING_CHARACTERS, Screened, screen_text
from dowse.sites import site_constants as weights
from dowse.sites.proximity import Term, map_words_to_terms
from dowse.sites.site_postings import BODY, Postings
from dowse.sites.site_tokens import SiteTokenizer

PASSAGE_CHARACTERS = 300
_WINDOW_WORDS = 40
"""The number of words that about fit a passage."""


def best_passage(
    postings: Postings, tokenizer: SiteTokenizer, page: int, terms: Iterable[Term], *, masks: bool = True
) -> Screened:
    """Return the part of the body that has the most important words of the query; empty if it has none."""
    terms = list(terms)
    word_ids = postings.texts.word_ids(page, BODY)
    found = map_words_to_terms(postings, terms, weights.INFIX_WEIGHT / 2)[word_ids]
    positions = np.flatnonzero(found)
    if not len(positions):
        return Screened("")
    text = postings.texts.field_bytes(page, BODY)
    _, starts, ends = tokenizer.tokenize(text)
    first, last = _best_window(
        positions.tolist(), found[positions].tolist(), [0.0, *(term.importance for term in terms)]
    )
    if last >= len(starts):
        return Screened("")
    start, end = int(starts[first]), int(ends[last])
    return screen_text(
        _cut_passage(text, start, end), around=_surroundings(text, start, end) if masks else "", masks=masks
    )


def _surroundings(text: bytes, start: int, end: int) -> str:
    """Return the text around a passage, which the screening needs to recognize secrets that are cut."""
    wide = text[max(0, start - PRIVATE_KEY_CHARACTERS) : end + PRIVATE_KEY_CHARACTERS]
    if b"PRIVATE KEY" not in wide:
        wide = text[
            max(0, start - PASSAGE_CHARACTERS - SURROUNDING_CHARACTERS) : end
            + PASSAGE_CHARACTERS
            + SURROUNDING_CHARACTERS
        ]
    return wide.decode("utf-8", "ignore")


def _best_window(positions: list[int], term_numbers: list[int], importances: list[float]) -> tuple[int, int]:
    """Return the first and last word of the window that has the most important words of the query."""
    best, window, first = -1.0, (0, 0), 0
    for at, position in enumerate(positions):
        while position - positions[first] > _WINDOW_WORDS:
            first += 1
        total = sum(importances[number] for number in set(term_numbers[first : at + 1]))
        if total > best + 1e-9:
            best, window = total, (positions[first], position)
    return window


def _cut_passage(text: bytes, start: int, end: int) -> str:
    """Return the text from start to end with as much around it as fits, on one line, cut between words."""
    room = max(0, PASSAGE_CHARACTERS - (end - start))
    before = text[max(0, start - room // 3) : start].decode("utf-8", "ignore")
    inside = text[start:end].decode("utf-8", "ignore")
    after = text[end : end + room - len(before.encode())].decode("utf-8", "ignore")
    if start - room // 3 > 0:
        before = "…" + (before.partition(" ")[2] or before)
    if "\n\n" in before:
        before = before.rpartition("\n\n")[2]
    rest = inside + after
    if end + len(after.encode()) < len(text):
        rest = inside + (after.rpartition(" ")[0] or after) + "…"
    return " ".join((before + rest).split())
