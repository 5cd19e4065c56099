"""Searches of several indexed projects as one: paths begin with the name of their project, and all are ranked together."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from dowse.errors import PathRefused, UsageError
from dowse.indexes.damage_recovery import answer_or_rebuild
from dowse.indexes.growing_index import has_words, search_growing_index
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import REPAIRED_FILES, ExactQuery, Update, coverage, find_all
from dowse.indexes.query_vectors import QueryEncoder, encode_query, text_scorer
from dowse.searching.candidates import QueryVector
from dowse.searching.exact_search import Occurrences
from dowse.searching.found_files import ALL_INDEXED, ReadBytes, SearchedFiles
from dowse.searching.joined_store import JoinedStore, Member
from dowse.searching.query_terms import SearchQuery
from dowse.searching.search import Answer, SearchOptions, search_store
from dowse.types import Coverage, Stat

Indexes = Mapping[str, ProjectIndex]
"""Projects by the names that their paths begin with."""


def search_joined(
    indexes: Indexes, query: SearchQuery, options: SearchOptions, update: Update, encoder: QueryEncoder | None = None
) -> tuple[Answer, Coverage]:
    """Search several projects, each of which is brought up to date first if that is quick."""
    if not query.text:
        raise UsageError("The query is empty. Say what to look for.")
    pending = {name: answer_or_rebuild(index, partial(update, index)) for name, index in indexes.items()}
    options = replace(options, masks_secrets=any(index.settings.mask_secrets for index in indexes.values()))
    searched: dict[str, SearchedFiles] = {}

    def ask(names: Sequence[str], stores: dict[str, Member]) -> Answer:
        """Search the stores that are chosen, and of each other project the best that can be had within a moment."""
        if not names:
            return _search_stores(indexes, stores, query, options, encoder)
        name, *others = names
        index = indexes[name]
        if not pending[name] and index.is_ready() and has_words(index):
            return ask(others, {**stores, name: index.store})

        def ask_others(files: object) -> Answer:
            return ask(others, {**stores, name: files if isinstance(files, JoinedStore) else index.store})

        glob = options.path_glob.removeprefix(f"{name}/") if options.path_glob else None
        within = replace(options, path_glob=glob)
        answer, searched[name] = search_growing_index(index, query, within, ask_others, lambda found: found.hits)
        return answer

    found = ask(list(indexes), {})
    totals = SearchedFiles(*map(sum, zip(*searched.values(), strict=True))) if searched else ALL_INDEXED
    outdated = {name: sum(path.startswith(f"{name}/") for path in found.outdated) for name in indexes}
    coverages = [
        coverage(index, max(pending[name], outdated[name]), searched.get(name)) for name, index in indexes.items()
    ]
    return replace(found, searched=totals, unknown=() if totals.unread else found.unknown), join_coverage(coverages)


def _search_stores(
    indexes: Indexes, stores: Mapping[str, Member], query: SearchQuery, options: SearchOptions, encoder: QueryEncoder | None
) -> Answer:  # fmt: skip
    """Search stores; files that turn out to have changed are indexed again, up to a bound."""
    vectors = _join_vectors(indexes, stores, query, options, encoder)
    scorers = (text_scorer(index, query, options, encoder) for index in indexes.values() if index.exists)
    options = replace(options, score_texts=next(filter(None, scorers), None))

    def ask() -> Answer:
        return search_store(JoinedStore(stores), read_of(indexes), query, options, vectors)

    has_all = not any(isinstance(store, JoinedStore) for store in stores.values())
    return ask_repaired(indexes, ask) if has_all else ask()


def read_of(indexes: Indexes) -> ReadBytes:
    """Return the function that reads a file of one of the projects."""

    def read(path: str) -> tuple[bytes, Stat]:
        name, _, rest = path.partition("/")
        if name not in indexes:
            raise PathRefused(f"{path} is in nothing that is searched.")
        return indexes[name].read_bytes(rest)

    return read


def ask_repaired(indexes: Indexes, ask: Callable[[], Answer]) -> Answer:
    """Ask; files that turn out to have changed are indexed again, up to a bound, before asking once more."""
    found = ask()
    if found.outdated:
        for name, paths in _of_projects(indexes, found.outdated):
            indexes[name].reindex_for_answer(paths[:REPAIRED_FILES])
            indexes[name].store.refresh()
        found = ask()
    named = [
        f"{name}/{path}" for name, paths in _of_projects(indexes, found.outdated) for path in indexes[name].named(paths)
    ]
    return replace(found, outdated=tuple(named))


def _of_projects(indexes: Indexes, paths: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each project that some paths begin with, and the rest of these."""
    for name in indexes:
        if found := [path.partition("/")[2] for path in paths if path.startswith(f"{name}/")]:
            yield name, found


def _join_vectors(
    indexes: Indexes, stores: Mapping[str, Member], query: SearchQuery, options: SearchOptions, encoder: QueryEncoder | None
) -> list[QueryVector]:  # fmt: skip
    """Return the vectors of a query, each with the share of all chunks that its encoder has encoded."""
    shares, vectors = dict[str, float](), dict[str, QueryVector]()
    counts = {name: store.chunk_count() for name, store in stores.items()}
    total = sum(counts.values()) or 1
    for name, store in stores.items():
        index = indexes[name]
        if store.stored_share:
            for one in encode_query(index, query, options.mode, encoder, index.store, stored_share=store.stored_share):
                vectors[one.encoder] = one
                shares[one.encoder] = shares.get(one.encoder, 0.0) + one.coverage * counts[name] / total
    return [replace(one, coverage=shares[name]) for name, one in vectors.items()]


def find_joined(indexes: Indexes, query: ExactQuery, update: Update) -> tuple[Occurrences, Coverage]:
    """Find every occurrence of a text or pattern in several projects, by what their paths begin with, one after the other."""
    limit = query.offset + query.options.limit
    joined, coverages = Occurrences(query.offset, query.options.limit), []
    for lead, index in indexes.items():
        glob = query.options.path_glob.removeprefix(lead) if query.options.path_glob else None
        part = replace(query, options=replace(query.options, limit=limit, path_glob=glob), offset=0)
        found, covered = find_all(index, part, update=update)
        coverages.append(covered)
        joined.found += [replace(one, path=lead + one.path) for one in found.found]
        joined.counts |= {lead + path: count for path, count in found.counts.items()}
        joined.total, joined.lines = joined.total + found.total, joined.lines + found.lines
        joined.looked_at, joined.seconds = joined.looked_at + found.looked_at, joined.seconds + found.seconds
        joined.is_complete = joined.is_complete and found.is_complete
    joined.found = joined.found[query.offset : limit]
    return joined, join_coverage(coverages)


def join_coverage(coverages: Sequence[Coverage]) -> Coverage:
    """Return how much of several projects an answer is about."""
    if len(coverages) == 1:
        return coverages[0]

    def total(count: Callable[[Coverage], int]) -> int:
        return sum(map(count, coverages))

    return Coverage(
        total(lambda one: one.files), total(lambda one: one.expected),
        is_indexing=any(one.is_indexing for one in coverages), is_whole=all(one.is_whole for one in coverages),
        pending=total(lambda one: one.pending), problem=next((one.problem for one in coverages if one.problem), ""),
        direct=total(lambda one: one.direct),
        seconds_left=max((one.seconds_left for one in coverages if one.seconds_left is not None), default=None),
    )  # fmt: skip
