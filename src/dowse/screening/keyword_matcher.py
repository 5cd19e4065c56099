"""Which of many words a text has, found in one pass: most texts have none that matters, and need no closer look."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any


class KeywordMatcher:
    """Some words, in small letters."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)

    def find_in(self, text: str) -> set[str]:
        """Those that stand in a text, in any letter case, also within other words."""
        return {word for _, word in self._automaton.iter(text.lower())}

    @cached_property
    def _automaton(self) -> Any:
        import ahocorasick  # type: ignore[import-not-found]

        automaton = ahocorasick.Automaton()
        for word in self._words:
            automaton.add_word(word, word)
        automaton.make_automaton()
        return automaton
