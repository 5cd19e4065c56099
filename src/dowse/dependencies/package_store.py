"""The indexes of several packages, and files that are not indexed yet, searched as one."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

from dowse.searching.direct_index import DirectIndex
from dowse.store.local import LocalStore
from dowse.types import (
    DocumentMatch,
    Field,
    MatchedDocuments,
    OtherChunks,
    Scored,
    StoredChunk,
    StoredDocument,
    TextQuery,
)

Found = TypeVar("Found")
SLOTS = 1024
"""More than the packages that are searched at once. An id is that of the store, times this, and the place of the store."""


class PackageStore:
    """Stores of packages by the names that paths begin with. Ids of files that are read directly are negative.

    How rare a word is counts in all of them, so that one order of scores is fair to all.
    """

    stored_share = 0.0
    """Whether anything can be found by meaning."""

    def __init__(
        self, stores: Mapping[str, LocalStore], files: DirectIndex | None, weight: Callable[[str], float]
    ) -> None:
        """`weight` is the factor of the scores of a path."""
        self._names, self._stores = list(stores), list(stores.values())
        self._files, self._weight = files, weight
        self._paths: dict[int, str] = {}
        self.frequency = cache(self._frequency)
        self.chunk_count = cache(self._chunk_count)

    # Documents and chunks by id

    def _by_id(
        self, ids: Iterable[int], of_store: Callable[[LocalStore], Callable[[list[int]], dict[int, Found]]],
        of_files: Callable[[DirectIndex], Callable[[list[int]], dict[int, Found]]],
        rename: Callable[[int, Found], Found],
    ) -> dict[int, Found]:  # fmt: skip
        slots, direct, found = defaultdict[int, list[int]](list), list[int](), dict[int, Found]()
        for number in ids:
            if number < 0:
                direct.append(number)
            else:
                slots[number % SLOTS].append(number // SLOTS)
        for slot, numbers in slots.items():
            for number, value in of_store(self._stores[slot])(numbers).items():
                found[number * SLOTS + slot] = rename(slot, value)
        return found | (of_files(self._files)(direct) if self._files and direct else {})

    def _document(self, slot: int, document: StoredDocument) -> StoredDocument:
        return replace(document, id=document.id * SLOTS + slot, path=f"{self._names[slot]}/{document.path}")

    def _chunk(self, slot: int, chunk: StoredChunk) -> StoredChunk:
        return replace(chunk, id=chunk.id * SLOTS + slot, document_id=chunk.document_id * SLOTS + slot)

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        """Yield all documents."""
        for slot, store in enumerate(self._stores):
            found = (self._document(slot, document) for document in store.documents())
            yield from (one for one in found if one.path.startswith(below) and one.path > after)
        if self._files:
            yield from self._files.documents(below, after)

    def ids_by_path(self) -> list[tuple[int, str]]:
        """Return the ids and the paths of all documents."""
        stored = [
            (number * SLOTS + slot, f"{self._names[slot]}/{path}")
            for slot, store in enumerate(self._stores)
            for number, path in store.ids_by_path()
        ]
        return stored + (self._files.ids_by_path() if self._files else [])

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        """Return those of the documents that exist, by id."""
        return self._by_id(
            ids, lambda store: store.documents_by_id, lambda files: files.documents_by_id, self._document
        )

    def paths_by_id(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the paths of those of the documents that exist, by id."""
        wanted = list(ids)
        self._paths |= self._by_id(
            [number for number in wanted if number not in self._paths], lambda store: store.paths_by_id,
            lambda files: files.paths_by_id, lambda slot, path: f"{self._names[slot]}/{path}",
        )  # fmt: skip
        return {number: self._paths[number] for number in wanted if number in self._paths}

    def main_language(self) -> str:
        """Return no language: packages of several may be searched."""
        return ""

    def chunks(self, document_id: int) -> list[StoredChunk]:
        """Return the chunks of a document, in order."""
        if document_id < 0:
            return self._files.chunks(document_id) if self._files else []
        number, slot = divmod(document_id, SLOTS)
        return [self._chunk(slot, chunk) for chunk in self._stores[slot].chunks(number)]

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Return the first and last line of those of the chunks that exist, by id."""
        return self._by_id(
            ids, lambda store: store.chunk_lines, lambda files: files.chunk_lines, lambda _, lines: lines
        )

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        """Return those of the chunks that exist, by id."""
        return self._by_id(ids, lambda store: store.chunks_by_id, lambda files: files.chunks_by_id, self._chunk)

    def converted_text(self, document_id: int) -> str | None:
        """Return the text of a document that was converted from its file; None for a verbatim one."""
        if document_id < 0:
            return self._files.converted_text(document_id) if self._files else None
        number, slot = divmod(document_id, SLOTS)
        return self._stores[slot].converted_text(number)

    # Searches

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search the fields of chunks; best first."""
        direct = self._files.find_chunks(self._beside(query, self._files), limit) if self._files else []
        return self._weighed(self._ask(query, lambda store, part: store.find_chunks(part, limit)), direct, limit)

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search the fields of documents; best first."""
        direct = self._files.find_documents(self._beside(query, self._files), limit) if self._files else []
        return self._weighed(self._ask(query, lambda store, part: store.find_documents(part, limit)), direct, limit)

    def _ask(self, query: TextQuery, ask: Callable[[LocalStore, TextQuery], Sequence[Scored]]) -> list[Scored]:
        found = []
        for slot, store in enumerate(self._stores):
            among = self._among(query.among, slot)
            if among is None or among:
                part = replace(self._beside(query, store), among=among)
                found += [
                    Scored(hit.id * SLOTS + slot, hit.document_id * SLOTS + slot, hit.score) for hit in ask(store, part)
                ]
        return found

    def _among(self, among: frozenset[int] | None, slot: int) -> frozenset[int] | None:
        if among is None:
            return None
        return frozenset(number // SLOTS for number in among if number >= 0 and number % SLOTS == slot)

    def _beside(self, query: TextQuery, store: LocalStore | DirectIndex) -> TextQuery:
        """Return a query to one store that counts the words of all."""
        count = self.chunk_count() - store.chunk_count()
        return replace(query, others=OtherChunks(count, lambda f, t: self.frequency(f, t) - store.frequency(f, t)))

    def _weighed(self, stored: list[Scored], direct: list[Scored], limit: int) -> list[Scored]:
        hits = sorted([*stored, *direct], key=lambda hit: (-hit.score, hit.id))[: 2 * limit]
        paths = self.paths_by_id({hit.document_id for hit in hits})
        weighed = [hit._replace(score=hit.score * self._weight(paths.get(hit.document_id, ""))) for hit in hits]
        return sorted(weighed, key=lambda hit: (-hit.score, hit.id))[:limit]

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        """Select documents by words; those with words in their title come first."""
        total, titled, others = 0, list[int](), list[int]()
        for slot, store in enumerate(self._stores):
            found = store.match_documents(replace(match, among=self._among(match.among, slot)), limit)
            ids = [number * SLOTS + slot for number in found.ids]
            total, titled, others = total + found.total, titled + ids[: found.titled], others + ids[found.titled :]
        return MatchedDocuments(total, tuple([*titled, *others][:limit]), len(titled))

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Return the documents that contain a word: whole, or all its parts in one chunk."""
        stored = frozenset(
            number * SLOTS + slot
            for slot, store in enumerate(self._stores)
            for number in store.documents_with_word(word)
        )
        return stored | (self._files.documents_with_word(word) if self._files else frozenset())

    @property
    def _all(self) -> list[LocalStore | DirectIndex]:
        return [*self._stores, *([self._files] if self._files else [])]

    def _chunk_count(self) -> int:
        return sum(store.chunk_count() for store in self._all)

    def _frequency(self, field: Field, term: str) -> int:
        return sum(store.frequency(field, term) for store in self._all)

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return how many chunks contain each term."""
        return {term: self.frequency("parts", term) for term in terms}

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words that begin with a prefix, each with the number of chunks that contain it."""
        counts = defaultdict[str, int](int)
        for store in self._all:
            for word, count in store.words_with_prefix(prefix, limit):
                counts[word] += count
        return list(counts.items())[:limit]

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:  # noqa: ARG002 - packages are in English
        """Return no stems of other languages."""
        return {}

    def cover_documents(self, *_: object) -> list[Scored]:
        """Return no documents: packages are searched by their passages."""
        return []

    def similar_words(self, word: str, max_typos: int) -> list[tuple[str, int]]:
        """Return words of the packages within a number of typos."""
        return [found for store in self._all for found in store.similar_words(word, max_typos)]

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:  # noqa: ARG002
        """Return nothing: packages have no vectors."""
        return frozenset()

    def nearest(self, *_: object, **__: object) -> list[Scored]:
        """Return nothing: packages have no vectors."""
        return []
