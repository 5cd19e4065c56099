"""The open table of a place, the projects that it has, and the files that were read of it; and its queries of words."""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from statistics import mean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from dowse.places import place_table
from dowse.places.place_rows import WORD_COLUMNS, PublishedFile, PublishedProject, project_of
from dowse.places.place_table import BUCKET_CACHE_BYTES, SharedPlace
from dowse.places.row_map import COLUMNS, RowMap
from dowse.store.lance_import import import_lancedb
from dowse.store.lexical_entries import FORM_WEIGHT, frequent_forms
from dowse.system.platform import release_memory
from dowse.text.analysis import remove_separators, terms_of, whole_terms_of
from dowse.types import Field, TextQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHECK_SECONDS = 5.0
"""How long a server goes on with the rows that it sees before it looks for newer ones."""
MAX_TERMS = 32
"""Terms of a query that count: each is a list that is read from the place."""
QUERIES_AT_ONCE = 16
KEPT_CANDIDATES = 50_000
"""Chunks of earlier searches whose documents are kept: about 10 MB."""
READ_ROWS = 1 << 20
"""Rows of the map that are read at once, 8,192 by default: the map of 1.27 million rows takes 0.22 instead of 0.69 s of processor
time with it, and 80 MB less memory. The number of requests to a bucket stays the same."""
ARENAS = 1
"""Parts of the memory that threads of LanceDB share. By default glibc makes eight for each core, and each keeps what it freed:
80 MB after 100 searches of a million chunks."""
WARMED_COLUMNS = (
    "path_parts",
    "symbol_parts",
    "table_vector",
    "model_vector",
    "parts",
    "names",
    "heading_parts",
    "words",
)
"""The columns whose indexes are read from a bucket as a whole beside the second search, as long as they fit into the cache: a
word that is new to a server costs seven requests for each index of words that is not there."""
WORDS_EXPANSION = 1.6
"""How much more memory than disk an index of words takes: 197 MB for 121 MB, and 100 MB for 24 MB, of the same words in a seventh
of the chunks. The cache drops what does not fit."""
BEST_FACTOR = 2.12
"""The part of a score by BM25 that the chunk decides and not the rarity of the term, for the best chunk with a frequent term:
2.11 to 2.13 for eight terms in 584 to 55,789 of 153,367 chunks, and never more than 2.2."""
COMMON_SHARE = 0.5
"""A word that is less than half as rare in the projects that are searched as at the place counts less, as its rarity there is
known to LanceDB alone. Mostly it is the name of the project. Judged questions of one project score 0.8778 without it and
0.8828 with it; by a local index, 0.8938."""
NO_SHARES: Mapping[str, float] = MappingProxyType({})

Result = TypeVar("Result")


class ScoredRows(NamedTuple):
    """The numbers of rows, and their scores."""

    rows: "NDArray[np.int64]"
    scores: "NDArray[np.float64]"

    @staticmethod
    def added_up(found: Iterable["ScoredRows"]) -> "ScoredRows":
        """Return each row once, with the sum of its scores."""
        import numpy as np

        found = [ScoredRows(np.empty(0, np.int64), np.empty(0)), *found]
        all_rows, scores = (np.concatenate(column) for column in zip(*found, strict=True))
        rows, places = np.unique(all_rows, return_inverse=True)
        return ScoredRows(rows, np.bincount(places, scores, len(rows)).astype(np.float64))


@dataclass(frozen=True, slots=True)
class TableVersion:
    """One version of the table. The numbers of its rows are valid in this version alone."""

    table: Any
    number: int
    reading: "asyncio.Future[RowMap]"
    """Reads the map of rows, which the first search does not wait for until it has candidates."""
    projects: Mapping[str, PublishedProject]
    unindexed: int
    frequencies: dict[tuple[Sequence[str], str], int] = field(default_factory=dict)
    """How many chunks of some projects have a term."""
    shares: dict[Sequence[str], dict[str, float]] = field(default_factory=dict)
    """How rare terms are in some projects, as a share of how rare they are at the place."""

    async def rows(self) -> RowMap:
        """Return the map of rows once it has been read."""
        return await asyncio.shield(self.reading)

    async def find(self, query: Any, condition: str, score: str, limit: int) -> ScoredRows:
        """Return the numbers and scores of the best rows. No column is read for it."""
        query = query.where(condition) if condition else query
        found = await query.select(["_rowid", score]).limit(limit).to_arrow()
        rows, scores = (found[name].to_numpy() for name in ("_rowid", score))
        return ScoredRows(rows.astype("int64"), scores.astype("float64"))

    async def take(self, rows: Sequence[int], column: str) -> dict[int, Any]:
        """Return one column of some rows, by the number of the row; without those that were removed."""
        if not rows:
            return {}
        found = await self.table.take_row_ids(list(rows)).with_row_id().select([column]).to_arrow()
        return dict(zip(found["_rowid"].to_pylist(), found[column].to_pylist(), strict=True))


class OpenedPlace:
    """The open table of a place, the projects that it has, and the files that were read."""

    def __init__(self, place: SharedPlace) -> None:
        self.place = place
        self.lock = threading.Lock()
        self.checked = -math.inf
        self.files: dict[int, PublishedFile] = {}
        """Files that were read, by document; all their paths begin with the name of the project."""
        self.contents: dict[int, PublishedFile] = {}
        """The same by content: files with the same content are read once."""
        self.candidates: dict[int, tuple[int, int]] = {}
        """The documents of candidates, and the ordinals in them, by the id of the chunk."""
        self.current: TableVersion
        self._opened: TableVersion | None = None
        self._next: Any = None
        """The table in which newer versions are looked for."""
        self._warmed = -1
        self._limit = asyncio.Semaphore(QUERIES_AT_ONCE)
        release_memory(ARENAS)  # before LanceDB starts its threads

    def start(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Begin to ask the place, on the thread that LanceDB has for that."""
        import_lancedb(is_whole=self.place.scheme == "db")  # first: it leaves out most of what makes the import slow
        from lancedb.background_loop import LOOP

        return asyncio.run_coroutine_threadsafe(work, LOOP.loop)

    def wait(self, asked: Future[Result]) -> Result:
        """Return what was asked for."""
        with self.place.errors("read"):
            try:
                return asked.result(place_table.ANSWER_SECONDS)
            finally:
                asked.cancel()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Ask the place and wait for the answer."""
        return self.wait(self.start(work))

    def rows(self) -> RowMap:
        """Return the map of rows of the current version."""
        reading = self.current.reading
        has_read = reading.done() and not reading.cancelled() and reading.exception() is None
        return reading.result() if has_read else self.run(self.current.rows())  # which is a switch of threads

    async def gather(self, works: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
        """Do some work at the same time, a bounded number of it at once."""

        async def limited(work: Coroutine[Any, Any, Result]) -> Result:
            async with self._limit:
                return await work

        return await asyncio.gather(*map(limited, works))

    def close(self) -> None:
        """Release what was read."""
        self.candidates = {}
        self.forget_files()

    def forget_files(self) -> None:
        """Release the files that were read."""
        self.files, self.contents = {}, {}

    def refresh(self) -> None:
        """Look for newer rows now and then, and forget candidates of earlier searches if there are many."""
        with self.lock:
            if len(self.candidates) > KEPT_CANDIDATES:
                self.candidates = {}
            if self.files and self._warmed != self.current.number and not self.place.is_folder:
                self._warmed = self.current.number
                self.start(_warm(self.current.table))  # a search has been answered: the first one comes before it
            if self._opened and self._opened.reading.done() and self._opened.reading.exception():
                self._opened, self.checked = None, -math.inf
            if time.monotonic() < self.checked + CHECK_SECONDS:
                return
            self.run(self._refresh())
            self.checked = time.monotonic()

    async def _refresh(self) -> None:
        if self._next is None:
            self._next = await self.place.open_for_queries()
        else:
            await self._next.checkout_latest()
        number = await self._next.version()
        if self._opened is None or number != self._opened.number:
            table, self._next = self._next, None
            is_later = self._opened is not None
            self._opened = self.current = await self._read_version(table, number, waits=is_later)
            self.forget_files()  # some of them may have been removed

    async def _read_version(self, table: Any, number: int, *, waits: bool) -> TableVersion:
        """Read the projects, and begin to read the map of rows; wait for it if another version was open until now."""
        reading = asyncio.ensure_future(_read_map(table))
        reading.add_done_callback(lambda read: read.cancelled() or read.exception())  # a command may end before it
        facts = table.query().where("facts IS NOT NULL").select(["facts"]).to_arrow()
        found, indexes = await asyncio.gather(facts, table.index_stats("parts_idx"))
        if waits:
            await reading
        projects = sorted(filter(None, map(project_of, found["facts"].to_pylist())), key=lambda one: one.name)
        unindexed = getattr(indexes, "num_unindexed_rows", 0) or 0
        return TableVersion(table, number, reading, {one.name: one for one in projects}, unindexed)


async def _warm(table: Any) -> None:
    """Read small indexes as a whole. Where that fails, searches read what they need."""
    room = float(BUCKET_CACHE_BYTES)
    listed = [one for one in await table.list_indices() if one.columns[0] in WARMED_COLUMNS]
    for one in sorted(listed, key=lambda one: WARMED_COLUMNS.index(one.columns[0])):
        size = one.size_bytes or 0
        room -= size * (WORDS_EXPANSION if one.index_type == "FTS" else 1.0)
        if room < 0:
            return
        await table.prewarm_index(one.name)  # fails if the cache has no room for it; most of it is there then
        release_memory()


async def _read_map(table: Any) -> RowMap:
    """Read the map of rows."""
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())  # the one of Arrow keeps 140 MB for 1.27 million rows
    batches = await table.query().select([*COLUMNS]).with_row_id().to_batches(max_batch_length=READ_ROWS)
    found = pa.Table.from_batches([batch async for batch in batches], batches.schema)
    rows = await asyncio.to_thread(RowMap.of, found)
    del found
    release_memory()
    return rows


def match_query(terms: Sequence[str], column: str, boost: float = 1.0, *, requires_all: bool = False) -> Any:
    """Return the query for the rows whose column has one of the terms, or all of them."""
    from lancedb import query

    made: Any = query.MatchQuery  # its arguments have defaults that its type does not know
    how: Any = {"operator": query.FullTextOperator.AND} if requires_all else {}
    return made(" ".join(terms[:MAX_TERMS]), column, boost=boost, **how)


def word_queries(query: TextQuery, shares: Mapping[str, float] = NO_SHARES) -> list[Any]:
    """Return a query for each field that may have a word.

    One query over all of them scores every row with a word, and takes ten times as long as four that skip most rows.
    Headings are left out where only code is searched: judged questions score 0.8567 without them and 0.8573 with them.
    Words that are much less rare in the projects that are searched than at the place have queries of their own. `shares`
    says how rare they are there, as a share of how rare they are here.
    """
    text = " ".join(query.words)
    by_field = {
        "words": whole_terms_of(" ".join((text, *query.repeated))),
        "names": whole_terms_of(remove_separators(text)),
    }
    parts = terms_of(text)
    if shares:
        shares = {**_shares_of_whole(query.words, shares), **shares}
    queries = []
    for name, weight in query.weights.items():
        if name not in WORD_COLUMNS or _is_left_out(name, query):
            continue
        terms, column = by_field.get(name, parts)[:MAX_TERMS], WORD_COLUMNS[name]
        common = [] if query.requires_all else [term for term in terms if shares.get(term, 1.0) < COMMON_SHARE]
        if others := [term for term in terms if term not in common]:
            queries.append(match_query(others, column, weight, requires_all=query.requires_all))
        if common:
            queries.append(match_query(common, column, weight * mean(shares[term] for term in common)))
    return queries


def _shares_of_whole(words: Iterable[str], shares: Mapping[str, float]) -> dict[str, float]:
    """Return the shares of whole words by those of their parts, of which the rarest decides."""
    found: dict[str, float] = {}
    for word in words:
        share = max((shares.get(term, 1.0) for term in terms_of(word)), default=1.0)
        found |= dict.fromkeys((*whole_terms_of(word), *whole_terms_of(remove_separators(word))), share)
    return found


def form_queries(query: TextQuery, frequency: Callable[[str], int]) -> list[Any]:
    """Return a query for each field with parts of words: for short and long forms that are more frequent than a word."""
    frequent = frequent_forms(terms_of(" ".join(query.words))[:MAX_TERMS], frequency)
    if query.requires_all or not frequent:
        return []
    return [
        match_query(frequent, WORD_COLUMNS[field], FORM_WEIGHT * weight)
        for field, weight in query.weights.items()
        if field in WORD_COLUMNS and field not in ("words", "names") and not _is_left_out(field, query)
    ]


def _is_left_out(field: Field, query: TextQuery) -> bool:
    return field == "headings" and query.kind == "code" and len(query.weights) > 1


def frequency_of(best_score: float, total: int) -> int:
    """Return about how many chunks have a frequent term, from the score by BM25 of the best one."""
    return max(1, min(total, round((total + 1) / math.exp(min(50.0, best_score / BEST_FACTOR)) - 0.5)))
