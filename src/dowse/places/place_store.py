"""The store behind a place: LanceDB finds candidates among the rows of all projects, or of some.

It has what every search needs of a store (`Searchable`), so that ranking, passages and replies are those of a local
index. Rows never change under their id, so those that were read are kept until there are too many.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from dowse.encoding.selection import STATIC_VERSION
from dowse.places.opened_place import TableVersion, form_queries, frequency_of, match_query, word_queries
from dowse.places.place_reader import MAX_LISTED, PlaceReader
from dowse.places.place_rows import chunk_id, quote
from dowse.text.analysis import terms_of, whole_terms_of
from dowse.types import DocumentMatch, Kind, MatchedDocuments, Scored, TextQuery

if TYPE_CHECKING:
    from dowse.types import Vectors

DROPPED_FACTOR = 4
"""How many times as many candidates are asked for where some are dropped."""
COUNTED_ROWS = 100
"""Up to this many chunks with a term are counted; of a more frequent one, their number is estimated. With 1,000, judged
questions score the same, and LanceDB takes half as long again."""
WORD_DOCUMENTS = 20_000
"""Chunks that are looked at for documents with a word that is required or excluded."""
PROBED_PARTITIONS = 10
"""Parts of the index of vectors that are compared with a query: 40,000 vectors. Every fourth of the judged questions scores
0.8573 with it, 0.8532 with 5 parts, and 0.8562 if the best are compared with exact vectors, which takes 22 instead of 7 ms of
processor time."""


class PlaceStore(PlaceReader):
    """A place as a search sees it."""

    stored_share = 1.0
    _begun: Sequence[tuple[object, Future[Any]]] = ()
    """Questions that were asked before the search came to them, with their answers. Each search has its own copy of a store."""

    def expect(
        self, queries: Iterable[tuple[TextQuery, int]], terms: Iterable[str],
        vectors: Iterable[tuple[str, "Vectors", int]], *, kind: Kind | None = None, among: frozenset[int] | None = None,
    ) -> None:  # fmt: skip
        """Begin to ask what a search is going to ask for, all at the same time; it then waits for the slowest."""
        version, start = self._opened.current, self._opened.start
        if among == frozenset():
            return
        begun: list[tuple[object, Future[Any]]] = [
            ((encoder, vector.tobytes(), limit, kind, among), start(self._nearest(encoder, vector, limit, kind, among)))
            for encoder, vector, limit in vectors
        ]
        asked: list[tuple[object, Future[Any]]] = [
            ((query, limit), start(self._score(version, word_queries(query), query, limit))) for query, limit in queries
        ]
        if missing := self._uncounted(version, terms):
            first = [] if self.place.is_folder else [one for _, one in asked[:1]]
            begun.append(("terms", start(self._count(version, missing, first))))
        self._begun = begun + asked

    def _begun_for(self, wanted: object) -> Future[Any] | None:
        return next((asked for about, asked in self._begun if about == wanted), None)

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        return self._find(query, limit)

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        return self._find(query, limit)

    def _find(self, query: TextQuery, limit: int) -> list[Scored]:
        queries = word_queries(query) if query.among != frozenset() else []
        if not queries:
            return []
        opened, version = self._opened, self._opened.current
        asked = self._begun_for((query, limit)) or opened.start(self._score(version, queries, query, limit))
        forms = form_queries(query, lambda term: version.frequencies.get((self._names, term), 0))
        more = opened.run(self._score(version, forms, query, limit)) if forms else {}
        scores = dict(opened.wait(asked))
        for row, score in more.items():
            scores[row] = scores.get(row, 0.0) + score
        return self._best(scores, limit, query.among)

    async def _score(
        self, version: TableVersion, queries: Sequence[Any], query: TextQuery, limit: int
    ) -> dict[int, float]:
        """Search each field by itself, at the same time, and add up the scores of a row."""
        most = limit * (DROPPED_FACTOR if _drops(query.among) else 1)
        condition, scores = self._condition(kind=query.kind, among=query.among), dict[int, float]()
        for hits in await self._find_rows(version, queries, condition, most):
            for row, score in hits:
                scores[row] = scores.get(row, 0.0) + score
        return scores

    def nearest(
        self, encoder: str, vector: "Vectors", limit: int, *, kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:  # fmt: skip
        if among == frozenset():
            return []
        asked = self._begun_for((encoder, vector.tobytes(), limit, kind, among))
        found = self._opened.wait(asked or self._opened.start(self._nearest(encoder, vector, limit, kind, among)))
        return self._best({row: 1.0 - distance for row, distance in found}, limit, among)

    async def _nearest(
        self, encoder: str, vector: "Vectors", limit: int, kind: Kind | None, among: frozenset[int] | None
    ) -> list[tuple[int, float]]:
        is_table, version = encoder == STATIC_VERSION, self._opened.current
        column, own = ("table_vector", "") if is_table else ("model_vector", f"model = {quote(encoder)}")
        query = version.table.query().nearest_to(vector).column(column)
        query = query.distance_type("cosine").nprobes(PROBED_PARTITIONS)
        condition = self._condition(own, kind=kind, among=among)
        return await version.find(query, condition, "_distance", limit * (DROPPED_FACTOR if _drops(among) else 1))

    def _best(self, scores: Mapping[int, float], limit: int, among: frozenset[int] | None) -> list[Scored]:
        """Return the best rows as chunks or files; the documents of the chunks are kept."""
        rows = sorted(scores, key=lambda row: (-scores[row], row))
        candidates, hits = self._opened.candidates, list[Scored]()
        for row, document, ordinal in self._opened.rows().find(rows if _drops(among) else rows[:limit]):
            if among is None or document in among:
                number = document if ordinal < 0 else chunk_id(document, ordinal)
                candidates[number] = document, ordinal
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
        return frozenset(document for _, document, _ in self._opened.rows().find(rows))

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
        version, wanted = self._opened.current, list(dict.fromkeys(terms))
        if self._uncounted(version, wanted) and (begun := self._begun_for("terms")):
            self._opened.wait(begun)
        if missing := self._uncounted(version, wanted):
            self._opened.run(self._count(version, missing))
        return {term: version.frequencies[self._names, term] for term in wanted}

    def _uncounted(self, version: TableVersion, terms: Iterable[str]) -> list[str]:
        return [term for term in dict.fromkeys(terms) if (self._names, term) not in version.frequencies]

    async def _count(self, version: TableVersion, terms: Sequence[str], after: Sequence[Future[Any]] = ()) -> None:
        """Count the chunks that have each term. For a frequent one the score of the best chunk tells it.

        In a bucket this comes after the search for the same terms, whose lists would otherwise be read twice.
        """
        await asyncio.gather(*map(asyncio.wrap_future, after), return_exceptions=True)
        condition = self._condition() if self._names else ""
        queries = [match_query([term], "parts") for term in terms]
        total = sum(one.chunks for one in version.projects.values())
        share = self.chunk_count() / max(1, total)
        found = await self._find_rows(version, queries, condition, COUNTED_ROWS)
        for term, hits in zip(terms, found, strict=True):
            estimated = round(share * frequency_of(hits[0][1], total)) if len(hits) == COUNTED_ROWS else 0
            version.frequencies[self._names, term] = max(len(hits), estimated)

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:  # noqa: ARG002 - a place has no list of words
        return []

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:  # noqa: ARG002 - as above
        return {}

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Return those of the documents whose project has vectors of an encoder."""
        names = {one.name for one in self.projects() if encoder in one.encoders}
        if len(names) == len(self.projects()):
            return documents
        paths = self._opened.rows().file_paths(documents)
        return frozenset(number for number, path in paths.items() if path.partition("/")[0] in names)


def _drops(among: frozenset[int] | None) -> bool:
    """Return whether there are too many documents to name them, so that candidates of others are dropped."""
    return among is not None and len(among) > MAX_LISTED
