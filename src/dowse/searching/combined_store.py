"""Stores and files that none of them has yet, searched as one."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from dowse.protocols import DocumentWords
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
Part = LocalStore | DirectIndex


class CombinedStore:
    """Stores by what their paths begin with, and a direct index, searched together.

    Ids of the direct index are negative; those of the stores have the place of their store in them, and are unchanged
    for a single one. The words of all count in how rare a word is, so that one order of scores is fair to all.
    Files beside a store have vectors of the static table too, since a file without any would be pushed back.
    """

    stored_share = 0.0
    """About the share of chunks that a single store has; several are not searched by meaning."""
    _shown: dict[int, str] | None = None
    """The paths of the documents of a single store by id, if some may be hidden."""
    indexed_paths: frozenset[str] = frozenset()
    """The paths of the files that are searched in a single store."""

    def __init__(
        self, stores: Mapping[str, LocalStore], files: DirectIndex | None, weight: Callable[[str], float] | None = None
    ) -> None:
        """`weight` returns the factor of the scores of a path."""
        self._prefixes, self._stores, self._count = list(stores), list(stores.values()), len(stores)
        self._files, self._weight = files, weight
        self._parts: list[Part] = [*self._stores, *([files] if files else [])]
        self._paths: dict[int, str] = {}
        self.frequency = cache(self._frequency)
        self.chunk_count = cache(self._chunk_count)

    @classmethod
    def beside(cls, store: LocalStore, files: DirectIndex, outdated: Collection[str] = ()) -> "CombinedStore":
        """Return a store with files beside it, which hide older versions in it, as do the outdated paths."""
        combined = cls({"": store}, files)
        lacking = files.paths.union(outdated)
        stored = store.ids_by_path()
        shown = {document: path for document, path in stored if path not in lacking}
        combined.indexed_paths = frozenset(shown.values())
        combined.stored_share = store.chunk_count() / (combined.chunk_count() or 1)
        if len(shown) < len(stored):
            combined._shown = shown
        return combined

    # Documents and chunks by id

    def _by_id(
        self, ids: Iterable[int], read: Callable[[Part, list[int]], dict[int, Found]],
        rename: Callable[[int, Found], Found] = lambda _, value: value,
    ) -> dict[int, Found]:  # fmt: skip
        places, found = defaultdict[int, list[int]](list), dict[int, Found]()
        for number in ids:
            places[number % self._count if number > 0 else -1].append(number // self._count if number > 0 else number)
        for at, numbers in places.items():
            if at < 0:
                found |= read(self._files, numbers) if self._files else {}
            else:
                read_values = read(self._stores[at], numbers)
                found |= {number * self._count + at: rename(at, value) for number, value in read_values.items()}
        return found

    def _document(self, at: int, document: StoredDocument) -> StoredDocument:
        if self._count == 1 and not self._prefixes[0]:
            return document
        return replace(document, id=document.id * self._count + at, path=self._prefixes[at] + document.path)

    def _chunk(self, at: int, chunk: StoredChunk) -> StoredChunk:
        if self._count == 1:
            return chunk
        return replace(chunk, id=chunk.id * self._count + at, document_id=chunk.document_id * self._count + at)

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        for at, store in enumerate(self._stores):
            found = store.documents() if self._prefixes[at] else store.documents(below, after)
            for one in (self._document(at, document) for document in found if self._is_shown(document.id)):
                if one.path.startswith(below) and one.path > after:
                    yield one
        if self._files:
            yield from self._files.documents(below, after)

    def _is_shown(self, document_id: int) -> bool:
        return self._shown is None or document_id in self._shown

    def ids_by_path(self) -> list[tuple[int, str]]:
        stored = [
            (number * self._count + at, self._prefixes[at] + path)
            for at, store in enumerate(self._stores)
            for number, path in store.ids_by_path()
            if self._is_shown(number)
        ]
        return stored + (self._files.ids_by_path() if self._files else [])

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        return self._by_id(ids, lambda part, numbers: part.documents_by_id(numbers), self._document)

    def paths_by_id(self, ids: Iterable[int]) -> dict[int, str]:
        wanted = list(ids)
        self._paths |= self._by_id(
            [number for number in wanted if number not in self._paths],
            lambda part, numbers: part.paths_by_id(numbers), lambda at, path: self._prefixes[at] + path,
        )  # fmt: skip
        return {number: self._paths[number] for number in wanted if number in self._paths}

    def main_language(self) -> str:
        """Return the language of more than half of the code files of a single store; several have none."""
        return self._stores[0].main_language() if self._count == 1 else ""

    def chunks(self, document_id: int) -> list[StoredChunk]:
        if document_id < 0:
            return self._files.chunks(document_id) if self._files else []
        number, at = divmod(document_id, self._count)
        return [self._chunk(at, chunk) for chunk in self._stores[at].chunks(number)]

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        return self._by_id(ids, lambda part, numbers: part.chunk_lines(numbers))

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        return self._by_id(ids, lambda part, numbers: part.chunks_by_id(numbers), self._chunk)

    def converted_text(self, document_id: int) -> str | None:
        if document_id < 0:
            return self._files.converted_text(document_id) if self._files else None
        number, at = divmod(document_id, self._count)
        return self._stores[at].converted_text(number)

    # Searches

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        return self._find(query, limit, lambda part, asked: part.find_chunks(asked, limit))

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        return self._find(query, limit, lambda part, asked: part.find_documents(asked, limit))

    def _find(self, query: TextQuery, limit: int, ask: Callable[[Part, TextQuery], list[Scored]]) -> list[Scored]:
        return self._merge(
            limit, query.among, lambda part, among: ask(part, replace(self._beside_others(query, part), among=among))
        )

    def _beside_others(self, query: TextQuery, part: Part) -> TextQuery:
        """Return a query to one part that counts the words of all."""
        more = query.others or OtherChunks(0, lambda _field, _term: 0)
        count = self.chunk_count() - part.chunk_count() + more.chunks
        elsewhere = OtherChunks(count, lambda f, t: self.frequency(f, t) - part.frequency(f, t) + more.frequency(f, t))
        return replace(query, others=elsewhere)

    def cover_documents(self, words: DocumentWords, match: DocumentMatch, limit: int) -> list[Scored]:
        return self._merge(
            limit, match.among,
            lambda part, among: part.cover_documents(words, replace(match, among=among), limit),
        )  # fmt: skip

    def nearest(
        self, encoder: str, vector: "Vectors", limit: int, *, kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:  # fmt: skip
        return self._merge(
            limit, among, lambda part, own: part.nearest(encoder, vector, limit, kind=kind, among=own)
        )  # fmt: skip

    def _merge(
        self, limit: int, among: frozenset[int] | None,
        ask: Callable[[Part, frozenset[int] | None], list[Scored]],
    ) -> list[Scored]:  # fmt: skip
        """Ask all parts that have documents in question; return the best hits, ties by id."""
        hits = ask(self._files, among) if self._files else []
        for at, own in self._asked(among):
            found = ask(self._stores[at], own)
            hits += [Scored(hit.id * self._count + at, hit.document_id * self._count + at, hit.score) for hit in found]
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        if self._weight is None:
            return hits[:limit]
        paths = self.paths_by_id({hit.document_id for hit in hits[: 2 * limit]})
        weighed = [
            hit._replace(score=hit.score * self._weight(paths.get(hit.document_id, ""))) for hit in hits[: 2 * limit]
        ]
        return sorted(weighed, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _asked(self, among: frozenset[int] | None) -> Iterator[tuple[int, frozenset[int] | None]]:
        """Yield the places of the stores that have some of the documents in question, and which; None for all."""
        for at in range(self._count):
            own = (
                None
                if among is None
                else frozenset(one // self._count for one in among if one > 0 and one % self._count == at)
            )
            if self._shown is not None:
                own = frozenset(self._shown) if own is None else own & self._shown.keys()
            if own is None or own:
                yield at, own

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        found = [
            (at, self._stores[at].match_documents(replace(match, among=own), limit))
            for at, own in self._asked(match.among)
        ]
        total, titled, others = sum(one.total for _, one in found), list[int](), list[int]()
        for at, one in found:
            ids = [number * self._count + at for number in one.ids]
            titled, others = titled + ids[: one.titled], others + ids[one.titled :]
        direct = self._files.match_documents(match, limit) if self._files else MatchedDocuments(0)
        titled, others = [*titled, *direct.ids[: direct.titled]], [*others, *direct.ids[direct.titled :]]
        return MatchedDocuments(total + direct.total, tuple([*titled, *others][:limit]), len(titled))

    def documents_with_word(self, word: str) -> frozenset[int]:
        stored = frozenset(
            number * self._count + at
            for at, store in enumerate(self._stores)
            for number in store.documents_with_word(word)
            if self._is_shown(number)
        )
        return stored | (self._files.documents_with_word(word) if self._files else frozenset())

    def _chunk_count(self) -> int:
        return sum(part.chunk_count() for part in self._parts)

    def _frequency(self, field: Field, term: str) -> int:
        return sum(part.frequency(field, term) for part in self._parts)

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        return {term: self.frequency("parts", term) for term in terms}

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words of the stores, or of the files where there is no store, that begin with a prefix."""
        counts = defaultdict[str, int](int)
        for part in self._stores or self._parts:
            for word, count in part.words_with_prefix(prefix, limit):
                counts[word] += count
        return list(counts.items())[:limit]

    def similar_words(self, word: str, max_typos: int) -> list[tuple[str, int]]:
        return [found for store in self._stores for found in store.similar_words(word, max_typos)]

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the stems of a single store; packages are in English."""
        return self._stores[0].foreign_terms(words) if self._count == 1 else {}

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        return self._stores[0].encoded_documents(encoder, documents) if self._count == 1 else frozenset()
