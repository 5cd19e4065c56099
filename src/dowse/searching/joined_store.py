"""Stores, and files that none of them has yet, searched as one."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, TypeVar

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
Member: TypeAlias = "LocalStore | JoinedStore"
_Part: TypeAlias = "Member | DirectIndex"


class JoinedStore:
    """Stores by the names that their paths begin with, and files beside them, whose paths stay as they are.

    An id has the place of its store in it, and is unchanged for a single store; ids of the files beside are negative.
    How rare a word is counts in all parts, so that one order of scores is fair to all.
    """

    _shown: dict[int, str] | None = None
    """The paths of the documents of a single store by id, if some are hidden."""
    indexed_paths: frozenset[str] = frozenset()
    """The paths of the files that are searched in a single store with files beside it."""

    def __init__(
        self, stores: Mapping[str, Member], files: DirectIndex | None = None, weight: Callable[[str], float] | None = None
    ) -> None:  # fmt: skip
        """The stores are those of packages, mostly in English, if there is a `weight`: the factor of the scores of a path."""
        self._stores, self._files, self._weight = list(stores.values()), files, weight
        self._parts: list[_Part] = [*self._stores, *([files] if files else [])]
        self._leads = [*(f"{name}/" if name else "" for name in stores), ""]
        self._count = len(stores)
        self._spoken = [] if weight and len(stores) > 1 else self._stores
        """The stores whose languages count."""
        self._paths: dict[int, str] = {}
        self.frequency = cache(self._frequency)
        self.chunk_count = cache(self._chunk_count)

    @classmethod
    def beside(cls, store: LocalStore, files: DirectIndex, outdated: Collection[str] = ()) -> "JoinedStore":
        """Return a store with files beside it, which hide older versions in it, as do the outdated paths.

        The files have vectors of the static table too, since a file without any would be pushed back.
        """
        joined, stored = cls({"": store}, files), store.ids_by_path()
        lacking = {*outdated, *(file.entry.path for file in files.files)}
        shown = {document: path for document, path in stored if path not in lacking}
        joined.indexed_paths = frozenset(shown.values())
        if len(shown) < len(stored):
            joined._shown = shown
        return joined

    @property
    def stored_share(self) -> float:
        """About the share of chunks that the stores have."""
        return sum(one.stored_share * one.chunk_count() for one in self._stores) / (self.chunk_count() or 1)

    # Documents and chunks by id

    def _id(self, slot: int, number: int) -> int:
        return -number if slot == self._count else number * self._count + slot

    def _place(self, number: int) -> tuple[int, int]:
        """Return the place of the part that has a document or chunk, and its id there, which may be negative in a store."""
        if self._files and number < 0:
            return self._count, -number
        return number % self._count, number // self._count

    def _places(self, ids: Iterable[int]) -> dict[int, list[int]]:
        places = defaultdict[int, list[int]](list)
        for slot, number in map(self._place, ids):
            places[slot].append(number)
        return places

    def _by_id(
        self, ids: Iterable[int], read: Callable[[_Part, list[int]], dict[int, Found]],
        rename: Callable[[int, Found], Found] = lambda _, value: value,
    ) -> dict[int, Found]:  # fmt: skip
        return {
            self._id(slot, number): rename(slot, value)
            for slot, numbers in self._places(ids).items()
            for number, value in read(self._parts[slot], numbers).items()
        }

    def _document(self, slot: int, document: StoredDocument) -> StoredDocument:
        if self._is_unchanged(slot):
            return document
        return replace(document, id=self._id(slot, document.id), path=self._leads[slot] + document.path)

    def _chunk(self, slot: int, chunk: StoredChunk) -> StoredChunk:
        if self._is_unchanged(slot):
            return chunk
        return replace(chunk, id=self._id(slot, chunk.id), document_id=self._id(slot, chunk.document_id))

    def _is_unchanged(self, slot: int) -> bool:
        return self._count == 1 and slot == 0 and not self._leads[slot]

    def _is_shown(self, slot: int, number: int) -> bool:
        return self._shown is None or slot == self._count or number in self._shown

    def documents(self) -> Iterator[StoredDocument]:
        for slot, part in enumerate(self._parts):
            yield from (self._document(slot, one) for one in part.documents() if self._is_shown(slot, one.id))

    def ids_by_path(self) -> list[tuple[int, str]]:
        return [
            (self._id(slot, number), self._leads[slot] + path)
            for slot, part in enumerate(self._parts)
            for number, path in part.ids_by_path()
            if self._is_shown(slot, number)
        ]

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        return self._by_id(ids, lambda part, numbers: part.documents_by_id(numbers), self._document)

    def paths_by_id(self, ids: Iterable[int]) -> dict[int, str]:
        wanted = list(ids)
        self._paths |= self._by_id(
            [number for number in wanted if number not in self._paths],
            lambda part, numbers: part.paths_by_id(numbers), lambda slot, path: self._leads[slot] + path,
        )  # fmt: skip
        return {number: self._paths[number] for number in wanted if number in self._paths}

    def given_words(self) -> frozenset[str]:
        """Return the words that the files of all stores are about: the name of one project tells it from others."""
        return frozenset.intersection(*(store.given_words() for store in self._spoken)) if self._spoken else frozenset()

    def chunks(self, document_id: int) -> list[StoredChunk]:
        slot, number = self._place(document_id)
        return [self._chunk(slot, chunk) for chunk in self._parts[slot].chunks(number)]

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        return self._by_id(ids, lambda part, numbers: part.chunk_lines(numbers))

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        return self._by_id(ids, lambda part, numbers: part.chunks_by_id(numbers), self._chunk)

    def converted_text(self, document_id: int) -> str | None:
        slot, number = self._place(document_id)
        return self._parts[slot].converted_text(number)

    # Searches

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        return self._merge(limit, query.among, lambda part, own: part.find_chunks(self._asked(query, part, own), limit))

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        return self._merge(
            limit, query.among, lambda part, own: part.find_documents(self._asked(query, part, own), limit)
        )

    def _asked(self, query: TextQuery, part: _Part, among: frozenset[int] | None) -> TextQuery:
        """Return a query to one part that counts the words of all."""
        more = query.others or OtherChunks(0, lambda _field, _term: 0)
        count = self.chunk_count() - part.chunk_count() + more.chunks
        elsewhere = OtherChunks(count, lambda f, t: self.frequency(f, t) - part.frequency(f, t) + more.frequency(f, t))
        return replace(query, among=among, others=elsewhere)

    def cover_documents(self, words: DocumentWords, match: DocumentMatch, limit: int) -> list[Scored]:
        return self._merge(
            limit, match.among, lambda part, own: part.cover_documents(words, replace(match, among=own), limit)
        )

    def nearest(
        self, encoder: str, vector: "Vectors", limit: int, *, kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:  # fmt: skip
        def ask(part: _Part, own: frozenset[int] | None) -> Sequence[Scored]:
            has_vectors = isinstance(part, DirectIndex) or part.stored_share
            return part.nearest(encoder, vector, limit, kind=kind, among=own) if has_vectors else ()

        return self._merge(limit, among, ask)

    def _merge(
        self, limit: int, among: frozenset[int] | None, ask: Callable[[_Part, frozenset[int] | None], Sequence[Scored]]
    ) -> list[Scored]:  # fmt: skip
        """Ask all parts that have documents in question; return the best hits, ties by id."""
        hits = [
            Scored(self._id(slot, hit.id), self._id(slot, hit.document_id), hit.score)
            for slot, own in self._among(among)
            for hit in ask(self._parts[slot], own)
        ]
        if self._stores:
            hits.sort(key=lambda hit: (-hit.score, hit.id))
        if self._weight is None:
            return hits[:limit]
        paths = self.paths_by_id({hit.document_id for hit in hits[: 2 * limit]})
        weighed = [
            hit._replace(score=hit.score * self._weight(paths.get(hit.document_id, ""))) for hit in hits[: 2 * limit]
        ]
        return sorted(weighed, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _among(self, among: frozenset[int] | None) -> Iterator[tuple[int, frozenset[int] | None]]:
        """Yield the places of the parts that have some of the documents in question, and which; None for all."""
        places = self._places(among or ())
        for slot, part in enumerate(self._parts):
            own = None if among is None else frozenset(places.get(slot, ()))
            if self._shown is not None and part is not self._files:
                own = frozenset(self._shown) if own is None else own & self._shown.keys()
            if own is None or own:
                yield slot, own

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        total, titled, others = 0, list[int](), list[int]()
        for slot, own in self._among(match.among):
            found = self._parts[slot].match_documents(replace(match, among=own), limit)
            ids = [self._id(slot, number) for number in found.ids]
            total, titled, others = total + found.total, titled + ids[: found.titled], others + ids[found.titled :]
        return MatchedDocuments(total, tuple([*titled, *others][:limit]), len(titled))

    def documents_with_word(self, word: str) -> frozenset[int]:
        return frozenset(
            self._id(slot, number)
            for slot, part in enumerate(self._parts)
            for number in part.documents_with_word(word)
            if self._is_shown(slot, number)
        )

    def _chunk_count(self) -> int:
        return sum(part.chunk_count() for part in self._parts)

    def _frequency(self, field: Field, term: str) -> int:
        return sum(part.frequency(field, term) for part in self._parts)

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        return {term: self.frequency("parts", term) for term in terms}

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words of the stores, or of the files where there is no store, that begin with a prefix."""
        counts = Counter[str]()
        for part in self._stores or self._parts:
            counts.update(dict(part.words_with_prefix(prefix, limit)))
        return list(counts.items())[:limit]

    def similar_words(self, word: str, max_typos: int) -> list[tuple[str, int]]:
        return [found for store in self._stores for found in store.similar_words(word, max_typos)]

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:
        distinct, joined = tuple(words), defaultdict[str, Counter[str]](Counter)
        for part in self._spoken if self._stores else self._parts:
            for word, stems in part.foreign_terms(distinct).items():
                joined[word].update(stems)
        return {word: dict(stems) for word, stems in joined.items()}

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        return frozenset(
            self._id(slot, number)
            for slot, numbers in self._places(documents).items() if slot < self._count
            for number in self._stores[slot].encoded_documents(encoder, frozenset(numbers))
        )  # fmt: skip
