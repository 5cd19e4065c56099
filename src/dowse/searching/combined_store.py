"""A store and files beside it that it does not have yet, searched as one."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from dowse.protocols import DocumentWords
from dowse.searching.direct_index import DirectIndex
from dowse.store.local import LocalStore
from dowse.types import (
    DocumentMatch,
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
Asked = TypeVar("Asked", TextQuery, DocumentMatch)
Result = TypeVar("Result")


class CombinedStore:
    """A store and a direct index, searched together; ids of the direct index are negative.

    A file that was read directly is hidden in the store, which may have an older version of it, and so are the
    `outdated` paths. The words of both count in how rare a word is, so that one order of scores is fair to both.
    Both have vectors of the static table, since a file without any would be pushed back.
    """

    def __init__(self, store: LocalStore, files: DirectIndex, outdated: Collection[str] = ()) -> None:
        self._store, self._files = store, files
        lacking = files.paths.union(outdated)
        stored = store.ids_by_path()
        self._shown = {document: path for document, path in stored if path not in lacking}
        self._hides_some = len(self._shown) < len(stored)
        self.indexed_paths = frozenset(self._shown.values())
        """The paths of the files that are searched in the store."""
        self.stored_share = store.chunk_count() / (self.chunk_count() or 1)
        """About the share of chunks that the store has."""

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        yield from (document for document in self._store.documents(below, after) if document.id in self._shown)
        yield from self._files.documents(below, after)

    def ids_by_path(self) -> list[tuple[int, str]]:
        return [*self._shown.items(), *self._files.ids_by_path()]

    def paths_by_id(self, ids: Iterable[int]) -> dict[int, str]:
        return self._by_id(ids, self._store.paths_by_id, self._files.paths_by_id)

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        return self._by_id(ids, self._store.documents_by_id, self._files.documents_by_id)

    def main_language(self) -> str:
        """Return the language of more than half of the code files in the store."""
        return self._store.main_language()

    def chunks(self, document_id: int) -> list[StoredChunk]:
        return (self._files if document_id < 0 else self._store).chunks(document_id)

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        return self._by_id(ids, self._store.chunk_lines, self._files.chunk_lines)

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        return self._by_id(ids, self._store.chunks_by_id, self._files.chunks_by_id)

    def converted_text(self, document_id: int) -> str | None:
        return (self._files if document_id < 0 else self._store).converted_text(document_id)

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        stored = self._in_store(self._beside_files(query), lambda part: self._store.find_chunks(part, limit))
        return self._merge((stored or [], self._files.find_chunks(self._beside_store(query), limit)), limit)

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        stored = self._in_store(self._beside_files(query), lambda part: self._store.find_documents(part, limit))
        return self._merge((stored or [], self._files.find_documents(self._beside_store(query), limit)), limit)

    def _beside_files(self, query: TextQuery) -> TextQuery:
        return replace(query, others=OtherChunks(self._files.chunk_count(), self._files.frequency))

    def _beside_store(self, query: TextQuery) -> TextQuery:
        return replace(query, others=OtherChunks(self._store.chunk_count(), self._store.frequency))

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        stored = self._in_store(match, lambda part: self._store.match_documents(part, limit)) or MatchedDocuments(0)
        direct = self._files.match_documents(match, limit)
        titled = [*stored.ids[: stored.titled], *direct.ids[: direct.titled]]
        ids = [*titled, *stored.ids[stored.titled :], *direct.ids[direct.titled :]]
        return MatchedDocuments(stored.total + direct.total, tuple(ids[:limit]), len(titled))

    def cover_documents(self, words: DocumentWords, match: DocumentMatch, limit: int) -> list[Scored]:
        """Return the documents that have the most words of a query; best first."""
        stored = self._in_store(match, lambda part: self._store.cover_documents(words, part, limit))
        return self._merge((stored or [], self._files.cover_documents(words, match, limit)), limit)

    def _in_store(self, query: Asked, ask: Callable[[Asked], Result]) -> Result | None:
        """Ask the store about those of the documents in question that it has; None if it has none of them."""
        among = self._stored_among(query.among)
        return ask(replace(query, among=among)) if among is None or among else None

    def _stored_among(self, among: frozenset[int] | None) -> frozenset[int] | None:
        """Return those of the documents in question that the store shows; None if it may show all that it has."""
        if among is None:
            return frozenset(self._shown) if self._hides_some else None
        return among & self._shown.keys()

    def documents_with_word(self, word: str) -> frozenset[int]:
        return (self._store.documents_with_word(word) & self._shown.keys()) | self._files.documents_with_word(word)

    def chunk_count(self) -> int:
        return self._store.chunk_count() + self._files.chunk_count()

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        directly = self._files.chunk_frequencies(distinct := tuple(terms))
        return {term: count + directly[term] for term, count in self._store.chunk_frequencies(distinct).items()}

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words of the store that begin with a prefix."""
        return self._store.words_with_prefix(prefix, limit)

    def similar_words(self, word: str, max_typos: int) -> list[tuple[str, int]]:
        """Return whole words of the store within a number of typos."""
        return self._store.similar_words(word, max_typos)

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:
        return self._store.foreign_terms(words)

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        return self._store.encoded_documents(encoder, documents)

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
        stored = self._store.nearest(encoder, vector, limit, kind=kind, among=self._stored_among(among))
        return self._merge((stored, self._files.nearest(encoder, vector, limit, kind=kind, among=among)), limit)

    def _merge(self, found: Iterable[list[Scored]], limit: int) -> list[Scored]:
        return sorted((hit for some in found for hit in some), key=lambda hit: (-hit.score, hit.id))[:limit]

    def _by_id(
        self, ids: Iterable[int],
        of_store: Callable[[list[int]], dict[int, Found]], of_files: Callable[[list[int]], dict[int, Found]],
    ) -> dict[int, Found]:  # fmt: skip
        wanted = list(ids)
        return of_store([one for one in wanted if one > 0]) | of_files([one for one in wanted if one < 0])
