"""Selection of the documents that match a query: all required words and no excluded ones, in titles or texts."""

import time
from collections.abc import Collection, Iterable, Set
from typing import Literal

from dowse.protocols import Store
from dowse.searching.passages import holds_phrase
from dowse.searching.query_terms import SearchQuery
from dowse.searching.title_index import TitleIndex
from dowse.searching.verification import Current, ReadBytes, verify
from dowse.text.analysis import terms_of

MatchPlace = Literal["title", "content", "both"]

PHRASE_SECONDS = 0.2
"""Time limit for reading documents to check phrases. Documents that are not read in time count if they have all words."""


class DocumentMatcher:
    """Finds documents by the words of their titles, their texts or both."""

    def __init__(self, store: Store, read: ReadBytes, titles: TitleIndex, place: MatchPlace) -> None:
        self._store, self._read, self._titles = store, read, titles
        self._in_titles, self._in_texts = place != "content", place != "title"

    def match(
        self, query: SearchQuery, corrections: tuple[str, ...], among: frozenset[int] | None
    ) -> tuple[Set[int], Set[int]]:
        """Return all documents that match, and those of them whose text has a word of the query.

        When titles and texts are searched, a required word may be in either.
        """
        words = (*query.positive, *corrections)
        texts = self._titles.documents_with_text_words(self._store, words) if self._in_texts else frozenset[int]()
        if query.must or query.phrases:
            required = (*query.must, *(word for phrase in query.phrases for word in phrase.split()))
            matches = [self._documents_with_word(word) for word in required if terms_of(word)]
            found: Set[int] = frozenset.intersection(*matches) if matches else frozenset[int]()
        else:
            named = frozenset[int]().union(*map(self._titles.documents_with_word, words if self._in_titles else ()))
            found = (texts | named if named else texts) or self._documents_titled(query)
        if among is not None:
            found &= among
        if query.must_not:
            found -= self._documents_with_any(query.must_not)
        found = self._filter_phrases(found, query)
        return found, texts if texts <= found else texts & found

    def _documents_with_word(self, word: str) -> frozenset[int]:
        in_titles = self._titles.documents_with_word(word) if self._in_titles else frozenset[int]()
        return in_titles | self._titles.documents_with_text_words(self._store, (word,)) if self._in_texts else in_titles

    def _documents_with_any(self, words: Iterable[str]) -> frozenset[int]:
        return frozenset[int]().union(*map(self._documents_with_word, words))

    def _documents_titled(self, query: SearchQuery) -> frozenset[int]:
        """Return the documents whose title is exactly the query, for a query without words."""
        if not self._in_titles or not query.terms or terms_of(query.text):
            return frozenset()
        return self._titles.documents_titled(query.text)

    def _filter_phrases(self, found: Set[int], query: SearchQuery) -> Set[int]:
        """Remove documents that lack a phrase or contain an excluded one, as far as the time limit allows."""
        if not query.phrases and not query.not_phrases:
            return found
        unchecked = found if query.phrases else found & self._documents_with_all_words_of(query.not_phrases)
        wrong, deadline = set[int](), time.monotonic() + PHRASE_SECONDS
        for document_id in sorted(unchecked):
            if time.monotonic() > deadline:
                break
            if not self._has_phrases(document_id, query):
                wrong.add(document_id)
        return found - wrong

    def _documents_with_all_words_of(self, phrases: Collection[str]) -> frozenset[int]:
        """Return the documents that have all words of at least one of the phrases."""
        documents = (
            frozenset.intersection(*(self._documents_with_word(word) for word in phrase.split()))
            for phrase in phrases
            if phrase.split()
        )
        return frozenset[int]().union(*documents)

    def _has_phrases(self, document_id: int, query: SearchQuery) -> bool:
        texts = [self._titles.documents[document_id].title] if self._in_titles else []
        if self._in_texts:
            document = self._store.documents_by_id([document_id]).get(document_id)
            current = verify(self._store, self._read, document) if document else None
            if not isinstance(current, Current):
                return False
            texts.append(current.data.decode("utf-8", "replace"))
        holds = lambda phrase: any(holds_phrase(text, phrase) for text in texts)  # noqa: E731 - used twice below
        return all(map(holds, query.phrases)) and not any(map(holds, query.not_phrases))
