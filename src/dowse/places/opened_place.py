"""The open table of a place, the projects that it has, and the rows that were read of it; and its queries of words."""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dowse.places.place_rows import WORD_COLUMNS, PublishedProject, project_of, read_spot
from dowse.places.place_table import ANSWER_SECONDS, SharedPlace, within
from dowse.text.analysis import remove_separators, terms_of, whole_terms_of
from dowse.types import StoredChunk, StoredDocument, TextQuery

CHECK_SECONDS = 5.0
"""How long a server goes on with the rows that it sees before it looks for newer ones."""
MAX_TERMS = 32
"""Terms of a query that count: each is a list that is read from the place."""
QUERIES_AT_ONCE = 16
KEPT_SPOTS = 50_000
"""Candidates of one version whose places are kept for the next search: about 20 MB."""
KEPT_PLACES = 50_000
"""Places of candidates that are kept for the next search; a search that lost its own would read their whole files."""
K1, B = 1.2, 0.75
"""The constants of BM25 in LanceDB."""


Result = TypeVar("Result")
Spot = tuple[int, int, tuple[int, int], str]
"""The id of a candidate, its document, its lines, and its path after the name of the project."""


@dataclass(frozen=True, slots=True)
class TableVersion:
    """One version of the table. The numbers of its rows are valid in this version alone."""

    table: Any
    spots: dict[int, Spot] = field(default_factory=dict)
    """The candidates that were read, by the number of the row."""

    async def find(self, query: Any, condition: str, score: str, limit: int) -> list[tuple[int, float]]:
        """Return the numbers and scores of the best rows. No column is read for it."""
        query = query.where(condition) if condition else query
        found = await query.select(["_rowid", score]).limit(limit).to_arrow()
        return list(zip(found["_rowid"].to_pylist(), found[score].to_pylist(), strict=True))

    async def read_spots(self, rows: Sequence[int]) -> dict[int, Spot]:
        """Return where candidates lie, by the number of the row."""
        known = {row: spot for row in rows if (spot := self.spots.get(row))}
        if missing := [row for row in rows if row not in known]:
            if len(self.spots) + len(missing) > KEPT_SPOTS:
                self.spots.clear()
            query = self.table.take_row_ids(missing).with_row_id().select(["spot"])
            found = await query.to_arrow()
            read = map(read_spot, found["spot"].to_pylist())
            added = dict(zip(found["_rowid"].to_pylist(), read, strict=True))
            self.spots.update(added)
            known |= added
        return known


class OpenedPlace:
    """The open table of a place, the projects that it has, and the rows that were read."""

    def __init__(self, place: SharedPlace) -> None:
        self.place, self.table = place, place.open_table()
        self.lock = threading.Lock()
        self.checked, self.version = 0.0, -1
        self.projects: dict[str, PublishedProject] = {}
        self.unindexed = 0
        self.documents: dict[int, StoredDocument] = {}
        """The documents that were read; all their paths begin with the name of the project."""
        self.texts: dict[str, bytes] = {}
        self.chunks: dict[int, list[StoredChunk]] = {}
        self.places: dict[int, tuple[int, int]] = {}
        """The first and last line of candidates, by the id of the chunk."""
        self.paths: dict[int, str] = {}
        """The paths of candidates, by the id of the document; with the project, too."""
        self.frequencies: dict[tuple[str, str], int] = {}
        self.current: TableVersion
        self._limit = asyncio.Semaphore(QUERIES_AT_ONCE)

    def start(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Begin to ask the place, on the thread that LanceDB has for that."""
        from lancedb.background_loop import LOOP  # an extra, and slow to import

        return asyncio.run_coroutine_threadsafe(work, LOOP.loop)

    def wait(self, asked: Future[Result]) -> Result:
        """Return what was asked for."""
        with self.place.errors("read"):
            try:
                return asked.result(ANSWER_SECONDS)
            finally:
                asked.cancel()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Ask the place and wait for the answer."""
        return self.wait(self.start(work))

    async def gather(self, works: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
        """Do some work at the same time, a bounded number of it at once."""

        async def limited(work: Coroutine[Any, Any, Result]) -> Result:
            async with self._limit:
                return await work

        return await asyncio.gather(*map(limited, works))

    def close(self) -> None:
        """Release the rows that were read."""
        self.documents, self.texts, self.chunks, self.places, self.paths = {}, {}, {}, {}, {}
        self.current.spots.clear()

    def ask(self, work: Callable[[], Any]) -> Any:
        with self.place.errors("read"):
            return within(ANSWER_SECONDS, work)

    def refresh(self) -> None:
        """Look for newer rows now and then, and forget candidates of earlier searches if there are many."""
        with self.lock:
            if len(self.places) > KEPT_PLACES:
                self.places, self.paths = {}, {}
            if time.monotonic() < self.checked + CHECK_SECONDS:
                return
            self.ask(self._refresh)
            self.checked = time.monotonic()

    def _refresh(self) -> None:
        if self.version >= 0:
            self.table.checkout_latest()
        if self.table.version == self.version:
            return
        query = self.table.search().where("row = 'project'").select(["project", "facts"]).limit(1_000_000)
        found = filter(None, map(project_of, query.to_list()))
        self.projects = {one.name: one for one in sorted(found, key=lambda one: one.name)}
        self.unindexed = getattr(self.table.index_stats("parts_idx"), "num_unindexed_rows", 0) or 0
        self.frequencies = {}
        self.current = TableVersion(self.start(self.place.open_for_queries()).result(ANSWER_SECONDS))
        self.version = self.table.version


def match_query(terms: Sequence[str], column: str, boost: float = 1.0, *, requires_all: bool = False) -> Any:
    """Return the query for the rows whose column has one of the terms, or all of them."""
    from lancedb import query

    made: Any = query.MatchQuery  # its arguments have defaults that its type does not know
    how: Any = {"operator": query.FullTextOperator.AND} if requires_all else {}
    return made(" ".join(terms[:MAX_TERMS]), column, boost=boost, **how)


def word_queries(query: TextQuery) -> list[Any]:
    """Return a query for each field that may have a word.

    One query over all of them scores every row with a word, and takes ten times as long as four that skip most rows.
    """
    text = " ".join(query.words)
    by_field = {
        "words": whole_terms_of(" ".join((text, *query.repeated))),
        "names": whole_terms_of(remove_separators(text)),
    }
    parts = terms_of(text)
    return [
        match_query(terms, WORD_COLUMNS[field], weight)
        for field, weight in query.weights.items()
        if field in WORD_COLUMNS and (terms := by_field.get(field, parts))
    ]


def frequency_of(term: str, words: Sequence[str], score: float, total: int, mean: float) -> int:
    """Return about how many chunks have a term, from the score by BM25 of one that has these words.

    The score is the rarity of the term over all chunks, times a factor of the chunk's own words and the mean length.
    """
    count = words.count(term) or 1
    factor = count * (K1 + 1) / (count + K1 * (1 - B + B * len(words) / max(1.0, mean)))
    return max(1, min(total, round((total + 1) / math.exp(min(50.0, score / factor)) - 0.5)))
