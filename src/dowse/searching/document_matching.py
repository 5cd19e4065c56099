"""Which documents a query is about at all: every word it requires, none that it excludes, in titles or texts."""

import time
from collections.abc import Collection, Iterable, Set
from typing import Literal

from dowse.protocols import Store
from dowse.searching.passages import holds_phrase
from dowse.searching.query_terms import SearchQuery
from dowse.searching.title_index import TitleIndex
from dowse.searching.verification import Current, ReadBytes, verify
from dowse.store.analysis import terms_of

MatchPlace = Literal["title", "content", "both"]

PHRASE_SECONDS = 0.2
"""How long documents may be read to tell which hold a phrase; of any left, those with all its words count."""


class DocumentMatcher:
    """Documents by what their titles, their texts or both hold."""

    def __init__(self, store: Store, read: ReadBytes, titles: TitleIndex, place: MatchPlace) -> None:
        self._store, self._read, self._titles = store, read, titles
        self._in_titles, self._in_texts = place != "content", place != "title"

    def matched(
        self, query: SearchQuery, stand_ins: tuple[str, ...], among: frozenset[int] | None
    ) -> tuple[Set[int], Set[int]]:
        """All documents that match, and those of them whose text has a word of the query.

        What a title lacks the text may have, where both are looked at.
        """
        words = (*query.positive, *stand_ins)
        texts = self._titles.texts(self._store, words) if self._in_texts else frozenset[int]()
        if query.must or query.phrases:
            required = (*query.must, *(word for phrase in query.phrases for word in phrase.split()))
            held = [self._holders(word) for word in required if terms_of(word)]
            found: Set[int] = frozenset.intersection(*held) if held else frozenset[int]()
        else:
            named = frozenset[int]().union(*map(self._titles.documents_with_word, words if self._in_titles else ()))
            found = (texts | named if named else texts) or self._called(query)
        if among is not None:
            found &= among
        if query.must_not:
            found -= self._any(query.must_not)
        found = self._by_phrases(found, query)
        return found, texts if texts <= found else texts & found

    def _holders(self, word: str) -> frozenset[int]:
        in_titles = self._titles.documents_with_word(word) if self._in_titles else frozenset[int]()
        return in_titles | self._titles.texts(self._store, (word,)) if self._in_texts else in_titles

    def _any(self, words: Iterable[str]) -> frozenset[int]:
        return frozenset[int]().union(*map(self._holders, words))

    def _called(self, query: SearchQuery) -> frozenset[int]:
        """The documents with this very title, which need not have a word in it."""
        if not self._in_titles or not query.terms or terms_of(query.text):
            return frozenset()
        return self._titles.called(query.text)

    def _by_phrases(self, found: Set[int], query: SearchQuery) -> Set[int]:
        """Those that have every phrase, and none that is excluded; as far as there is time to read them."""
        if not query.phrases and not query.not_phrases:
            return found
        unsure = found if query.phrases else found & self._holding_words_of(query.not_phrases)
        wrong, deadline = set[int](), time.monotonic() + PHRASE_SECONDS
        for number in sorted(unsure):
            if time.monotonic() > deadline:
                break
            if not self._fits(number, query):
                wrong.add(number)
        return found - wrong

    def _holding_words_of(self, phrases: Collection[str]) -> frozenset[int]:
        """Documents with all words of one of the phrases."""
        each = (
            frozenset.intersection(*(self._holders(word) for word in phrase.split()))
            for phrase in phrases
            if phrase.split()
        )
        return frozenset[int]().union(*each)

    def _fits(self, number: int, query: SearchQuery) -> bool:
        texts = [self._titles.documents[number].title] if self._in_titles else []
        if self._in_texts:
            document = self._store.documents_by_id([number]).get(number)
            current = verify(self._store, self._read, document) if document else None
            if not isinstance(current, Current):
                return False
            texts.append(current.data.decode("utf-8", "replace"))
        holds = lambda phrase: any(holds_phrase(text, phrase) for text in texts)  # noqa: E731 - both lines ask it
        return all(map(holds, query.phrases)) and not any(map(holds, query.not_phrases))
