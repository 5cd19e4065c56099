"""The words of documents in other languages that a word of a query stands for: its forms, and compounds with it."""

from collections.abc import Callable, Iterable, Mapping
from heapq import nlargest
from typing import NamedTuple

from dowse.text.stemming import MARK, MIN_PART_CHARACTERS, Language, languages, mark_stem, split_compound, stem_words
from dowse.text.vocabulary import Vocabulary

COMPOUND_WEIGHT = 0.5
"""Weight of a compound that begins or ends with the word, and of the parts of a compound."""
MAX_COMPOUNDS = 20
"""Compounds with one word that are looked for: the most frequent ones."""
MAX_STEMS = 200_000
"""Stems of a language in which compounds are looked for."""

TermsWithPrefix = Callable[[str, int], list[tuple[str, int]]]
"""Returns terms that begin with a prefix, each with its frequency."""


class ForeignTerm(NamedTuple):
    """A stem of another language than English that a word stands for, and the terms of the index that match it."""

    term: str
    matches: Mapping[str, float]
    """The terms, each with its weight."""
    frequency: int
    """The number of chunks that have the stem, or else the most frequent of the terms."""


class ForeignWords:
    """The stems of other languages at one state of the lexical index."""

    def __init__(self, terms_with_prefix: TermsWithPrefix) -> None:
        self._terms_with_prefix = terms_with_prefix
        self._languages = [one for one in languages() if terms_with_prefix(f"{MARK}{one.letter}", 1)]
        self._vocabularies: dict[str, Vocabulary] = {}
        self._found: dict[str, list[ForeignTerm]] = {}

    def find(self, words: Iterable[str]) -> dict[str, list[ForeignTerm]]:
        """Return the stems that words stand for in the languages of the index, as far as documents have them."""
        if not self._languages:
            return {}
        return {word: found for word in words if (found := self._terms_of(word))}

    def _terms_of(self, word: str) -> list[ForeignTerm]:
        if word not in self._found:
            stems = ((stem, language) for language in self._languages for stem in stem_words(word, language))
            self._found[word] = [term for one in stems for term in self._terms_of_stem(*one)]
        return self._found[word]

    def _terms_of_stem(self, stem: str, language: Language) -> list[ForeignTerm]:
        known = self._vocabulary(language)
        matches = {stem: 1.0} if stem in known else {}
        if not language.has_compounds:
            return [_make_term(stem, matches, language, known)] if matches else []
        if len(stem) >= MIN_PART_CHARACTERS:
            longer = [word for word, is_first in known.longer_words(stem) if is_first or word.endswith(stem)]
            matches |= dict.fromkeys(nlargest(MAX_COMPOUNDS, longer, known.frequencies.__getitem__), COMPOUND_WEIGHT)
        parts = dict.fromkeys(split_compound(stem, language, known.frequencies), COMPOUND_WEIGHT)
        if matches:
            return [_make_term(stem, parts | matches, language, known)]
        return [_make_term(part, {part: weight}, language, known) for part, weight in parts.items()]

    def _vocabulary(self, language: Language) -> Vocabulary:
        if language.name not in self._vocabularies:
            found = self._terms_with_prefix(f"{MARK}{language.letter}", MAX_STEMS)
            self._vocabularies[language.name] = Vocabulary({term[2:-1]: count for term, count in found})
        return self._vocabularies[language.name]


def _make_term(stem: str, matches: Mapping[str, float], language: Language, known: Vocabulary) -> ForeignTerm:
    frequency = known.frequencies.get(stem) or max(known.frequencies[one] for one in matches)
    return ForeignTerm(
        mark_stem(stem, language), {mark_stem(one, language): weight for one, weight in matches.items()}, frequency
    )
