"""The spelling of the words of a query: in how many chunks they occur, and what replaces those that do not occur."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dowse.protocols import Searchable
from dowse.searching import ranking_constants
from dowse.searching.query_terms import SearchQuery
from dowse.text.analysis import restore_underscores, terms_of, whole_terms_of
from dowse.text.stemming import marked_language
from dowse.text.vocabulary import similar_words

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


def term_frequencies(store: Searchable, words: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the terms of each word, and in how many chunks each of them occurs.

    A word that is more frequent in another language than English is represented by its stem in that language.
    """
    terms = {word: terms_of(word) for word in words}
    known = store.chunk_frequencies({term for found in terms.values() for term in found})
    frequencies = {word: {term: known[term] for term in found} for word, found in terms.items()}
    for word, foreign in store.foreign_terms(terms).items():
        best = max(foreign, key=foreign.__getitem__)
        if foreign[best] > max(frequencies[word].values(), default=0):
            language = marked_language(best)
            frequencies[word] = {term: count for term, count in foreign.items() if marked_language(term) == language}
    return frequencies


def unknown_words(store: Searchable, words: Iterable[str]) -> list[str]:
    """Return the words of which no part occurs in the index."""
    terms = term_frequencies(store, _WORD.findall(" ".join(words)))
    return [word for word, found in terms.items() if found and not any(found.values())]


def _closest_word(word: str, known: dict[str, int]) -> str | None:
    """Return the known word with the fewest letters changed; of equals the more frequent one."""
    max_typos = 1 if len(word) < 2 * ranking_constants.MIN_CORRECTED_LENGTH else 2
    near = similar_words(word, known.keys(), max_typos)
    return min(near, key=lambda found: (found[1], -known[found[0]], found[0]))[0] if near else None
