"""Several stores, searched as one: the paths of each begin with its name."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from dowse.protocols import DocumentWords
from dowse.searching.combined_store import CombinedStore
from dowse.searching.direct_index import DirectIndex
from dowse.store.local import LocalStore
from dowse.types import (
    DocumentMatch,
    Field,
    Kind,
    MatchedDocuments,
    OtherChunks,
    Scored,
    StoredChunk,
    StoredDocument,
    TextQuery,
)

if TYPE_CHECKING:
    from dowse.types import Vectors

Found = TypeVar("Found")
Member = LocalStore | CombinedStore | DirectIndex
SLOTS = 1024
"""More than the stores that are searched at once. An id is that of the store, times this, and the place of the store."""


class JoinedStore:
    """Stores by the names that paths begin with; the paths of a store without a name stay as they are.

    How rare a word is counts in all of them, so that one order of scores is fair to all.
    """

    def __init__(self, stores: Mapping[str, Member]) -> None:
        self._leads, self._stores = [f"{name}/" if name else "" for name in stores], list(stores.values())
        self.stored_share = 1.0
        """The vectors of a query say themselves which share of all chunks they cover."""
        self._paths: dict[int, str] = {}
        self.frequency = cache(self._frequency)
        self.chunk_count = cache(self._chunk_count)

    # Documents and chunks by id

    def _by_id(
        self, ids: Iterable[int], ask: Callable[[Member], Callable[[list[int]], dict[int, Found]]],
        rename: Callable[[int, Found], Found],
    ) -> dict[int, Found]:  # fmt: skip
        found = dict[int, Found]()
        for slot, numbers in self._slots(ids).items():
            for number, value in ask(self._stores[slot])(numbers).items():
                found[number * SLOTS + slot] = rename(slot, value)
        return found

    def _slots(self, ids: Iterable[int]) -> dict[int, list[int]]:
        """Return the ids that each store has for some of ours; those of files that are read directly are negative."""
        slots = defaultdict[int, list[int]](list)
        for number in ids:
            slots[number % SLOTS].append(number // SLOTS)
        return slots

    def _document(self, slot: int, document: StoredDocument) -> StoredDocument:
        return replace(document, id=document.id * SLOTS + slot, path=self._leads[slot] + document.path)

    def _chunk(self, slot: int, chunk: StoredChunk) -> StoredChunk:
        return replace(chunk, id=chunk.id * SLOTS + slot, document_id=chunk.document_id * SLOTS + slot)

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        """Yield all documents."""
        for slot, store in enumerate(self._stores):
            found = (self._document(slot, document) for document in store.documents())
            yield from (one for one in found if one.path.startswith(below) and one.path > after)

    def ids_by_path(self) -> list[tuple[int, str]]:
        """Return the ids and the paths of all documents."""
        return [
            (number * SLOTS + slot, self._leads[slot] + path)
            for slot, store in enumerate(self._stores)
            for number, path in store.ids_by_path()
        ]

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        """Return those of the documents that exist, by id."""
        return self._by_id(ids, lambda store: store.documents_by_id, self._document)

    def paths_by_id(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the paths of those of the documents that exist, by id."""
        wanted = list(ids)
        self._paths |= self._by_id(
            [number for number in wanted if number not in self._paths],
            lambda store: store.paths_by_id,
            lambda slot, path: self._leads[slot] + path,
        )
        return {number: self._paths[number] for number in wanted if number in self._paths}

    def main_language(self) -> str:
        """Return the language of more than half of the code files of each store; empty if they differ."""
        languages = {store.main_language() for store in self._stores}
        return languages.pop() if len(languages) == 1 else ""

    def chunks(self, document_id: int) -> list[StoredChunk]:
        """Return the chunks of a document, in order."""
        number, slot = divmod(document_id, SLOTS)
        return [self._chunk(slot, chunk) for chunk in self._stores[slot].chunks(number)]

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Return the first and last line of those of the chunks that exist, by id."""
        return self._by_id(ids, lambda store: store.chunk_lines, lambda _, lines: lines)

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        """Return those of the chunks that exist, by id."""
        return self._by_id(ids, lambda store: store.chunks_by_id, self._chunk)

    def converted_text(self, document_id: int) -> str | None:
        """Return the text of a document that was converted from its file; None for a verbatim one."""
        number, slot = divmod(document_id, SLOTS)
        return self._stores[slot].converted_text(number)

    # Searches

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search the fields of chunks; best first."""
        return self._ask(
            query.among, limit, lambda store, among: store.find_chunks(self._part(query, store, among), limit)
        )

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search the fields of documents; best first."""
        return self._ask(
            query.among, limit, lambda store, among: store.find_documents(self._part(query, store, among), limit)
        )

    def _part(self, query: TextQuery, store: Member, among: frozenset[int] | None) -> TextQuery:
        """Return a query to one store that counts the words of all."""
        count = self.chunk_count() - store.chunk_count()
        others = OtherChunks(count, lambda f, t: self.frequency(f, t) - store.frequency(f, t))
        return replace(query, among=among, others=others)

    def _ask(
        self,
        among: frozenset[int] | None,
        limit: int,
        ask: Callable[[Member, frozenset[int] | None], Sequence[Scored]],
    ) -> list[Scored]:
        """Ask each store about those of the documents in question that it has; return the best of all answers."""
        found, slots = list[Scored](), self._slots(among or ())
        for slot, store in enumerate(self._stores):
            if among is None or slot in slots:
                hits = ask(store, None if among is None else frozenset(slots[slot]))
                found += [Scored(hit.id * SLOTS + slot, hit.document_id * SLOTS + slot, hit.score) for hit in hits]
        return self._best(found, limit)

    def _best(self, found: list[Scored], limit: int) -> list[Scored]:
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:limit]

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        """Select documents by words; those with words in their title come first."""
        total, titled, others = 0, list[int](), list[int]()
        slots = self._slots(match.among or ())
        for slot, store in enumerate(self._stores):
            among = None if match.among is None else frozenset(slots.get(slot, ()))
            found = store.match_documents(replace(match, among=among), limit)
            ids = [number * SLOTS + slot for number in found.ids]
            total, titled, others = total + found.total, titled + ids[: found.titled], others + ids[found.titled :]
        return MatchedDocuments(total, tuple([*titled, *others][:limit]), len(titled))

    def cover_documents(self, words: DocumentWords, match: DocumentMatch, limit: int) -> list[Scored]:
        """Return the documents that match and have the most words of a query; best first."""
        return self._ask(
            match.among, limit, lambda store, among: store.cover_documents(words, replace(match, among=among), limit)
        )

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Return the documents that contain a word: whole, or all its parts in one chunk."""
        return frozenset(
            number * SLOTS + slot
            for slot, store in enumerate(self._stores)
            for number in store.documents_with_word(word)
        )

    def _chunk_count(self) -> int:
        return sum(store.chunk_count() for store in self._stores)

    def _frequency(self, field: Field, term: str) -> int:
        return sum(store.frequency(field, term) for store in self._stores)

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return how many chunks contain each term."""
        return {term: self.frequency("parts", term) for term in terms}

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words that begin with a prefix, each with the number of chunks that contain it."""
        counts = defaultdict[str, int](int)
        for store in self._stores:
            for word, count in store.words_with_prefix(prefix, limit):
                counts[word] += count
        return list(counts.items())[:limit]

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the stems that words stand for in the documents that are not in English, and their frequencies."""
        distinct, joined = tuple(words), defaultdict[str, dict[str, int]](dict)
        for store in self._stores:
            for word, stems in store.foreign_terms(distinct).items():
                for stem, count in stems.items():
                    joined[word][stem] = joined[word].get(stem, 0) + count
        return dict(joined)

    def similar_words(self, word: str, max_typos: int) -> list[tuple[str, int]]:
        """Return words of the stores within a number of typos."""
        return [found for store in self._stores for found in store.similar_words(word, max_typos)]

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Return those of the documents that have a vector of an encoder."""
        return frozenset(
            number * SLOTS + slot
            for slot, numbers in self._slots(documents).items()
            for number in self._stores[slot].encoded_documents(encoder, frozenset(numbers))
        )

    def nearest(
        self,
        encoder: str,
        vector: "Vectors",
        limit: int,
        *,
        kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:
        """Return the chunks that are nearest in meaning, best first."""
        return self._ask(
            among, limit,
            lambda store, some: store.nearest(encoder, vector, limit, kind=kind, among=some) if store.stored_share else (),
        )  # fmt: skip
