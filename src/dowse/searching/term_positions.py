"""Positions of the terms of a query in a text, without an analysis of all its words."""

import re
from collections.abc import Iterator
from functools import lru_cache

from dowse.text.analysis import ASCII_LETTERS, begins_term, terms_of

LONG_TERM = 7
"""Letters of a term that is found in a line by its beginning."""

_STEMS_OF_YING = frozenset({"die", "lie", "tie"})
"""The stems of `dying`, `lying` and `tying`, the only ones that do not begin like their words."""
_LINE_END = ord("\n")
_SIGNS = frozenset(range(128)) - ASCII_LETTERS
_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]*")


@lru_cache(maxsize=100_000)
def terms_of_word(word: str) -> tuple[str, ...]:
    """Return the terms of a word; those of most words are cached."""
    return tuple(terms_of(word))


def terms_among(text: str, terms: frozenset[str]) -> set[str]:
    """Return those of the terms that a text has."""
    data = text.encode("utf-8", "replace")
    return {term for _, term in _find_terms(data, _lowered(data, terms), terms)}


def terms_by_line(data: bytes, terms: frozenset[str]) -> dict[int, list[str]]:
    """Return the terms in each line of a text in UTF-8, by the position of the line; lines end at LF.

    A long term is found by its beginning, once in a line: an analysis of its words would take longer.
    """
    import numpy as np  # here because a command that needs no vectors starts without it

    lowered, long_terms = _lowered(data, terms), frozenset(term for term in terms if len(term) >= LONG_TERM)
    occurrences = [
        (at, term) for term in sorted(long_terms) for at in _positions(lowered, _common_beginning(term).encode())
    ]
    occurrences += _find_terms(data, lowered, terms - long_terms)
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _LINE_END)
    found: dict[int, list[str]] = {}
    for line, (_, term) in zip(ends.searchsorted([at for at, _ in occurrences]).tolist(), occurrences, strict=True):
        in_line = found.setdefault(line, [])
        if term not in long_terms or term not in in_line:
            in_line.append(term)
    return found


def _find_terms(data: bytes, lowered: bytes, terms: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield every occurrence of the terms in a text, with its position."""
    data += b"\n"
    for beginning, possible in _beginnings(terms):
        known: dict[bytes, str] = {}
        for at in _positions(lowered, beginning):
            if data[at - 1] in _SIGNS or begins_term(data, at):
                word = _WORD.match(data, at)[0]  # type: ignore[index]  # it matches the empty text, too
                term = known.get(word)
                if term is None:
                    term = next(iter(terms_of_word(word.decode("utf-8", "replace"))), "")
                    term = known[word] = term if term in possible else ""
                if term:
                    yield at, term


def _positions(data: bytes, part: bytes) -> Iterator[int]:
    """Yield where a part begins. Splitting takes a quarter of the time of a search for each occurrence."""
    at, length = 0, len(part)
    *pieces, _ = data.split(part)
    for piece in pieces:
        at += len(piece)
        yield at
        at += length


def _lowered(data: bytes, terms: frozenset[str]) -> bytes:
    """Return a text in lower case, with every letter in its place; letters beyond ASCII only if the terms have some."""
    if not all(map(str.isascii, terms)):
        lowered = data.decode("utf-8", "replace").lower().encode()
        if len(lowered) == len(data):
            return lowered
    return data.lower()


def _common_beginning(term: str) -> str:
    """Return the letters that all words of a term have: `using` becomes `use`, `policies` `polici`, `ability` `abl`."""
    return term[:-1] if term[-1] in "eiyl" and len(term) > 1 else term


@lru_cache(maxsize=64)
def _beginnings(terms: frozenset[str]) -> list[tuple[bytes, frozenset[str]]]:
    """Return letters that a word begins with if it may be one of the terms, and those terms."""
    beginnings: dict[str, set[str]] = {}
    for term in terms:
        beginnings.setdefault(_common_beginning(term), set()).add(term)
        if term in _STEMS_OF_YING:
            beginnings.setdefault(f"{term[0]}y", set()).add(term)
    return [(letters.encode(), frozenset(possible)) for letters, possible in sorted(beginnings.items())]
