"""The store behind a place: LanceDB finds candidates among the rows of all projects, or of some.

It has what every search needs of a store (`Searchable`), so that ranking, passages and replies are those of a local
index. Rows never change under their id, so those that were read are kept until there are too many.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from dowse.encoding.selection import STATIC_VERSION
from dowse.places.opened_place import TableVersion, frequency_of, match_query, word_queries
from dowse.places.place_reader import MAX_LISTED, PlaceReader
from dowse.places.place_rows import chunk_id, quote
from dowse.text.analysis import terms_of, whole_terms_of
from dowse.types import DocumentMatch, Kind, MatchedDocuments, Scored, TextQuery

if TYPE_CHECKING:
    from dowse.types import Vectors

FIELD_FACTOR = 2
"""How many times as many candidates are asked of each field: the best of all have a high score in one of them."""
DROPPED_FACTOR = 4
"""How many times as many candidates are asked for where some are dropped."""
COUNTED_ROWS = 1000
"""Up to this many chunks with a term are counted; of a more frequent one, their number is estimated."""
WORD_DOCUMENTS = 20_000
"""Chunks that are looked at for documents with a word that is required or excluded."""
REFINED_FACTOR = 2
"""How many times as many vectors are compared exactly, where they can be read quickly. In a bucket, reading them takes ten
times as long as the rest of the search for them."""
PROBED_PARTITIONS = 10
"""Parts of the index of vectors that are compared with a query: 40,000 vectors. Judged questions score 0.8815 with it and
without exact vectors, 0.886 in a local index."""


class PlaceStore(PlaceReader):
    """A place as a search sees it."""

    stored_share = 1.0
    _expected: tuple[tuple[object, ...], Future[list[Scored]]] | None = None
    """A search by meaning that has begun, and what it is about."""

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        return self._find(query, limit)

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        return self._find(query, limit)

    def _find(self, query: TextQuery, limit: int) -> list[Scored]:
        queries = word_queries(query) if query.among != frozenset() else []
        return self._opened.run(self._find_words(queries, query, limit)) if queries else []

    async def _find_words(self, queries: Sequence[Any], query: TextQuery, limit: int) -> list[Scored]:
        """Search each field by itself, at the same time, and add up the scores of a row."""
        version, scores = self._opened.current, dict[int, float]()
        most = limit if len(queries) == 1 else limit * FIELD_FACTOR
        most *= DROPPED_FACTOR if _drops(query.among) else 1
        condition = self._condition(kind=query.kind, among=query.among)
        for hits in await self._find_rows(version, queries, condition, most):
            for row, score in hits:
                scores[row] = scores.get(row, 0.0) + score
        return self._best(version, scores, limit, query.among)

    def nearest(
        self, encoder: str, vector: "Vectors", limit: int, *, kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:  # fmt: skip
        if among == frozenset():
            return []
        expected, self._expected = self._expected, None
        if expected and expected[0] == (encoder, limit, kind, among):
            return self._opened.wait(expected[1])
        return self._opened.run(self._nearest(encoder, vector, limit, kind, among))

    def expect_nearest(
        self, encoder: str, vector: "Vectors", limit: int, kind: Kind | None, among: frozenset[int] | None
    ) -> None:
        """Begin to search by meaning, beside the search by words, which is asked for first."""
        if among != frozenset():
            asked = self._opened.start(self._nearest(encoder, vector, limit, kind, among))
            self._expected = (encoder, limit, kind, among), asked

    async def _nearest(
        self, encoder: str, vector: "Vectors", limit: int, kind: Kind | None, among: frozenset[int] | None
    ) -> list[Scored]:
        is_table, version = encoder == STATIC_VERSION, self._opened.current
        column, own = ("table_vector", "") if is_table else ("model_vector", f"model = {quote(encoder)}")
        query = version.table.query().nearest_to(vector).column(column)
        query = query.distance_type("cosine").nprobes(PROBED_PARTITIONS)
        query = query.refine_factor(REFINED_FACTOR) if self.place.is_folder else query
        condition = self._condition(own, kind=kind, among=among)
        most = limit * (DROPPED_FACTOR if _drops(among) else 1)
        found = await version.find(query, condition, "_distance", most)
        return self._best(version, {row: 1.0 - distance for row, distance in found}, limit, among)

    def _best(
        self, version: TableVersion, scores: Mapping[int, float], limit: int, among: frozenset[int] | None
    ) -> list[Scored]:
        """Return the best rows as chunks or files; the documents of the chunks are kept."""
        rows = sorted(scores, key=lambda row: (-scores[row], row))
        documents, hits = self._opened.documents, list[Scored]()
        for row, document, ordinal in version.rows.find(rows if _drops(among) else rows[:limit]):
            if among is None or document in among:
                number = document if ordinal < 0 else chunk_id(document, ordinal)
                documents[number] = document
                hits.append(Scored(number, document, float(f"{scores[row]:.5g}")))
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:  # noqa: ARG002 - of documents alone
        return MatchedDocuments(0)

    def cover_documents(self, *_: object) -> list[Scored]:
        """Return nothing: only archives are searched by whole documents, and a place has none."""
        return []

    def similar_words(self, *_: object) -> list[tuple[str, int]]:
        """Return nothing: a place has no list of words."""
        return []

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Return the documents that contain a word: whole, or all its parts in one chunk."""
        columns = (("words", whole_terms_of(word)), ("parts", terms_of(word)))
        queries = [match_query(terms, column, requires_all=True) for column, terms in columns if terms]
        version, condition = self._opened.current, self._condition()
        found = self._opened.run(self._find_rows(version, queries, condition, WORD_DOCUMENTS))
        rows = {row for hits in found for row, _ in hits}
        return frozenset(document for _, document, _ in version.rows.find(rows))

    async def _find_rows(
        self, version: TableVersion, queries: Sequence[Any], condition: str, limit: int
    ) -> list[list[tuple[int, float]]]:
        """Return the rows and scores of several searches by words, which run at the same time."""
        asked = [
            version.find(version.table.query().nearest_to_text(one), condition, "_score", limit) for one in queries
        ]
        return await self._opened.gather(asked)

    def chunk_count(self) -> int:
        """Return the number of chunks of the projects that are searched."""
        return sum(one.chunks for one in self.projects())

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        version, names = self._opened.current, self._names
        wanted, known = list(dict.fromkeys(terms)), version.frequencies
        if missing := [term for term in wanted if (names, term) not in known]:
            counts = self._opened.run(self._count(version, missing))
            known.update({(names, term): count for term, count in zip(missing, counts, strict=True)})
        return {term: known[names, term] for term in wanted}

    async def _count(self, version: TableVersion, terms: Sequence[str]) -> list[int]:
        """Return how many chunks have each term. For frequent ones the score of the best chunk tells it, by its words."""
        condition = self._condition() if self._names else ""
        found = await self._find_rows(
            version, [match_query([term], "parts") for term in terms], condition, COUNTED_ROWS
        )
        best = [hits[0] if len(hits) == COUNTED_ROWS else None for hits in found]
        texts = await version.take(list({row for row, _ in filter(None, best)}), "parts")
        everything = version.projects.values()
        total = sum(one.chunks for one in everything)
        mean = sum(one.terms for one in everything) / max(1, total)
        share = self.chunk_count() / max(1, total)
        return [
            len(hits)
            if frequent is None
            else max(
                COUNTED_ROWS, round(share * frequency_of(term, texts[frequent[0]].split(" "), frequent[1], total, mean))
            )
            for term, hits, frequent in zip(terms, found, best, strict=True)
        ]

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:  # noqa: ARG002 - a place has no list of words
        return []

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:  # noqa: ARG002 - as above
        return {}

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Return those of the documents whose project has vectors of an encoder."""
        names = {one.name for one in self.projects() if encoder in one.encoders}
        if len(names) == len(self.projects()):
            return documents
        paths = self._opened.current.rows.file_paths(documents)
        return frozenset(number for number, path in paths.items() if path.partition("/")[0] in names)


def _drops(among: frozenset[int] | None) -> bool:
    """Return whether there are too many documents to name them, so that candidates of others are dropped."""
    return among is not None and len(among) > MAX_LISTED
