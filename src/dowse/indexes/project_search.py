"""Searches of an indexed project: the index is brought up to date within a bound, then searched and verified."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from dowse.errors import NotWritable, PathRefused, SearchStopped, UsageError, WordsMissing
from dowse.indexes.damage_recovery import answer_or_rebuild
from dowse.indexes.freshness.indexer import EXPECTED_FACTS
from dowse.indexes.freshness.scan import Drift
from dowse.indexes.index import PathDecision, ProjectIndex
from dowse.indexes.query_vectors import QueryEncoder, encode_query, text_scorer
from dowse.indexes.remaining_time import indexing_seconds, seconds_left
from dowse.protocols import Searchable
from dowse.searching.found_files import SearchedFiles
from dowse.searching.query_terms import SearchQuery, parse_search_query
from dowse.searching.ranking_constants import DEFINITION_FILES, MAX_DEFINITIONS
from dowse.searching.search import Answer, SearchOptions, search_store
from dowse.system.platform import refusal_to_write, start_in_background
from dowse.types import KINDS, Coverage, Entry, Kind, Progress, Stat, Verdict, View

if TYPE_CHECKING:
    from dowse.searching.exact_search import FindMatches, Occurrences
    from dowse.searching.explain import RankExplanation

AT_ONCE_FILES = 200
"""Up to this many changed files are indexed before an answer; with more, the answer comes first and says so."""
AT_ONCE_SECONDS = 1.1
"""A project that is indexed in about this time is indexed before its first answer."""
REPAIRED_FILES = 20
"""Up to this many files that turn out to have changed during a search are indexed again for its answer."""


def search(
    index: ProjectIndex,
    text: str | SearchQuery,
    options: SearchOptions,
    *,
    update: "Update | None" = None,
    encoder: QueryEncoder | None = None,
) -> tuple[Answer, Coverage]:
    """Search a project, which is brought up to date first: by `update`, or if that is quick."""
    query = parse_search_query(text) if isinstance(text, str) else text
    if not query.text:
        raise UsageError("The query is empty. Say what to look for.")

    def answer() -> tuple[Answer, Coverage]:
        pending = (update or update_if_quick)(index)
        found = search_now(index, query, options, encoder, is_behind=bool(pending))
        return found, coverage(index, max(pending, len(found.outdated)), found.searched)

    return answer_or_rebuild(index, answer)


def definition_options(
    limit: int | None, kind: Kind | None, path_glob: str | None, language: str | None = None
) -> SearchOptions:
    """Return the options of a search for definitions, of which so many are shown whole."""
    return SearchOptions(
        DEFINITION_FILES,
        kind,
        path_glob,
        language,
        detail="definitions",
        keeps_weak=True,
        definitions=limit or MAX_DEFINITIONS,
    )


def search_now(
    index: ProjectIndex,
    query: SearchQuery,
    options: SearchOptions,
    encoder: QueryEncoder | None = None,
    *,
    is_behind: bool = False,
) -> Answer:
    """Search the index as it is. Files that it lacks are searched directly, if it is being made or known to be behind."""
    if not is_behind and index.is_ready():
        with contextlib.suppress(WordsMissing):
            return _search_verified(index, query, options, encoder)
    from dowse.indexes.growing_index import search_growing_index  # here because most searches do not need it

    ask = partial(_search_verified, index, query, options, encoder)
    found, searched = search_growing_index(index, query, options, ask, lambda answer: answer.hits)
    # A file that could not be read in time may have any word.
    return replace(found, searched=searched, unknown=() if searched.unread else found.unknown)


@dataclass(frozen=True, slots=True)
class ExactQuery:
    """An exact text or a pattern to find, the files to look at, and the occurrences to list."""

    text: str
    options: SearchOptions
    seconds: float
    """How long the files are searched; the answer says if that was not enough."""
    is_pattern: bool = False
    offset: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set once nobody waits for the answer any more."""
    texts: dict[str, str] | None = None
    """Gets the texts of the files that are listed, if it is given."""

    def matcher(self) -> "FindMatches":
        """Return the function that finds the matches; raise UsageError for an empty text or a wrong pattern."""
        from dowse.searching.exact_search import exact_matcher, pattern_matcher  # rarely needed

        return pattern_matcher(self.text) if self.is_pattern else exact_matcher(self.text)


def find_all(
    index: ProjectIndex, query: ExactQuery, *, update: "Update | None" = None
) -> "tuple[Occurrences, Coverage]":
    """Find every occurrence of a text or pattern; the index is first brought up to date: by `update`, or if that is quick."""
    query.matcher()  # refuses a wrong one before anything is indexed

    def answer() -> "tuple[Occurrences, Coverage]":
        pending = (update or update_if_quick)(index)
        return find_all_now(index, query, pending, is_being_made=not index.exists)

    return answer_or_rebuild(index, answer)


def find_all_now(
    index: ProjectIndex, query: ExactQuery, pending: int = 0, *, is_being_made: bool = False
) -> "tuple[Occurrences, Coverage]":
    """Find every occurrence in the index as it is; some changed files may be pending, or all if it `is_being_made`.

    The files that an index lacks are read too, if it is not complete or may be behind, so that every file is looked at.
    """
    from dowse.searching.exact_search import find_occurrences

    others, read_other, covered, denied = list[Entry](), None, None, frozenset[str]()
    if pending or index.has_pending or not index.is_ready():
        from dowse.indexes.growing_index import missing_texts  # as in `search_now`

        others, read_other, covered, denied = missing_texts(index)

    read_bytes = index.source.read_bytes  # looked up once: it asks the catalog for its views

    def read(path: str) -> tuple[bytes, Stat]:
        _raise_if_stopped(query)
        if path in denied:
            raise PathRefused(f"{path} is not read now.")
        return read_bytes(path)

    def read_file(entry: Entry) -> str:
        _raise_if_stopped(query)
        return read_other(entry) if read_other else ""

    readers = {one.path: partial(read_file, one) for one in others if query.options.kind in (None, one.kind)}
    has_store = index.exists or not (is_being_made or index.is_being_updated())
    found = find_occurrences(
        index.store if has_store else None, read, query.matcher(), replace(query.options, masks_secrets=index.settings.mask_secrets),
        offset=query.offset, seconds=query.seconds, texts=query.texts, others=readers,
    )  # fmt: skip
    return found, covered or coverage(index, pending)


def _raise_if_stopped(query: ExactQuery) -> None:
    if query.stopped.is_set():
        raise SearchStopped


def explain_file(
    index: ProjectIndex, path: str, query: str | None = None, encoder: QueryEncoder | None = None
) -> "tuple[PathDecision, RankExplanation | None]":
    """Return why a file is or is not in the index as it is and, with a query, its rank if no rule excludes it."""
    found = index.explain(path)
    if not query or not found.verdict.is_allowed:
        return found, None
    from dowse.searching.explain import explain_ranking  # rarely needed

    index.store.refresh()
    parsed = parse_search_query(query)
    vectors = encode_query(index, parsed, "hybrid", encoder, index.store)

    def is_shown(path: str) -> bool:
        return isinstance(index.source.entry_at(path), Entry)

    return found, explain_ranking(index.store, parsed, found.verdict.path, vectors, is_shown)


def document_verdict(index: ProjectIndex, path: str) -> Verdict | None:
    """Return the decision about a file as a document of its root; None if it is not a document by its extension."""
    from dowse.reading.file_reading import is_document
    from dowse.sources.document_files import DocumentFiles  # imports readers that a search does not need

    return DocumentFiles(index.root, index.settings).verdict(path) if is_document(path) else None


Update = Callable[[ProjectIndex], int]
"""Brings an index up to date; returns how many files are left."""


def update_if_quick(
    index: ProjectIndex,
    *,
    waits: bool = False,
    progress: Progress | None = None,
    start: Callable[[ProjectIndex], object] | None = None,
) -> int:
    """Bring an index up to date if that is quick or the caller waits; return how many files are left.

    Indexing that takes long runs in a process of its own, which `start` starts. Where nothing can be written, an index is
    left as it is.
    """
    index.has_pending = True
    try:
        if not waits and index.is_being_updated():
            return 0
        pending = 0
        if not waits:
            pending = _update_or_start(index, start or _index_in_background, progress)
        else:
            if not index.exists:
                index.require_size()
            _update(index, None, progress)
    except NotWritable:
        if not index.exists:
            raise
        pending = index.drift().pending
    index.has_pending = bool(pending)
    return pending


def update_fully(index: ProjectIndex, progress: Progress | None = None) -> int:
    """Bring an index up to date, however long that takes; return how many files are left where nothing can be written."""
    return update_if_quick(index, waits=True, progress=progress)


def _update_or_start(index: ProjectIndex, start: Callable[[ProjectIndex], object], progress: Progress | None) -> int:
    if not index.exists:
        if indexing_seconds(index.require_size()) > AT_ONCE_SECONDS:
            start(index)
        else:
            _update(index, None, progress)
        return 0
    if index.whole.has_backlog():
        start(index)
        return len(index.store.paths())
    drift = index.drift()
    if drift.pending > AT_ONCE_FILES:
        index.require_size(drift)
        start(index)
        return drift.pending
    if drift.pending:
        _update(index, drift, progress)
    return 0


def _update(index: ProjectIndex, drift: Drift | None, progress: Progress | None) -> None:
    report = index.update(progress, drift=drift, is_confirmed=False)
    if not report.is_complete:  # after Ctrl-C, half an answer is not wanted
        raise KeyboardInterrupt


def _index_in_background(index: ProjectIndex) -> None:
    if refusal := refusal_to_write(index.folder / "index.lock"):
        index.refusal = refusal
        raise refusal
    from dowse.system.child_process import own_program

    view = ["--documents"] if index.view is View.DOCUMENTS else []
    start_in_background(own_program("dowse", "index", "--yes", "--background", *view, "--", str(index.root)))


def coverage(index: ProjectIndex, pending: int = 0, searched: SearchedFiles | None = None) -> Coverage:
    """Return how much of the project is indexed now, or the files that were searched if not all of them are."""
    is_direct = searched is not None and any(searched)
    store = index.store if index.exists else None
    is_indexing = store is None or index.is_being_updated()
    if store is None and not is_direct:
        return Coverage(0, 0, is_indexing=True)
    refusal = store.refusal if store else None
    if pending and refusal is None:
        refusal = index.refusal or refusal_to_write(index.folder / "catalog.sqlite")
    problem = str(refusal) if refusal else ""
    files = sum(store.totals(kind).documents for kind in KINDS) if store else 0
    is_whole = not is_indexing and store is not None and store.fact("state") == "complete"
    expected = files if is_whole or not store else max(files, int(store.fact(EXPECTED_FACTS[index.view]) or 0))
    left = seconds_left(store, files, expected) if store and is_indexing else None
    if searched and searched.were_compared:
        is_whole = searched.indexed == sum(searched)  # another view may be indexed at the same time
        return Coverage(
            searched.indexed, sum(searched), is_indexing=not is_whole and (is_indexing or not problem),
            is_whole=is_whole, problem=problem, pending=pending if problem else 0, direct=searched.direct,
            seconds_left=None if is_whole else left,
        )  # fmt: skip
    return Coverage(
        files, expected, is_indexing=is_indexing, is_whole=is_whole, pending=pending, problem=problem, seconds_left=left
    )


def _search_verified(
    index: ProjectIndex,
    query: SearchQuery,
    options: SearchOptions,
    encoder: QueryEncoder | None,
    files: Searchable | None = None,
) -> Answer:
    """Search the store, or files; files that turn out to have changed are indexed again, up to a bound."""
    masks, read = index.settings.mask_secrets, index.read_bytes
    if files is not None and not files.stored_share:
        return search_store(files, read, query, replace(options, masks_secrets=masks))
    store = index.store
    vectors = encode_query(index, query, options.mode, encoder, store, stored_share=(files or store).stored_share)
    options = replace(options, masks_secrets=masks, score_texts=text_scorer(index, query, options, encoder))
    found = search_store(files or store, read, query, options, vectors)
    if found.outdated and files is None and index.reindex_for_answer(found.outdated[:REPAIRED_FILES]):
        store.refresh()
        found = search_store(store, read, query, options, vectors)
    return replace(found, outdated=index.named(found.outdated), skipped_method=vectors.skipped_method)
