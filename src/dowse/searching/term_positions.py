"""Positions of the terms of a query in a text, without an analysis of all its words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from dowse.text.analysis import (
    ASCII_LETTERS,
    begins_term,
    is_folded,
    is_form,
    marked_language,
    terms_of,
    words_beyond_ascii,
)

LONG_TERM = 7
"""Letters of a term that is found in a line by its beginning."""

_STEMS_OF_YING = frozenset({"die", "lie", "tie"})
"""The stems of `dying`, `lying` and `tying`, the only ones that do not begin like their words."""
_LINE_END = ord("\n")
_SIGNS = frozenset(range(128)) - ASCII_LETTERS
_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]*")
_ASCII = bytes(range(128))
_FIRST_WORD = re.compile(r"(?:[^\W_]|[\u0300-\u036f])*")
_TOKEN = re.compile(r"\w+")


@lru_cache(maxsize=100_000)
def terms_of_word(word: str) -> tuple[str, ...]:
    """Return the terms of a word; those of most words are cached."""
    return tuple(terms_of(word))


def terms_among(text: str, terms: frozenset[str]) -> set[str]:
    """Return those of the terms that a text has."""
    data = text.encode("utf-8", "replace")
    found = {term for _, term in _find_in_ascii(data, data.lower(), terms)}
    return found.union(term for _, term in _find_beyond_ascii(data, terms))


def terms_by_line(texts: Sequence[bytes], terms: frozenset[str]) -> list[dict[int, list[str]]]:
    """Return the terms in each line of texts in UTF-8, by the position of the line; lines end at LF.

    A long term is found by its beginning, once in a line: an analysis of its words would take longer. All texts are
    searched at once: most of them are short, and then the calls take longer than the search.
    """
    import numpy as np  # here because a command that needs no vectors starts without it

    data = b"\n".join((*texts, b""))
    lowered, long_terms = data.lower(), frozenset(term for term in terms if len(term) >= LONG_TERM and term.isascii())
    occurrences = [
        (at, term) for term in sorted(long_terms) for at in _positions(lowered, _common_beginning(term).encode())
    ]
    occurrences += _find_in_ascii(data, lowered, terms - long_terms)
    start = 0
    for text in texts:
        occurrences += [(start + at, term) for at, term in _find_beyond_ascii(text, terms)]
        start += len(text) + 1
    found: list[dict[int, list[str]]] = [{} for _ in texts]
    if not occurrences:
        return found
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _LINE_END)
    first_lines = np.cumsum([0, *(text.count(b"\n") + 1 for text in texts)])
    in_lines = ends.searchsorted([at for at, _ in occurrences])
    in_texts = first_lines.searchsorted(in_lines, "right") - 1
    in_lines -= first_lines[in_texts]
    for number, line, (_, term) in zip(in_texts.tolist(), in_lines.tolist(), occurrences, strict=True):
        in_line = found[number].setdefault(line, [])
        if term not in long_terms or term not in in_line:
            in_line.append(term)
    return found


def foreign_terms_in(word: str, terms: Iterable[str]) -> Iterator[str]:
    """Yield the stems of other languages that a word is a form of, or a compound with."""
    return (term for term in terms if marked_language(term) and is_form(word, term))


def _find_beyond_ascii(data: bytes, terms: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield the occurrences of terms in words with letters beyond ASCII, and of stems of other languages in all words."""
    is_foreign = _has_foreign(terms)
    if not is_foreign and (data.isascii() or is_folded(data.translate(None, _ASCII).decode("utf-8", "replace"))):
        return
    known: dict[str, list[str]] = {}
    start = 0
    for part in (data,) if is_foreign else data.split(b"\n"):
        if is_foreign or not part.isascii():
            text, at, end = part.decode("utf-8", "replace"), start, 0
            for word in _TOKEN.finditer(text) if is_foreign else words_beyond_ascii(text):
                found = known.get(word[0])
                if found is None:
                    own = () if is_folded(word[0]) else terms_of_word(word[0])
                    own_found = [term for term in own if term in terms]
                    found = known[word[0]] = [*own_found, *foreign_terms_in(word[0], terms)]
                if found:
                    at, end = at + len(text[end : word.start()].encode("utf-8", "replace")), word.start()
                    yield from ((at, term) for term in found)
        start += len(part) + 1


@lru_cache(maxsize=64)
def _has_foreign(terms: frozenset[str]) -> bool:
    return any(map(marked_language, terms))


def _find_in_ascii(data: bytes, lowered: bytes, terms: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield the occurrences of terms in words without letters beyond ASCII."""
    data += b"\n"
    for beginning, possible in _beginnings(terms):
        known: dict[bytes, str] = {}
        for at in _positions(lowered, beginning):
            if data[at - 1] in _SIGNS or begins_term(data, at):
                word = _WORD.match(data, at)[0]  # type: ignore[index]  # it matches the empty text, too
                term = known.get(word)
                if term is None:
                    decoded = _FIRST_WORD.match(word.decode("utf-8", "replace"))[0]  # type: ignore[index]
                    term = next(iter(terms_of_word(decoded)), "") if is_folded(decoded) else ""
                    term = known[word] = term if term in possible else ""
                if term:
                    yield at, term


def _positions(data: bytes, part: bytes) -> list[int]:
    """Return where a part begins. Splitting takes a quarter of the time of a search for each occurrence."""
    length = len(part)
    at = -length
    return [at := at + length + len(piece) for piece in data.split(part)[:-1]]


def _common_beginning(term: str) -> str:
    """Return the letters that all words of a term have: `using` becomes `use`, `policies` `polici`, `ability` `abl`."""
    return term[:-1] if term[-1] in "eiyl" and len(term) > 1 else term


@lru_cache(maxsize=64)
def _beginnings(terms: frozenset[str]) -> list[tuple[bytes, frozenset[str]]]:
    """Return letters that a word begins with if it may be one of the terms, and those terms."""
    beginnings: dict[str, set[str]] = {}
    for term in filter(str.isascii, terms):
        beginnings.setdefault(_common_beginning(term), set()).add(term)
        if term in _STEMS_OF_YING:
            beginnings.setdefault(f"{term[0]}y", set()).add(term)
    return [(letters.encode(), frozenset(possible)) for letters, possible in sorted(beginnings.items())]
