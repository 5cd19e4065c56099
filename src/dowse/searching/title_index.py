"""An in-memory index of document titles, and a cache of the documents whose text has a word; both follow the store."""

import sys
from array import array
from collections.abc import Collection, Iterable, Mapping, Set
from typing import NamedTuple, Protocol

from dowse.protocols import Store, TextSearcher
from dowse.text.analysis import terms_of
from dowse.types import StoredDocument

FREQUENT_TITLES = 300
"""A term in more titles than this does not select documents by itself, unless all terms of the query are that frequent."""
MAX_CACHED_DOCUMENTS = 1_000_000
"""Size of the cache of documents by word, in document ids: 8 MB, which is enough for the words that queries share. It is
cleared when the index changes. Finding the documents with a frequent word takes 5 ms."""


class TitleChanges(Protocol):
    """Documents added to and removed from a store after a transaction."""

    @property
    def sequence(self) -> int: ...

    @property
    def added(self) -> Collection[int]: ...

    @property
    def removed(self) -> Collection[int]: ...


class FollowableStore(Store, Protocol):
    """A store that reports changes since a transaction."""

    @property
    def identity(self) -> str:
        """The id of the index. An index that is built anew has another id, and its sequence starts at 0."""
        ...

    def sequence(self) -> int:
        """Return the number of the last transaction."""
        ...

    def changes_since(self, sequence: int) -> TitleChanges | None:
        """Return the documents added and removed after a transaction; None when the changes are no longer kept."""
        ...


class TitledDocument(NamedTuple):
    """The path and the title of a document, with the terms of the title."""

    path: str
    title: str
    terms: tuple[str, ...]
    """Each once."""


class TitleIndex:
    """The titles of the documents of a store. Not thread-safe."""

    def __init__(self) -> None:
        self.documents: dict[int, TitledDocument] = {}
        self._state = ("", -1)
        self._ids_by_path: dict[str, int] = {}
        self._by_term: dict[str, list[int]] = {}
        """Lists, because most terms have few documents, and lists of those take a third of the memory of sets."""
        self._by_ending: dict[str, set[int]] = {}
        self._documents_by_word: dict[str, array[int]] = {}
        self._cached_ids = 0

    def follow(self, store: FollowableStore) -> bool:
        """Catch up with the store, and return whether anything changed.

        The first time takes 0.2 s for 15,000 documents, later calls next to nothing.
        """
        state = (store.identity, store.sequence())
        if self._state == state:
            return False
        changes = store.changes_since(self._state[1]) if self._state[0] == state[0] else None
        self._documents_by_word.clear()
        self._cached_ids = 0
        if changes is None:  # another index, or the changes are no longer kept
            for known in (self.documents, self._ids_by_path, self._by_term, self._by_ending):
                known.clear()
            self._state = state
            for document in store.documents():
                self._add(document)
            return True
        for document_id in changes.removed:
            self._remove(document_id)
        for document in store.documents_by_id(changes.added).values():
            self._add(document)
        self._state = (state[0], changes.sequence)
        return True

    def document_id(self, path: str) -> int | None:
        """Return the id of the document at a path."""
        return self._ids_by_path.get(path)

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Return the documents whose title has all parts of a word."""
        terms = terms_of(word)
        found = [frozenset(self._by_term.get(term, ())) for term in terms]
        return frozenset.intersection(*found) if found else frozenset()

    def documents_with_text_words(self, store: TextSearcher, words: Iterable[str]) -> frozenset[int]:
        """Return the documents whose text has one of the words."""
        return frozenset[int]().union(*[self._documents_with_text_word(store, word) for word in dict.fromkeys(words)])

    def _documents_with_text_word(self, store: TextSearcher, word: str) -> Collection[int]:
        """Return the documents whose text has a word; cached, since queries about one subject share their words."""
        known = self._documents_by_word.get(word)
        if known is None:
            found = store.documents_with_word(word)
            self._cached_ids += len(found)
            while self._cached_ids > MAX_CACHED_DOCUMENTS and self._documents_by_word:
                self._cached_ids -= len(self._documents_by_word.pop(next(iter(self._documents_by_word))))
            known = self._documents_by_word[word] = array("q", found)
        return known

    def term_weights(self, terms: Mapping[str, float], among: Set[int]) -> dict[int, float]:
        """Return the summed weight of the terms in each title, for documents whose title has an infrequent term."""
        by_frequency = sorted((self._by_term.get(term, []) for term in terms), key=len)
        rarest = next((documents for documents in by_frequency if documents), [])
        infrequent = (documents for documents in by_frequency if len(documents) <= FREQUENT_TITLES)
        candidates = set[int]().union(rarest, *infrequent)
        return {
            document_id: sum(terms[term] for term in self.documents[document_id].terms if term in terms)
            for document_id in candidates
            if document_id in among
        }

    def documents_with_endings(self, endings: tuple[str, ...]) -> frozenset[int]:
        """Return the documents whose file names have one of the endings, ignoring case."""
        return frozenset[int]().union(*(self._by_ending.get(ending, ()) for ending in endings))

    def documents_titled(self, text: str) -> frozenset[int]:
        """Return the documents with exactly this title, ignoring case."""
        name = text.strip().casefold()
        return frozenset(
            document_id for document_id, known in self.documents.items() if known.title.strip().casefold() == name
        )

    def is_known(self, term: str) -> bool:
        """Return whether any title has a term."""
        return bool(self._by_term.get(term))

    def _add(self, document: StoredDocument) -> None:
        terms = tuple(map(sys.intern, dict.fromkeys(terms_of(document.title))))
        self.documents[document.id] = TitledDocument(document.path, document.title, terms)
        self._ids_by_path[document.path] = document.id
        self._by_ending.setdefault(_file_ending(document.path), set()).add(document.id)
        for term in terms:
            self._by_term.setdefault(term, []).append(document.id)

    def _remove(self, document_id: int) -> None:
        known = self.documents.pop(document_id, None)
        if known is None:
            return
        if self._ids_by_path.get(known.path) == document_id:
            del self._ids_by_path[known.path]
        self._by_ending[_file_ending(known.path)].discard(document_id)
        for term in known.terms:
            self._by_term[term].remove(document_id)


def _file_ending(path: str) -> str:
    return f".{path.rpartition('.')[2].lower()}"
