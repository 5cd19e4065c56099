"""The passage of a page that shows why it was found."""

from collections.abc import Set

from dowse.screening.masking import Screened, screen_text, surroundings
from dowse.sites.site_search import SiteResults
from dowse.text.analysis import folded_spans, is_folded
from dowse.text.excerpts import PASSAGE_CHARACTERS, Splitting, add_marks, best_window, find_words, first_places

_SPLITTING = Splitting(folded_spans, is_folded)
_WRITTEN_OTHERWISE = Splitting(folded_spans, lambda _: False)
"""For words such as `C++`, which are compared in another form than they are written in."""


def best_passage(text: str, found: SiteResults, present: Set[str] | None = None, *, masks: bool = True) -> Screened:
    """Return the part of a text that has the most important words of the query; empty if it has none.

    `present` are the words of the text, if they are known.
    """
    words = found.words
    if present is not None:
        words = {word: words[word] for word in words.keys() & present}
    splitting = _SPLITTING if all(map(str.isascii, words)) else _WRITTEN_OTHERWISE
    places = first_places(find_words(text, words, splitting), 0, PASSAGE_CHARACTERS)
    importances = {number: term.importance for number, term in enumerate(found.terms)}
    window = best_window(text, places, importances)
    if window is None:
        return Screened("")
    start, end = window
    line = " ".join(text[start:end].split())
    is_cut = bool(text[:start].strip()) and text[max(0, start - 2) : start] != "\n\n"
    shown = add_marks(line, "…", is_cut_before=is_cut, is_cut_after=bool(text[end:].strip()))
    return screen_text(shown, around=surroundings(text, start, end) if masks else "", masks=masks)
