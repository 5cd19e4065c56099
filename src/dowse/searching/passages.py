"""Passages: the lines of a document that are shown, and the positions of query words in them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from dowse.text.analysis import terms_of

_TOKEN = re.compile(r"\w+")
_STEMS_OF_YING = frozenset({"die", "lie", "tie"})
"""The stems of `dying`, `lying` and `tying`, the only ones that do not begin like their words."""
_WORD_REST = re.compile(r"\w*")


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a document, both ends included, with their text and the symbols they define."""

    start_line: int
    end_line: int
    text: str
    symbols: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    """The kinds of secrets that are masked."""
    flags: tuple[str, ...] = ()
    flagged_lines: tuple[int, ...] = ()
    """The content warnings of the passage, and the lines of the document that caused them."""
    numbers: tuple[int, ...] = ()
    """The line number of each line of the text, 0 for a line that stands for others; empty if none is left out."""
    signature: str = ""
    """The signature of the function of which the passage is a part, if the passage does not have it."""
    whole: tuple[int, int] | None = None
    """The first and last line of the function, class or section of which the passage is a part; None if it is whole."""

    @property
    def numbered_lines(self) -> "list[tuple[int, str]]":
        """The lines of the text, each with its number; 0 for a line that stands for others."""
        lines = self.text.split("\n")
        return list(zip(self.numbers or range(self.start_line, self.start_line + len(lines)), lines, strict=True))


def terms_among(text: str, terms: frozenset[str]) -> set[str]:
    """Return those of the terms that a text has."""
    return {term for _, word in similar_words(text, terms) for term in terms_of_word(word) if term in terms}


@lru_cache(maxsize=100_000)
def terms_of_word(word: str) -> tuple[str, ...]:
    """Return the terms of a word; those of most words are cached."""
    return tuple(terms_of(word))


def similar_words(text: str, terms: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield the words of a text that may contain one of the terms, each with a position in it."""
    small = text.lower()
    if len(small) != len(text):  # a few letters become two in lower case
        small = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    for prefix in _prefixes(terms):
        at = small.find(prefix)
        while at >= 0:
            end = at + len(prefix)
            end += len(_WORD_REST.match(small, end)[0])  # type: ignore[index]  # it matches the empty text, too
            yield at, text[word_start(text, at) : end]
            at = small.find(prefix, end)


def word_start(text: str, start: int) -> int:
    """Return where the word at a position begins."""
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return start


def common_beginning(term: str) -> str:
    """Return the letters that all words of a term have: `using` becomes `use`, `policies` `polici`, `ability` `abl`."""
    return term[:-1] if term[-1] in "eiyl" and len(term) > 1 else term


@lru_cache(maxsize=64)
def _prefixes(terms: frozenset[str]) -> list[str]:
    """Return letters that a word contains if it may be one of the terms; analyzing all words takes ten times as long."""
    prefixes = {common_beginning(term) for term in terms}
    return sorted(prefixes | {f"{term[0]}y" for term in terms & _STEMS_OF_YING})


def holds_phrase(text: str, phrase: str) -> bool:
    """Return whether a text has the words of a phrase one after the other."""
    words = _TOKEN.findall(phrase.lower())
    if not words:
        return False
    expression = r"(?<!\w)" + r"\W+".join(map(re.escape, words)) + r"(?!\w)"
    return re.search(expression, text.lower()) is not None


def found_terms(text: str, terms: Mapping[str, float]) -> Iterator[tuple[int, int, str]]:
    """Yield the start and the end of each word of a text that matches the query, and the term that it has."""
    for word in _TOKEN.finditer(text):
        if term := next((term for term in terms_of_word(word[0]) if term in terms), None):
            yield *word.span(), term


def first_match(line: str, terms: Mapping[str, float]) -> int | None:
    """Return where the first matching word of a line begins; None if none matches."""
    return next((start for start, _, _ in found_terms(line, terms)), None)
