"""The store behind a place: LanceDB finds candidates among the rows of all projects, or of some.

It has what every search needs of a store (`Searchable`), so that ranking, passages and replies are those of a local
index. Rows never change under their id, so those that were read are kept until there are too many.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from dowse.encoding.selection import STATIC_VERSION
from dowse.places.opened_place import frequency_of, match_query, word_queries
from dowse.places.place_reader import MAX_LISTED, PlaceReader
from dowse.places.place_rows import quote, read_spot
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
KEPT_PLACES = 20_000
"""Places of candidates that are kept for the next search."""


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
        """Search each field by itself, at the same time, and add up the scores of a row."""
        queries = word_queries(query) if query.among != frozenset() else []
        most = limit if len(queries) == 1 else limit * FIELD_FACTOR

        def ask(wanted: Any) -> list[Scored]:
            return self._candidates(
                lambda: self._opened.table.search(wanted, query_type="fts"), "_score", most, query.kind, query.among
            )

        asked = [self._opened.pool.submit(ask, wanted) for wanted in queries]
        found, scores = dict[int, int](), dict[int, float]()
        for hits in asked:
            for number, document, score in hits.result():
                found[number] = document
                scores[number] = scores.get(number, 0.0) + score
        best = sorted(scores, key=lambda number: (-scores[number], number))[:limit]
        return [Scored(number, found[number], float(f"{scores[number]:.5g}")) for number in best]

    def nearest(
        self, encoder: str, vector: "Vectors", limit: int, *, kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:  # fmt: skip
        if among == frozenset():
            return []
        expected, self._expected = self._expected, None
        if expected and expected[0] == (encoder, limit, kind, among):
            return expected[1].result()
        return self._nearest(encoder, vector, limit, kind, among)

    def expect_nearest(
        self, encoder: str, vector: "Vectors", limit: int, kind: Kind | None, among: frozenset[int] | None
    ) -> None:
        """Begin to search by meaning, beside the search by words, which is asked for first."""
        if among != frozenset():
            asked = self._opened.pool.submit(self._nearest, encoder, vector, limit, kind, among)
            self._expected = (encoder, limit, kind, among), asked

    def _nearest(
        self, encoder: str, vector: "Vectors", limit: int, kind: Kind | None, among: frozenset[int] | None
    ) -> list[Scored]:
        is_table = encoder == STATIC_VERSION
        column, own = ("table_vector", "") if is_table else ("model_vector", f"model = {quote(encoder)}")

        def search() -> Any:
            query = self._opened.table.search(vector, vector_column_name=column)
            query = query.distance_type("cosine").nprobes(PROBED_PARTITIONS)
            return query.refine_factor(REFINED_FACTOR) if self.place.is_folder else query

        return self._candidates(search, "_distance", limit, kind, among, own=own)

    def _candidates(
        self, search: Callable[[], Any], score: str, limit: int, kind: Kind | None, among: frozenset[int] | None,
        *, own: str = "",
    ) -> list[Scored]:  # fmt: skip
        """Return the best rows of a search; where they lie is kept, so that nothing is asked for that again."""
        drops = among is not None and len(among) > MAX_LISTED
        condition, places, paths = self._condition(own, kind=kind, among=among), self._opened.places, self._opened.paths
        if len(places) > KEPT_PLACES:
            places.clear()
            paths.clear()

        def ask() -> list[dict[str, Any]]:
            query = search()
            query = query.where(condition, prefilter=True) if condition else query
            most = limit * (DROPPED_FACTOR if drops else 1)
            found: list[dict[str, Any]] = query.select(["spot", score]).limit(most).to_list()
            return found

        hits = []
        with self._damage():
            for row in self._opened.ask(ask):
                number, document, lines, path = read_spot(row["spot"])
                if not drops or (among and document in among):
                    paths[document], places[number] = path, lines
                    value = 1.0 - row[score] if score == "_distance" else row[score]
                    hits.append(Scored(number, document, float(f"{value:.5g}")))
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
        found = set[int]()
        for column, terms in (("words", whole_terms_of(word)), ("parts", terms_of(word))):
            if terms:
                wanted = match_query(terms, column, requires_all=True)
                found |= {row["document"] for row in self._matching(wanted, ["document"], WORD_DOCUMENTS)}
        return frozenset(found)

    def _matching(self, wanted: Any, columns: list[str], limit: int) -> list[dict[str, Any]]:
        condition = self._condition()

        def ask() -> list[dict[str, Any]]:
            query = self._opened.table.search(wanted, query_type="fts")
            query = query.where(condition, prefilter=True) if condition else query
            found: list[dict[str, Any]] = query.select([*columns, "_score"]).limit(limit).to_list()
            return found

        rows: list[dict[str, Any]] = self._opened.ask(ask)
        return rows

    def chunk_count(self) -> int:
        """Return the number of chunks of all projects: the engine counts over all of them how rare a word is."""
        return sum(one.chunks for one in self._opened.projects.values())

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        wanted, known, scope = list(dict.fromkeys(terms)), self._opened.frequencies, self._condition()
        missing = [term for term in wanted if (scope, term) not in known]
        asked: list[Future[int]] = [self._opened.pool.submit(self._frequency, term) for term in missing]
        for term, count in zip(missing, asked, strict=True):
            known[scope, term] = count.result()
        return {term: known[scope, term] for term in wanted}

    def _frequency(self, term: str) -> int:
        """Return about how many chunks have a term: the score of the best one tells it, which has its own length."""
        rows = self._matching(match_query([term], "parts"), ["parts"], 1)
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
