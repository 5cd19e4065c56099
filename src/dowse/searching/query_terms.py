"""Parsing of a search query: words, `+required`, `-excluded`, `"phrases"`, its shape, and the lines that it wants."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from heapq import nlargest
from pathlib import Path
from typing import Any, Literal

from dowse.reading.languages import is_language
from dowse.searching import ranking_constants
from dowse.searching.pasted_text import Frame, PastedText, is_pasted, take_apart
from dowse.text import query_syntax
from dowse.text.analysis import detect_language

Shape = Literal["symbol", "path", "prose"]

MAX_CHARACTERS = 10_000
"""Maximum length of a query; the rest of a longer one is ignored."""
SENTENCE_WORDS = 4
"""Words beside the quotes from which on a query is a sentence that quotes a message, if one of them is a stop word."""
SHOWN_WORDS, SHOWN_CHARACTERS = 20, 80
"""Words of pasted text that a reply repeats, and the length of each: the caller has the text."""

_IDENTIFIER = re.compile(r"[A-Za-z_$@#][\w$@#!?]*+(?:(?:\.|::|->|#|\\|/)[A-Za-z_$][\w$!?]*)*(?:\(\))?")
_ENDINGS = (
    "bash c cc cfg clj conf cpp cs css csv dart ex exs go gradle h hpp hs html ini java jl js json jsx kt lua m md ml "
    "mjs mm php pl proto ps1 py pyi r rb rs rst sc scala scss sh sql svelte swift tf toml ts tsx txt vue xml yaml yml zig"
)
_PATH = re.compile(rf"[\w.@+-]*/[\w./@+-]*|[\w@+.-]+\.(?:{_ENDINGS.replace(' ', '|')})")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_HEADER = re.compile(r"(?<![\w-])[A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)+(?![\w-])")
"""A name whose words have capitals and hyphens, such as `If-None-Match`: code writes `ifNoneMatch` or `if_none_match`."""
_MIXED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|\w_\w|^_+\w|\w\$|\$\w|[A-Za-z]\d|^[A-Z][a-z]+$")


@dataclass(frozen=True, slots=True)
class SearchQuery(query_syntax.Query):
    """A parsed query and its shape: a symbol, a path or prose."""

    text: str = ""
    shape: Shape = "prose"
    pasted: PastedText | None = None
    """The parts of pasted text, which has no operators, and whose spelling is not corrected."""
    filters: query_syntax.QueryFilters = query_syntax.NO_FILTERS

    @property
    def is_pasted(self) -> bool:
        """Whether the text was pasted."""
        return self.pasted is not None

    @property
    def has_filters(self) -> bool:
        """Whether the query requires or excludes words, phrases or files."""
        return bool(self.must or self.must_not or self.phrases or self.not_phrases or any(self.filters))

    def without_filters(self) -> "SearchQuery":
        """Return the query with all its positive words, none of them required, in all files."""
        words = tuple(word for phrase in self.phrases for word in phrase.split())
        positive = (*self.terms, *self.must, *words)
        return SearchQuery(positive, text=" ".join(positive), shape=self.shape)

    def without_word(self, word: str) -> "SearchQuery":
        """Return a query in prose without a word that need not occur, if the other words say something."""
        if self.shape != "prose" or self.is_pasted:
            return self
        kept = tuple(term for term in self.terms if _bare(term) != word)
        is_prose_left = any(_bare(term) not in stop_words() for term in kept)
        return replace(self, terms=kept) if is_prose_left and len(kept) < len(self.terms) else self

    @property
    def typed_text(self) -> str:
        """The query as it would be typed: pasted text without the quotes and signs that would be operators."""
        if not self.is_pasted:
            return self.text
        return " ".join(word.lstrip("+-") for word in self.text.replace('"', " ").split())

    def as_json(self) -> dict[str, Any]:
        """Return the query in the form that replies show; of pasted text only the first words."""
        if not self.is_pasted:
            filters = {"filters": self.filters.as_json()} if any(self.filters) else {}
            return {**query_syntax.Query.as_json(self), **filters}
        shown = tuple(word[:SHOWN_CHARACTERS] for word in self.terms[:SHOWN_WORDS])
        return query_syntax.Query(shown).as_json()

    @property
    def positive(self) -> tuple[str, ...]:
        """All words that score, in order; without stop words, if others remain. `If-None-Match` is `IfNoneMatch`."""
        words = (*self.terms, *self.must, *(word for phrase in self.phrases for word in phrase.split()))
        if not self.is_pasted:
            words = tuple(_HEADER.sub(lambda found: found[0].replace("-", ""), word) for word in words)
        return _content_words(words) or words

    @property
    def headers(self) -> tuple[str, ...]:
        """Names with capitals and hyphens, as code writes them: `If_None_Match` and `IfNoneMatch`."""
        found = () if self.is_pasted else _HEADER.findall(" ".join(self.terms))
        return tuple(name.replace("-", sign) for name in found for sign in ("_", ""))

    @property
    def names(self) -> tuple[str, ...]:
        """Words that look like identifiers; of a query that is a symbol, all its parts, the last one first."""
        if self.shape == "symbol":
            parts = _NAME.findall(self.text)
            return tuple(dict.fromkeys(reversed(parts)))
        candidates = dict.fromkeys(_NAME.findall(" ".join(self.positive)))
        is_identifier = _is_compound_identifier if self.is_pasted else _is_identifier
        return tuple(filter(is_identifier, candidates))


def notes_on_length(text: str) -> list[str]:
    """Return what to say about a text of which only a part is searched for."""
    is_cut = len(text) > MAX_CHARACTERS
    return [f"Only the first {MAX_CHARACTERS:,} of {len(text):,} characters were searched for."] if is_cut else []


def parse_search_query(text: str, names: Iterable[str] = ()) -> SearchQuery:
    """Parse a query, and names that are guesses of what is looked for."""
    text = text[:MAX_CHARACTERS].replace("\0", " ").strip()
    shape = _shape(text)
    if shape == "prose" and is_pasted(text):
        text = "\n".join([text, *names])
        pasted = take_apart(text)
        return SearchQuery(pasted.words or tuple(text.split()), text=text, pasted=pasted)
    typed, filters = query_syntax.split_filters(text, is_language)
    parsed = query_syntax.parse_query(typed)
    if _is_sentence(parsed, typed):
        return parse_plain_query(text, names)
    text, shape = typed, _shape(typed)
    query = SearchQuery(**asdict(parsed), text=text, shape=shape, filters=filters)
    guesses = tuple(word for name in names for word in name.split())
    if not guesses:
        return query
    joined = " ".join([text, *guesses])
    return replace(query, terms=(*query.terms, *guesses), text=joined, shape=_shape(joined))


def parse_plain_query(text: str, names: Iterable[str] = ()) -> SearchQuery:
    """Parse a query that has filters and no other operators, and names that are guesses of what is looked for."""
    text = text[:MAX_CHARACTERS].replace("\0", " ").strip()
    if is_pasted(text):
        return parse_search_query(text, names)
    text, filters = query_syntax.split_filters(text, is_language)
    words = [word.lstrip("+-") for part in (text, *names) for word in part.replace('"', " ").split()]
    joined = " ".join(filter(None, words))
    return SearchQuery(tuple(joined.split()), text=joined, shape=_shape(joined), filters=filters)


def _is_sentence(query: query_syntax.Query, text: str) -> bool:
    """Return whether a query is a sentence that quotes a message, such as the title of an issue, and has no operators."""
    if not query.phrases or query.must or query.must_not or query.not_phrases or '+"' in text:
        return False
    return len(query.terms) >= SENTENCE_WORDS and not stop_words().isdisjoint(map(_bare, query.terms))


@cache
def stop_words() -> frozenset[str]:
    """Return the stop words: words that say nothing about the subject of a query."""
    lines = Path(__file__).with_name("stopwords.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@lru_cache(maxsize=8)
def _content_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that are no stop words. A search needs them six times, and pasted text has up to 2,000 words."""
    language = detect_language(" ".join(words))
    said = stop_words() | language.common_words if language else stop_words()
    return tuple(word for word in words if _bare(word) not in said)


def _bare(word: str) -> str:
    return word.lower().strip("?!.,;:")


def _shape(text: str) -> Shape:
    if _PATH.fullmatch(text):
        return "path"
    return "symbol" if _IDENTIFIER.fullmatch(text) else "prose"


def _is_identifier(name: str) -> bool:
    """Return whether a word is written like an identifier: `getUser`, `max_size`, `_private`, `Session`."""
    return _MIXED.search(name) is not None


def _is_compound_identifier(name: str) -> bool:
    """Return whether a word is an identifier of several parts, which a sentence does not begin with: not `Session`."""
    return _is_identifier(name) and not name.istitle() and not name.isupper()


_WORD = re.compile(r"\w{3,}")


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
            frozenset(_WORD.findall(query.text)),
            frozenset(query.names if query.shape == "symbol" else ()),
            query.pasted.frames if query.pasted else (),
            terms,
        )


def _rarest(terms: Mapping[str, float], share: float, limit: int) -> dict[str, float]:
    """Return the terms that count within a file: those that are less rare than a share of the rarest say little."""
    least = share * max(terms.values(), default=0.0)
    best = nlargest(limit, terms, key=terms.__getitem__)
    return {term: terms[term] for term in best if terms[term] >= least}
