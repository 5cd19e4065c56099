"""The store behind a place: LanceDB finds candidates among the rows of all projects, or of some.

It has what every search needs of a store (`Searchable`), so that ranking, passages and replies are those of a local
index. Rows never change under their id, so those that were read are kept until there are too many.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dowse.encoding.selection import STATIC_VERSION
from dowse.places.found_copies import FoundCopies
from dowse.places.opened_place import (
    BEST_FACTOR,
    NO_SHARES,
    ScoredRows,
    TableVersion,
    form_queries,
    frequency_of,
    match_query,
    word_queries,
)
from dowse.places.place_reader import PlaceReader
from dowse.places.place_rows import chunk_id, quote
from dowse.text.analysis import rarity, terms_of, whole_terms_of
from dowse.types import DocumentMatch, Kind, MatchedDocuments, Scored, TextQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.types import Vectors

ASKED_FACTOR = 4
"""How many times as many candidates are asked for: some are copies, some are dropped, and the scores of a row are added up over
fields. It costs LanceDB nothing: 18 instead of 17 ms of processor time for `parts`, and 10 instead of 11 ms for vectors.
Judged questions about one project score 0.8835 instead of 0.8828."""
COUNTED_ROWS = 100
"""Up to this many chunks with a term are counted; of a more frequent one, their number is estimated. With 1,000, judged
questions score the same, and LanceDB takes half as long again."""
COUNTED_ROWS_OF_SOME = 20_000
"""The same where some projects are searched: the score of the best chunk tells how frequent the term is in all."""
WORD_DOCUMENTS = 20_000
"""Chunks that are looked at for documents with a word that is required or excluded."""
PROBED_PARTITIONS = 10
"""Parts of the index of vectors that are compared with a query: 40,000 vectors. Every fourth of the judged questions scores
0.8573 with it, 0.8532 with 5 parts, and 0.8562 if the best are compared with exact vectors, which takes 22 instead of 7 ms of
processor time."""


class PlaceStore(PlaceReader):
    """A place as a search sees it."""

    stored_share = 1.0
    _begun: Sequence[tuple[tuple[object, ...], Future[ScoredRows]]] = ()
    """Questions that were asked before the search came to them, with their answers. Each search has its own copy of a store."""
    _counting: Future[None] | None = None
    """The counting of the terms of the query, which was begun in the same way."""
    _text = ""
    """What is searched for."""
    _copies: Mapping[frozenset[int] | None, FoundCopies] = MappingProxyType({})
    """The files that the search has found among some documents, or among all."""

    def expect(
        self, queries: Iterable[tuple[TextQuery, int]], terms: Iterable[str],
        vectors: Iterable[tuple[str, "Vectors", int]], *, text: str, kind: Kind | None = None, among: frozenset[int] | None = None,
    ) -> None:  # fmt: skip
        """Begin to ask what a search for a text is going to ask for; it then waits for the slowest.

        All of it is asked at the same time, but for words in some projects, whose rarity there is counted first.
        """
        version, start, self._text = self._opened.current, self._opened.start, text
        if among == frozenset():
            return
        begun: list[tuple[tuple[object, ...], Future[ScoredRows]]] = [
            ((encoder, vector.tobytes(), limit, kind, among), start(self._nearest(encoder, vector, limit, kind, among)))
            for encoder, vector, limit in vectors
        ]
        missing = self._uncounted(version, terms)
        if missing and self._names:  # the scores of words depend on it
            self._counting = start(self._count(version, missing))
        begun += [((query, limit), start(self._score(version, query, limit))) for query, limit in queries]
        if missing and not self._names:
            first = [] if self.place.is_folder else [one for (asked, *_), one in begun if isinstance(asked, TextQuery)]
            self._counting = start(self._count(version, missing, first[:1]))
        self._begun = begun

    def _begun_for(self, wanted: tuple[object, ...]) -> Future[ScoredRows] | None:
        return next((asked for about, asked in self._begun if about == wanted), None)

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        return self._find(query, limit)

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        return self._find(query, limit)

    def _find(self, query: TextQuery, limit: int) -> list[Scored]:
        if query.among == frozenset():
            return []
        opened, version = self._opened, self._opened.current
        asked = self._begun_for((query, limit)) or opened.start(self._score(version, query, limit))
        forms = form_queries(query, lambda term: version.frequencies.get((self._names, term), 0))
        more = opened.run(self._add_up(version, forms, query, limit)) if forms else None
        found = opened.wait(asked)
        return self._best(ScoredRows.added_up([found, more]) if more else found, limit, query.among)

    async def _score(self, version: TableVersion, query: TextQuery, limit: int) -> ScoredRows:
        """Search each field for the words of a query; of some projects, when it is known how rare they are there."""
        terms = terms_of(" ".join(query.words)) if self._names and not query.requires_all else []
        if self._counting and self._uncounted(version, terms):
            await asyncio.wrap_future(self._counting)
        if missing := self._uncounted(version, terms):
            await self._count(version, missing)
        queries = word_queries(query, version.shares.get(self._names, NO_SHARES))
        return await self._add_up(version, queries, query, limit)

    async def _add_up(self, version: TableVersion, queries: Sequence[Any], query: TextQuery, limit: int) -> ScoredRows:
        """Search by several queries at the same time, and add up the scores of a row."""
        condition = self._condition(kind=query.kind, among=query.among)
        return ScoredRows.added_up(await self._find_rows(version, queries, condition, ASKED_FACTOR * limit))

    def nearest(
        self, encoder: str, vector: "Vectors", limit: int, *, kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:  # fmt: skip
        if among == frozenset():
            return []
        asked = self._begun_for((encoder, vector.tobytes(), limit, kind, among))
        found = self._opened.wait(asked or self._opened.start(self._nearest(encoder, vector, limit, kind, among)))
        return self._best(found._replace(scores=1.0 - found.scores), limit, among)

    async def _nearest(
        self, encoder: str, vector: "Vectors", limit: int, kind: Kind | None, among: frozenset[int] | None
    ) -> ScoredRows:
        is_table, version = encoder == STATIC_VERSION, self._opened.current
        column, own = ("table_vector", "") if is_table else ("model_vector", f"model = {quote(encoder)}")
        query = version.table.query().nearest_to(vector).column(column)
        query = query.distance_type("cosine").nprobes(PROBED_PARTITIONS)
        condition = self._condition(own, kind=kind, among=among)
        return await version.find(query, condition, "_distance", ASKED_FACTOR * limit)

    def _best(self, found: ScoredRows, limit: int, among: frozenset[int] | None) -> list[Scored]:
        """Return the best rows as chunks or files, of copies one; the documents of the chunks are kept."""
        import numpy as np

        copies = self._copies_among(among)
        known, documents, ordinals = copies.rows.find(found.rows)
        scores = found.scores[known]
        order = np.lexsort((found.rows[known], -scores))
        if among is not None:
            order = order[_are_among(documents[order], among)]
        candidates, hits = self._opened.candidates, dict[int, Scored]()
        for start in range(0, len(order), ASKED_FACTOR * limit):
            part = order[start : start + ASKED_FACTOR * limit]
            listed = (copies.first_of(documents[part]), ordinals[part].tolist(), scores[part].tolist())
            for document, ordinal, score in zip(*listed, strict=True):
                number = document if ordinal < 0 else chunk_id(document, ordinal)
                if number not in hits and len(hits) < limit:
                    candidates[number] = document, ordinal
                    hits[number] = Scored(number, document, float(f"{score:.5g}"))
            if len(hits) == limit:
                break
        return sorted(hits.values(), key=lambda hit: (-hit.score, hit.id))

    def _copies_among(self, among: frozenset[int] | None) -> FoundCopies:
        """Return the copies among the candidates, which are those of all that was asked early."""
        if among not in self._copies:
            import numpy as np

            copies = FoundCopies(self._opened.rows(), self._text)
            self._copies = {**self._copies, among: copies}
            if found := [self._opened.wait(asked).rows for _, asked in self._begun]:
                _, documents, _ = copies.rows.find(np.unique(np.concatenate(found)))
                documents = np.unique(documents)
                copies.first_of(documents if among is None else documents[_are_among(documents, among)])
        return self._copies[among]

    def copies_of(self, document: int) -> list[str]:
        """Return the paths of the copies of a file that this search has found."""
        others = {other for copies in self._copies.values() for other in copies.others(document)}
        return sorted(self.paths_by_id(others).values(), key=lambda path: (len(path), path))

    def merged(self, shares: Mapping[int, float]) -> Mapping[int, float]:
        """Return the shares of documents, of copies those of all of them for the one that is ranked."""
        return next(iter(self._copies.values())).merged(shares) if self._copies and shares else shares

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
        _, documents, _ = self._opened.rows().find(ScoredRows.added_up(found).rows)
        return frozenset(documents.tolist())

    async def _find_rows(
        self, version: TableVersion, queries: Sequence[Any], condition: str, limit: int
    ) -> list[ScoredRows]:
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
        if self._counting and self._uncounted(version, wanted):
            self._opened.wait(self._counting)
        if missing := self._uncounted(version, wanted):
            self._opened.run(self._count(version, missing))
        return {term: version.frequencies[self._names, term] for term in wanted}

    def _uncounted(self, version: TableVersion, terms: Iterable[str]) -> list[str]:
        return [term for term in dict.fromkeys(terms) if (self._names, term) not in version.frequencies]

    async def _count(self, version: TableVersion, terms: Sequence[str], after: Sequence[Future[Any]] = ()) -> None:
        """Count the chunks that have each term. For a frequent one the score of the best chunk tells it.

        In a bucket this comes after the search of all projects for the same terms, whose lists would otherwise be read twice.
        """
        await asyncio.gather(*map(asyncio.wrap_future, after), return_exceptions=True)
        queries, condition = [match_query([term], "parts") for term in terms], "".join(self._of_projects())
        chunks = {one.name: one.chunks for one in version.projects.values()}
        total = sum(chunks.values())
        searched = sum(chunks.get(name, 0) for name in self._names or chunks)
        most = COUNTED_ROWS_OF_SOME if self._names else COUNTED_ROWS
        shares = version.shares.setdefault(self._names, {})
        for term, hits in zip(terms, await self._find_rows(version, queries, condition, most), strict=True):
            best = float(hits.scores.max(initial=0.0))
            estimated = round(searched / max(1, total) * frequency_of(best, total)) if len(hits.rows) == most else 0
            found = version.frequencies[self._names, term] = max(len(hits.rows), estimated)
            if self._names and best:
                shares[term] = min(1.0, rarity(min(found, searched), searched) * BEST_FACTOR / best)

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:  # noqa: ARG002 - a place has no list of words
        return []

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:  # noqa: ARG002 - as above
        return {}

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Return those of the documents whose project has vectors of an encoder."""
        names = {one.name for one in self.projects() if encoder in one.encoders}
        if len(names) == len(self.projects()):
            return documents
        files = self._opened.rows().files_of(documents)
        return frozenset(number for number, one in files.items() if one.path.partition("/")[0] in names)


def _are_among(documents: "NDArray[np.int64]", among: frozenset[int]) -> "NDArray[np.bool_]":
    import numpy as np

    return np.fromiter((number in among for number in documents.tolist()), np.bool_, len(documents))
