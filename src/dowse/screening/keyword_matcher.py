"""Search for many words in one pass over a text. Most texts contain none of them and need no further check."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any


class KeywordMatcher:
    """A set of words in lower case."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)

    def find_in(self, text: str) -> set[str]:
        """Return the words that a text contains, in any letter case, also within other words."""
        return {word for _, word in self._automaton.iter(text.lower())}

    @cached_property
    def _automaton(self) -> Any:
        import ahocorasick  # type: ignore[import-not-found]

        automaton = ahocorasick.Automaton()
        for word in self._words:
            automaton.add_word(word, word)
        automaton.make_automaton()
        return automaton
