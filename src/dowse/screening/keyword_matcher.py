"""Search for many words in one pass over a text. Most texts contain none of them and need no further check."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any


class KeywordMatcher:
    """A set of words in lower case."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)

    def find_in(self, text: str) -> set[str]:
        """Return the words that a text contains, in any letter case, also within other words."""
        return {word for _, word in self._automaton.iter(text.lower())}

    def places_in(self, lowered: str) -> Iterator[tuple[int, str]]:
        """Yield each place of a word in a text in lower case: its end, and the word; those that end first come first."""
        return ((last + 1, word) for last, word in self._automaton.iter(lowered))

    @cached_property
    def _automaton(self) -> Any:
        import ahocorasick  # type: ignore[import-not-found]

        automaton = ahocorasick.Automaton()
        for word in self._words:
            automaton.add_word(word, word)
        automaton.make_automaton()
        return automaton
