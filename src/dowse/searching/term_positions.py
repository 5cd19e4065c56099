"""The terms of a query that decide which lines answer it, and their positions in a text.

They are found without an analysis of all words of the text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nlargest

from dowse.searching import ranking_constants
from dowse.searching.pasted_text import Frame
from dowse.searching.query_terms import SearchQuery
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
    data, found = text.encode("utf-8", "replace"), set[str]()
    for _, term in _find_in_ascii(data, data.lower(), terms):
        found.add(term)
        if len(found) == len(terms):
            return found
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


_LONG_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class WantedLines:
    """The terms, names and lines of a query that decide which lines of a file answer it."""

    terms: Mapping[str, float]
    """The rarest terms of the query, each with its rarity."""
    title_terms: Mapping[str, float] = field(default_factory=dict)
    """Those of the title of pasted text."""
    words: frozenset[str] = frozenset()
    """The words of the query as they are written, which may be names."""
    symbols: frozenset[str] = frozenset()
    """The names in a query that is a name."""
    frames: tuple[Frame, ...] = ()
    """The lines that a traceback in the query names."""
    all_terms: Mapping[str, float] = field(default_factory=dict)
    """All its terms, for a document that has none of the rarest."""

    @property
    def definition_terms(self) -> Mapping[str, float]:
        """The weights of the terms for definitions: in pasted text those of the title count as much as all others."""
        if not self.title_terms:
            return self.terms
        total, of_title = sum(self.terms.values()) or 1.0, sum(self.title_terms.values())
        return {
            term: self.terms.get(term, 0.0) / total + self.title_terms.get(term, 0.0) / of_title
            for term in {**self.terms, **self.title_terms}
        }

    @classmethod
    def of(
        cls,
        query: SearchQuery,
        terms: Mapping[str, float],
        title_terms: Mapping[str, float] | None = None,
        *,
        ranks_definitions: bool = False,
    ) -> "WantedLines":
        """Return what a query with these terms says; of each set of terms the rarest count, more for definitions."""
        limit = ranking_constants.DEFINITION_TERMS if ranks_definitions else ranking_constants.UNIT_TERMS
        return cls(
            _rarest(
                terms, ranking_constants.MIN_UNIT_RARITY if title_terms else ranking_constants.MIN_TITLE_RARITY, limit
            ),
            _rarest(title_terms or {}, ranking_constants.MIN_TITLE_RARITY, limit),
            frozenset(_LONG_WORD.findall(query.text)),
            frozenset(query.names if query.shape == "symbol" else ()),
            query.pasted.frames if query.pasted else (),
            terms,
        )


def _rarest(terms: Mapping[str, float], share: float, limit: int) -> dict[str, float]:
    """Return the terms that count within a file: those that are less rare than a share of the rarest say little."""
    least = share * max(terms.values(), default=0.0)
    best = nlargest(limit, terms, key=terms.__getitem__)
    return {term: terms[term] for term in best if terms[term] >= least}
