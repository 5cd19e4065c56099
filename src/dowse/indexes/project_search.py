"""Questions to an indexed project: brought up to date within a bound, answered, verified."""

import sys
import time
from collections.abc import Callable
from dataclasses import replace

from dowse.errors import PathRefused, UsageError
from dowse.freshness.scan import Drift
from dowse.indexes.index import ProjectIndex
from dowse.indexes.query_vectors import QueryEncoder, encode_query
from dowse.platform import start_in_background
from dowse.searching.exact_search import DEFAULT_SECONDS, Occurrences, exact_matcher, find_occurrences, pattern_matcher
from dowse.searching.explain import RankExplanation, explain_ranking
from dowse.searching.search import Answer, SearchOptions, search_store
from dowse.types import KINDS, Coverage, Progress

AT_ONCE_FILES = 200
"""Changed files that are indexed before an answer; with more, the answer comes first and says so."""
REPAIRED_FILES = 20
"""Files found changed while an answer is made that are indexed again for it."""
FIRST_HITS_SECONDS = 2.5
"""How long an answer waits for hits while the project is indexed for the first time."""
GOOD_ENOUGH_SECONDS = 1.0
"""After this long, some hits are better than waiting for more; before, they are of a handful of files."""


def search(
    project: ProjectIndex,
    text: str,
    options: SearchOptions,
    *,
    waits: bool = False,
    progress: Progress | None = None,
    encoder: QueryEncoder | None = None,
) -> tuple[Answer, Coverage]:
    """Search a project, indexing it first where that is needed.

    What takes long is left to a process of its own, unless the caller `waits`.
    """
    if not text.strip():
        raise UsageError("The query is empty. Say what to look for.")
    pending = bring_near(project, text, waits=waits, progress=progress)
    return answer_now(project, text, options, encoder), coverage(project, pending)


def answer_now(project: ProjectIndex, text: str, options: SearchOptions, encoder: QueryEncoder | None = None) -> Answer:
    """An answer from the index as it is; from one that is growing, the first that is worth showing."""
    if project.is_being_updated() or not project.exists:
        return _first_hits(project, lambda: _answer(project, text, options, encoder))
    return _answer(project, text, options, encoder)


def find_all(
    project: ProjectIndex,
    text: str,
    options: SearchOptions,
    *,
    is_pattern: bool,
    offset: int = 0,
    seconds: float = DEFAULT_SECONDS,
    progress: Progress | None = None,
) -> tuple[Occurrences, Coverage]:
    """Every occurrence of a text or pattern; the index is brought up to date first, however long it takes."""
    find = pattern_matcher(text) if is_pattern else exact_matcher(text)
    pending = bring_near(project, "", waits=True, progress=progress)
    options = replace(options, masks_secrets=project.settings.mask_secrets)
    found = find_occurrences(project.store, project.source.read_bytes, find, options, offset=offset, seconds=seconds)
    return found, coverage(project, pending)


def explain_rank(project: ProjectIndex, text: str, path: str, encoder: QueryEncoder | None = None) -> RankExplanation:
    """Which signals put a file where it is for a query."""
    verdict = project.source.verdict(path)
    if not verdict.is_allowed:
        raise PathRefused(f"{verdict.path} is not indexed: {verdict.reason}. See: dowse why {verdict.path}")
    bring_near(project, text, waits=True)
    project.store.refresh()
    return explain_ranking(project.store, text, verdict.path, encode_query(project, text, "hybrid", encoder).meanings)


def bring_near(project: ProjectIndex, first: str, *, waits: bool, progress: Progress | None = None) -> int:
    """Bring an index up to date where that is quick or asked for; how many files are left to do."""
    if waits:
        if not project.exists:
            project.require_size()
        _update(project, None, first, progress)
        return 0
    if project.is_being_updated():
        return 0
    if not project.exists:
        project.require_size()
        _index_in_background(project, first)
        return 0
    drift = project.drift()
    if drift.pending > AT_ONCE_FILES:
        project.require_size(drift)
        _index_in_background(project, first)
        return drift.pending
    if drift.pending:
        _update(project, drift, first, progress)
    return 0


def _update(project: ProjectIndex, drift: Drift | None, first: str, progress: Progress | None) -> None:
    report = project.update(progress, drift=drift, first=first, is_confirmed=False)
    if not report.is_complete:  # whoever pressed Ctrl-C does not want half an answer
        raise KeyboardInterrupt


def _index_in_background(project: ProjectIndex, first: str) -> None:
    # -P keeps the working directory, which may be a stranger's project, out of the import path.
    program = [sys.executable, "-P", "-m", "dowse"]
    start_in_background([*program, "index", "--yes", "--first", first, "--", str(project.root)])


def coverage(project: ProjectIndex, pending: int = 0) -> Coverage:
    """How much of the project is indexed now."""
    if not project.exists:
        return Coverage(0, 0, is_indexing=True)
    store, is_indexing = project.store, project.is_being_updated()
    files = sum(store.totals(kind).documents for kind in KINDS)
    is_whole = not is_indexing and store.fact("state") == "complete"
    expected = files if is_whole else max(files, int(store.fact("expected") or 0))
    return Coverage(files, expected, is_indexing=is_indexing, is_whole=is_whole, pending=pending)


def _answer(project: ProjectIndex, text: str, options: SearchOptions, encoder: QueryEncoder | None) -> Answer:
    """An answer whose outdated files, up to a bound, were indexed again for it."""
    store, options = project.store, replace(options, masks_secrets=project.settings.mask_secrets)
    store.refresh()
    question = encode_query(project, text, options.mode, encoder)
    found = search_store(store, project.source.read_bytes, text, options, question.meanings)
    if found.outdated:
        project.reindex(found.outdated[:REPAIRED_FILES])
        store.refresh()
        found = search_store(store, project.source.read_bytes, text, options, question.meanings)
    return replace(found, skipped_method=question.lacks)


def _first_hits(project: ProjectIndex, ask: Callable[[], Answer]) -> Answer:
    """The best answer that can be had in a moment from an index that is growing."""
    started = time.monotonic()
    while True:
        waited = time.monotonic() - started
        is_growing = project.is_being_updated()  # asked before the question: what ends in between is seen next time
        found = ask() if project.exists else None
        if found is not None:
            is_enough = found.hits and waited > GOOD_ENOUGH_SECONDS
            if is_enough or waited > FIRST_HITS_SECONDS or not is_growing:
                return found
        elif waited > 2 * FIRST_HITS_SECONDS:
            raise UsageError(f"Indexing {project.root} did not start. Run: dowse index {project.root}")
        time.sleep(0.05)
