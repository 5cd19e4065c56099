"""Searches of a place: by words and meaning, for a text, and by path. The same code ranks and cuts as everywhere."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from dowse.encoding.selection import STATIC_VERSION, static_encoder
from dowse.globs import compile_glob
from dowse.indexes.project_search import ExactQuery
from dowse.indexes.query_vectors import QUERY_SECONDS, QueryEncoder, plain_text
from dowse.places.place_store import PlaceStore
from dowse.searching.candidates import QueryVector, expected_queries
from dowse.searching.exact_search import Occurrences, search_text
from dowse.searching.path_kinds import path_filter
from dowse.searching.query_terms import SearchQuery, counted_terms
from dowse.searching.ranking_constants import NEAR_CANDIDATES
from dowse.searching.search import Answer, SearchOptions, scope_of, search_store
from dowse.text.analysis import terms_of
from dowse.text.query_syntax import NO_FILTERS
from dowse.types import Coverage

_PLAIN_NAME = re.compile(r"([^*?\[{/]+)/")


def search_place(
    store: PlaceStore, query: SearchQuery, options: SearchOptions, encoder: QueryEncoder | None = None
) -> Answer:
    """Search the projects of a place, or some of them."""
    store.refresh()
    store, options = narrow(store, options.within(query.filters))
    query = replace(query, filters=NO_FILTERS)
    vectors = _vectors(store, query, options, encoder)
    _expect(store, query, options, vectors)
    return search_store(store, store.read, query, replace(options, copies=store), vectors)


def _expect(store: PlaceStore, query: SearchQuery, options: SearchOptions, vectors: Sequence[QueryVector]) -> None:
    """Have a place begin with all that a search of it asks for."""
    scope, expected = scope_of(store, options), query
    for word in store.given_words() if scope.has_code else ():
        expected = expected.without_word(word)
    queries = expected_queries(expected, scope) if options.mode != "vector" else []
    terms = counted_terms(terms_of(" ".join(query.positive)))
    meant = [(one.encoder, one.vector, NEAR_CANDIDATES) for one in vectors]
    store.expect(queries, terms, meant, text=query.text, kind=scope.kind, among=scope.among)


def narrow(store: PlaceStore, options: SearchOptions) -> tuple[PlaceStore, SearchOptions]:
    """Let the place itself apply the filters that it can: a project and a language; the others choose documents."""
    store, glob = store.narrowed(language=options.language_name), options.path_glob
    if glob and store.has_several and (first := _PLAIN_NAME.match(glob)) and first[1] in store.names():
        store, glob = store.narrowed([first[1]]), glob.removeprefix(first[0])
        options = replace(options, path_glob=None if glob in ("", "**") else glob)
    bare = replace(options, language=None, path_glob=None, among_paths=(), excluded_globs=(), tests="ranked")
    if not any((options.path_glob, options.among_paths, options.excluded_globs)) and options.tests == "ranked":
        return store, bare
    is_wanted = _path_filter(store, options)
    among = frozenset(number for number, path in store.ids_by_path() if is_wanted(path))
    return store, replace(bare, among=among if options.among is None else among & options.among)


def _path_filter(store: PlaceStore, options: SearchOptions) -> Callable[[str], bool]:
    """Return a filter of paths, which the options may name with their project or without it."""
    if not store.has_several:
        return options.path_filter()
    is_named = replace(options, excluded_globs=(), tests="ranked").path_filter()
    is_kept = path_filter((), options.excluded_globs, "ranked")
    has_kind = path_filter((), (), options.tests)

    def is_wanted(path: str) -> bool:
        within = path.partition("/")[2]
        return (is_named(within) or is_named(path)) and is_kept(within) and is_kept(path) and has_kind(within)

    return is_wanted


def find_paths(store: PlaceStore, pattern: str) -> list[str]:
    """Return the paths that match a glob, sorted; a glob may begin with the name of a project."""
    store.refresh()
    expression = compile_glob(pattern)
    listed = [path for _, path in store.ids_by_path()]
    within = (lambda path: path.partition("/")[2]) if store.has_several else str
    return sorted(path for path in listed if expression.fullmatch(path) or expression.fullmatch(within(path)))


def find_text(store: PlaceStore, query: ExactQuery) -> Occurrences:
    """Find every occurrence of a text or pattern, within a bound of time."""
    store.refresh()
    started, find = time.monotonic(), query.matcher()
    deadline = started + query.seconds
    store, options = narrow(store, query.options)
    found = Occurrences(query.offset, options.limit, masks_secrets=True)
    try:
        for path, text in store.texts(
            "" if query.is_pattern else query.text, options.kind, options.among, query.seconds
        ):
            if time.monotonic() > deadline or query.stopped.is_set():
                raise TimeoutError
            listed = len(found.found)
            search_text(path, text, find, deadline, found)
            if query.texts is not None and len(found.found) > listed:
                query.texts[path] = text
    except TimeoutError:
        found.is_complete = False
    found.seconds = time.monotonic() - started
    return found


def coverage_of(store: PlaceStore) -> Coverage:
    """Return how much an answer is about: everything that is published."""
    files = sum(project.files for project in store.projects())
    return Coverage(files, files, is_indexing=False, is_whole=True)


def _vectors(
    store: PlaceStore, query: SearchQuery, options: SearchOptions, encoder: QueryEncoder | None
) -> Sequence[QueryVector]:
    """Return the vectors of a query: of the model where every project has its vectors, else of the static table."""
    table, text = static_encoder(), plain_text(query)
    if options.mode == "lexical" or not (options.mode == "vector" or table.has_meaning(text)):
        return ()
    encoders = [set(project.encoders) for project in store.projects()] if encoder else []
    shared = set[str].intersection(*encoders) - {STATIC_VERSION} if encoders else set[str]()
    for version in sorted(shared):
        vector = encoder.start_query(version, text)(QUERY_SECONDS) if encoder else None
        if vector is not None:
            return [QueryVector(version, vector, 1.0, is_model=True)]
    vector = table.encode([text])[0]
    return [QueryVector(STATIC_VERSION, vector, 1.0)] if vector.any() else ()
