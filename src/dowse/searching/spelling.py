"""The spelling of the words of a query: in how many chunks they occur, and what replaces those that do not occur."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from dowse.protocols import Searchable
from dowse.searching import ranking_constants
from dowse.searching.query_terms import SearchQuery
from dowse.text.analysis import marked_language, remove_separators, restore_underscores, terms_of, whole_terms_of
from dowse.text.vocabulary import other_forms, similar_words
from dowse.types import TextQuery

_WORD = re.compile(r"\w+")


class Spelling(NamedTuple):
    """The words of a query that do not occur in the index, and the words that replace them."""

    unknown: Sequence[str]
    corrected: Mapping[str, str]


NO_CORRECTIONS = Spelling((), {})


def check_spelling(store: Searchable, query: SearchQuery) -> Spelling:
    """Find the words that do not occur, and replace those that are similar to one that does.

    Pasted text is not checked: what its author saw is spelled correctly, and names of other projects do not occur.
    """
    if query.is_pasted:
        return NO_CORRECTIONS
    unknown = unknown_words(store, query.positive)
    return Spelling(unknown, _corrections(store, unknown))


def _corrections(store: Searchable, unknown: Iterable[str]) -> dict[str, str]:
    """Return the most similar indexed word for each unknown word, if one is similar enough."""
    found: dict[str, str] = {}
    for word in unknown:
        for whole in whole_terms_of(word):
            near = (
                _closest_word(whole, dict(store.words_with_prefix(whole[:2], ranking_constants.CORRECTION_CANDIDATES)))
                if len(whole) >= ranking_constants.MIN_CORRECTED_LENGTH
                else None
            )
            if near and near != whole:
                found[restore_underscores(whole)] = restore_underscores(near)
    return found


def with_written_names(store: Searchable, query: SearchQuery) -> SearchQuery:
    """Return a query with the names of definitions as they are written: `HTTPServer` for `httpserver`.

    Only a word that does not occur is replaced.
    """
    if query.is_pasted:
        return query
    unknown = unknown_words(store, query.positive)
    names = {word: name for word in unknown if (name := _written_name(store, word))}

    def write(text: str) -> str:
        return _WORD.sub(lambda word: names.get(word[0], word[0]), text)

    return replace(query, terms=tuple(map(write, query.terms)), text=write(query.text)) if names else query


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


def unknown_words(store: Searchable, words: Iterable[str]) -> list[str]:
    """Return the words of which no part occurs in the index."""
    terms = term_frequencies(store, _WORD.findall(" ".join(words)))
    return [word for word, found in terms.items() if found and not any(found.values())]


def _closest_word(word: str, known: dict[str, int]) -> str | None:
    """Return the known word with the fewest letters changed; of equals the more frequent one."""
    max_typos = 1 if len(word) < 2 * ranking_constants.MIN_CORRECTED_LENGTH else 2
    near = similar_words(word, known.keys(), max_typos)
    return min(near, key=lambda found: (found[1], -known[found[0]], found[0]))[0] if near else None
