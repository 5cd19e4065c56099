"""The titles of all documents as they are searched, and which texts hold a word; both follow the store."""

import sys
from array import array
from collections.abc import Collection, Iterable, Mapping, Set
from typing import NamedTuple, Protocol

from dowse.protocols import Store, TextSearcher
from dowse.store.analysis import terms_of
from dowse.types import StoredDocument

FREQUENT_TITLES = 300
"""A title that has nothing of a query but a term of so many titles is not worth a look, unless all its terms are such."""
MAX_CACHED_DOCUMENTS = 1_000_000
"""Of so many documents it is kept which words they hold, until the index changes: 8 MB, and the words that
questions share are all among them. To gather the holders of a frequent word takes 5 ms."""


class TitleChanges(Protocol):
    """What became of documents after some state of a store."""

    @property
    def sequence(self) -> int: ...

    @property
    def added(self) -> Collection[int]: ...

    @property
    def removed(self) -> Collection[int]: ...


class FollowableStore(Store, Protocol):
    """A store that can say what happened since."""

    @property
    def identity(self) -> str:
        """Names the index; one that is built anew has another, and counts from the start."""
        ...

    def sequence(self) -> int:
        """The number that the store has reached."""
        ...

    def changes_since(self, sequence: int) -> TitleChanges | None:
        """What happened after a state; None when that is no longer known."""
        ...


class TitledDocument(NamedTuple):
    """What is kept of a document: where it is, what it is called, and the terms of that."""

    path: str
    title: str
    terms: tuple[str, ...]
    """Each once."""


class TitleIndex:
    """The titles of a store's documents; to be used on one thread."""

    def __init__(self) -> None:
        self.documents: dict[int, TitledDocument] = {}
        self._state = ("", -1)
        self._numbers: dict[str, int] = {}
        self._by_term: dict[str, list[int]] = {}
        """In lists, which for the few documents that most terms have take a third of the memory of sets."""
        self._by_ending: dict[str, set[int]] = {}
        self._texts: dict[str, array[int]] = {}
        self._remembered = 0

    def follow(self, store: FollowableStore) -> bool:
        """Be what the store is now, and say whether that is news.

        The first time it takes 0.2 s for 15,000 documents, then next to nothing.
        """
        state = (store.identity, store.sequence())
        if self._state == state:
            return False
        changes = store.changes_since(self._state[1]) if self._state[0] == state[0] else None
        self._texts.clear()
        self._remembered = 0
        if changes is None:  # what is known is of another index, or too old
            for known in (self.documents, self._numbers, self._by_term, self._by_ending):
                known.clear()
            self._state = state
            for document in store.documents():
                self._add(document)
            return True
        for number in changes.removed:
            self._remove(number)
        for document in store.documents_by_id(changes.added).values():
            self._add(document)
        self._state = (state[0], changes.sequence)
        return True

    def number_of(self, path: str) -> int | None:
        """The document at a path."""
        return self._numbers.get(path)

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Documents whose title has all parts of a word."""
        terms = terms_of(word)
        found = [frozenset(self._by_term.get(term, ())) for term in terms]
        return frozenset.intersection(*found) if found else frozenset()

    def texts(self, store: TextSearcher, words: Iterable[str]) -> frozenset[int]:
        """Documents whose text has one of the words."""
        return frozenset[int]().union(*[self._holders_in_texts(store, word) for word in dict.fromkeys(words)])

    def _holders_in_texts(self, store: TextSearcher, word: str) -> Collection[int]:
        """Documents whose text has a word; remembered, for questions about one thing share their words."""
        known = self._texts.get(word)
        if known is None:
            found = store.documents_with_word(word)
            self._remembered += len(found)
            while self._remembered > MAX_CACHED_DOCUMENTS and self._texts:
                self._remembered -= len(self._texts.pop(next(iter(self._texts))))
            known = self._texts[word] = array("q", found)
        return known

    def shares(self, terms: Mapping[str, float], among: Set[int]) -> dict[int, float]:
        """How much of some terms, by their weights, the titles of documents say; of those with one that tells."""
        holders = sorted((self._by_term.get(term, []) for term in terms), key=len)
        rare = next((one for one in holders if one), [])
        telling = set[int]().union(rare, *(one for one in holders if len(one) <= FREQUENT_TITLES))
        return {
            number: sum(terms[term] for term in self.documents[number].terms if term in terms)
            for number in telling
            if number in among
        }

    def of_kinds(self, endings: tuple[str, ...]) -> frozenset[int]:
        """Documents whose names end like this, in large or small letters."""
        return frozenset[int]().union(*(self._by_ending.get(ending, ()) for ending in endings))

    def called(self, text: str) -> frozenset[int]:
        """Documents with this very title, in large or small letters."""
        name = text.strip().casefold()
        return frozenset(number for number, one in self.documents.items() if one.title.strip().casefold() == name)

    def is_known(self, term: str) -> bool:
        """Whether any title has a term."""
        return bool(self._by_term.get(term))

    def _add(self, document: StoredDocument) -> None:
        terms = tuple(map(sys.intern, dict.fromkeys(terms_of(document.title))))
        self.documents[document.id] = TitledDocument(document.path, document.title, terms)
        self._numbers[document.path] = document.id
        self._by_ending.setdefault(_file_ending(document.path), set()).add(document.id)
        for term in terms:
            self._by_term.setdefault(term, []).append(document.id)

    def _remove(self, number: int) -> None:
        known = self.documents.pop(number, None)
        if known is None:
            return
        if self._numbers.get(known.path) == number:
            del self._numbers[known.path]
        self._by_ending[_file_ending(known.path)].discard(number)
        for term in known.terms:
            self._by_term[term].remove(number)


def _file_ending(path: str) -> str:
    return f".{path.rpartition('.')[2].lower()}"
