"""The terms of a search query: words, `+required`, `-excluded`, `"phrases"`, and its shape.

Words that do not occur in the index are replaced by those that it spells almost like them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dowse.protocols import Searchable
from dowse.reading.languages import is_language
from dowse.searching import ranking_constants
from dowse.searching.pasted_text import PastedText, take_apart
from dowse.text import query_syntax
from dowse.text.analysis import (
    detect_language,
    marked_language,
    other_forms,
    remove_separators,
    restore_underscores,
    terms_of,
    whole_terms_of,
)
from dowse.text.vocabulary import similar_words
from dowse.types import TextQuery

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
"""A word that is written like an identifier: `getUser`, `max_size`, `_private`, `Session`."""


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
        names = tuple(filter(_MIXED.search, candidates))
        # An identifier of several parts, which no sentence of a pasted text begins with: not `Session`.
        return tuple(name for name in names if not (name.istitle() or name.isupper())) if self.is_pasted else names


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


_WORD = re.compile(r"\w+")


class Spelling(NamedTuple):
    """The words of a query that do not occur in the index, and the words that replace them."""

    unknown: Sequence[str]
    corrected: Mapping[str, str]


NO_CORRECTIONS = Spelling((), {})


def check_spelling(
    store: Searchable, query: SearchQuery, *, writes_names: bool = False
) -> tuple[SearchQuery, Spelling]:
    """Find the words that do not occur, and replace those that are similar to one that does.

    Return the query too, with the names of definitions as they are written, if that is asked for: `HTTPServer` for
    `httpserver`. Pasted text is not checked: what its author saw is spelled correctly, and names of other projects do not
    occur.
    """
    if query.is_pasted:
        return query, NO_CORRECTIONS
    terms = term_frequencies(store, _WORD.findall(" ".join(query.positive)))
    unknown = [word for word, found in terms.items() if found and not any(found.values())]  # no part of it occurs
    names = {word: name for word in unknown if writes_names and (name := _written_name(store, word))}
    if names:
        text, *typed = (
            _WORD.sub(lambda word: names.get(word[0], word[0]), text) for text in (query.text, *query.terms)
        )
        query = replace(query, terms=tuple(typed), text=text)
        unknown = [word for word in unknown if word not in names]
    return query, Spelling(unknown, _corrections(store, unknown))


def _corrections(store: Searchable, unknown: Iterable[str]) -> dict[str, str]:
    """Return the most similar indexed word for each unknown word, if one is similar enough."""
    found: dict[str, str] = {}
    least = ranking_constants.MIN_CORRECTED_LENGTH
    for whole in (whole for word in unknown for whole in whole_terms_of(word) if len(whole) >= least):
        known = dict(store.words_with_prefix(whole[:2], ranking_constants.CORRECTION_CANDIDATES))
        near = similar_words(whole, known.keys(), 1 if len(whole) < 2 * least else 2)
        # The fewest letters changed, of equals the most frequent word. Words of hidden files are counted, and not shown.
        ordered = sorted(near, key=lambda one: (one[1], -known[one[0]], one[0]))
        for best in (restore_underscores(word) for word, _ in ordered):
            if store.documents_with_word(best):
                found[restore_underscores(whole)] = best
                break
    return found


def _written_name(store: Searchable, word: str) -> str | None:
    """Return the name of a definition that has the same letters in other capitals, or with underscores."""
    hits = store.find_chunks(TextQuery((word,), {"names": 1.0}), 1)
    chunks = store.chunks_by_id(hit.id for hit in hits).values()
    names = (symbol.name for chunk in chunks for symbol in chunk.symbols)
    return next((name for name in names if remove_separators(name).lower() == word.lower()), None)


def term_frequencies(store: Searchable, words: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the terms of each word, and in how many chunks each of them occurs.

    A word that is more frequent in another language than English is represented by its stem in that language, and a word
    that does not occur by its short or long forms that do.
    """
    terms = {word: terms_of(word) for word in words}
    known = store.chunk_frequencies(counted_terms(term for found in terms.values() for term in found))
    frequencies = {word: _known_forms(found, known) for word, found in terms.items()}
    for word, foreign in store.foreign_terms(terms).items():
        best = max(foreign, key=foreign.__getitem__)
        if foreign[best] > max(frequencies[word].values(), default=0):
            language = marked_language(best)
            frequencies[word] = {term: count for term, count in foreign.items() if marked_language(term) == language}
    return frequencies


def counted_terms(terms: Iterable[str]) -> set[str]:
    """Return terms with their short and long forms, which are counted with them."""
    return {form for term in terms for form in (term, *other_forms(term))}


def _known_forms(terms: Iterable[str], known: Mapping[str, int]) -> dict[str, int]:
    """Return the frequencies of terms; instead of one that does not occur, those of its forms that do."""
    found: dict[str, int] = {}
    for term in terms:
        forms = [form for form in other_forms(term) if known[form]] if not known[term] else []
        found |= {form: known[form] for form in forms or [term]}
    return found


MAX_TYPED_CHARACTERS = 200
"""Maximum length of a query that counts as typed. The longest of the 413 queries of `eval/code-search` has 100."""
_PROGRAMS = (
    "apt bash brew bundle bun cargo cat chmod cmake composer conda cp curl deno docker dotnet find gcc gem git go gradle "
    "grep helm java kubectl ln ls make mvn mypy node npm npx pip pipx pnpm poetry psql pytest python rake rg rm rsync "
    "ruby ruff rustc scp sed sh ssh sudo systemctl tar terraform tox uv uvx wget yarn"
)
_PROGRAM = rf"(?:{_PROGRAMS.replace(' ', '|')})[\d.]*"
_PASTED = re.compile(
    rf"""
    \n                                              # several lines
    | ```|`[^`\s][^`]*`                             # code in Markdown
    | \]\(\w                                        # a link in Markdown
    | \bFile\ "[^"]+",\ line\ \d                    # a frame of a traceback
    | \b\w*(?:Error|Exception|Warning|Traceback)\b(?:\ \([^)]*\))?:  # the message of an exception
    | ^[\[{{].*[\]}}]$ | "[\w.-]+"\s*:\s*(?:["\d{{\[]|-\d|true|false|null)  # JSON
    | <\w+\s[^<>]*=[^<>]*>                          # an element of HTML or XML
    | \w\([^()]*[,="'][^()]*\)                      # a call with arguments
    | \s(?:[=!]=|[-+*/]?=)\s | [;{{]$               # a statement
    | ^[$%]\s\S                                     # a prompt
    | ^(?:\[[\w\ ]+\]\s|[\w/.-]+:\s)?[Ff]ix(?:e[sd]|ing)?[\s(:]\S*(?:\s+\S+){{2}}  # an order to mend something
    | \w\s(?:.*\s)?--[a-z][\w-]+                    # a command line with a long option
    | ^(?:sudo\s+)?{_PROGRAM}\s(?:.*\s)?-[A-Za-z](?:\s|$)  # a command line with an option of one letter
    """,
    re.VERBOSE,
)


def is_pasted(text: str) -> bool:
    """Return whether a query is pasted text rather than words and operators that someone typed on one line."""
    text = text.strip()
    return len(text) > MAX_TYPED_CHARACTERS or _PASTED.search(text) is not None
