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
from dowse.places.place_rows import quote
from dowse.text.analysis import terms_of, whole_terms_of
from dowse.types import DocumentMatch, Kind, MatchedDocuments, Scored, TextQuery

if TYPE_CHECKING:
    from dowse.types import Vectors

FIELD_FACTOR = 2
"""How many times as many candidates are asked of each field: the best of all have a high score in one of them."""
DROPPED_FACTOR = 4
"""How many times as many candidates are asked for where some are dropped."""
WORD_DOCUMENTS = 20_000
"""Chunks that are looked at for documents with a word that is required or excluded."""
REFINED_FACTOR = 2
"""How many times as many vectors are compared exactly, where they can be read quickly: worth 0.004. In a bucket, reading
them takes ten times as long as the rest of the search for them."""
PROBED_PARTITIONS = 24
"""Parts of the index of vectors that are compared with a query."""


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
        asked = [version.find(version.table.query().nearest_to_text(one), condition, "_score", most) for one in queries]
        for hits in await self._opened.gather(asked):
            for row, score in hits:
                scores[row] = scores.get(row, 0.0) + score
        return await self._best(version, scores, limit, query.among)

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
        return await self._best(version, {row: 1.0 - distance for row, distance in found}, limit, among)

    async def _best(
        self, version: TableVersion, scores: Mapping[int, float], limit: int, among: frozenset[int] | None
    ) -> list[Scored]:
        """Return the best rows; where they lie is kept, so that nothing is asked for that again."""
        rows = sorted(scores, key=lambda row: (-scores[row], row))
        places, paths, hits = self._opened.places, self._opened.paths, list[Scored]()
        with self._damage():
            spots = await version.read_spots(rows if _drops(among) else rows[:limit])
            for row, (number, document, lines, path) in spots.items():
                if among is None or document in among:
                    paths[document], places[number] = path, lines
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
        asked = [
            self._matching(match_query(terms, column, requires_all=True), "document", WORD_DOCUMENTS)
            for column, terms in columns
            if terms
        ]
        found = self._opened.run(self._opened.gather(asked))
        return frozenset(row["document"] for rows in found for row in rows)

    async def _matching(self, wanted: Any, column: str, limit: int) -> list[dict[str, Any]]:
        query, condition = self._opened.current.table.query().nearest_to_text(wanted), self._condition()
        query = query.where(condition) if condition else query
        found: list[dict[str, Any]] = await query.select([column, "_score"]).limit(limit).to_list()
        return found

    def chunk_count(self) -> int:
        """Return the number of chunks of all projects: the engine counts over all of them how rare a word is."""
        return sum(one.chunks for one in self._opened.projects.values())

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        wanted, known, scope = list(dict.fromkeys(terms)), self._opened.frequencies, self._condition()
        missing = [term for term in wanted if (scope, term) not in known]
        if missing:
            counts = self._opened.run(self._opened.gather([self._frequency(term) for term in missing]))
            known.update({(scope, term): count for term, count in zip(missing, counts, strict=True)})
        return {term: known[scope, term] for term in wanted}

    async def _frequency(self, term: str) -> int:
        """Return about how many chunks have a term: the score of the best one tells it, which has its own length."""
        rows = await self._matching(match_query([term], "parts"), "parts", 1)
        if not rows:
            return 0
        total = self.chunk_count()
        mean = sum(one.terms for one in self._opened.projects.values()) / max(1, total)
        return frequency_of(term, rows[0]["parts"].split(" "), rows[0]["_score"], total, mean)

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:  # noqa: ARG002 - a place has no list of words
        return []

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:  # noqa: ARG002 - as above
        return {}

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Return those of the documents whose project has vectors of an encoder."""
        names = {one.name for one in self.projects() if encoder in one.encoders}
        if len(names) == len(self.projects()):
            return documents
        self.paths_by_id(documents)
        return frozenset(
            number for number in documents if self._opened.paths.get(number, "").partition("/")[0] in names
        )


def _drops(among: frozenset[int] | None) -> bool:
    """Return whether there are too many documents to name them, so that candidates of others are dropped."""
    return among is not None and len(among) > MAX_LISTED
