"""Searches of an index that does not have all files yet: those that it lacks are read and searched directly."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from dowse.encoding.packing import encoder_input
from dowse.errors import Failed, UsageError, WordsMissing
from dowse.indexes.early_parsing import start_parser
from dowse.indexes.index import ProjectIndex
from dowse.indexes.remaining_time import indexing_seconds
from dowse.parsing.document_parsing import parse, parse_within
from dowse.protocols import Searchable
from dowse.searching.direct_index import DirectIndex
from dowse.searching.found_files import ALL_INDEXED, SearchedFiles
from dowse.searching.joined_store import JoinedStore
from dowse.searching.kept_files import KeptFiles, read_directly
from dowse.searching.query_terms import SearchQuery
from dowse.searching.search import SearchOptions
from dowse.types import KINDS, Chunk, Coverage, Entry, FileContent, Reading, Verdict, View

if TYPE_CHECKING:
    from dowse.types import Vectors

MAX_WALKED_FILES = 20_000
"""A larger index answers as it is while it is updated: comparing so many files with it would take every search about 2 s."""
DIRECT_SECONDS = 1.2
"""How long files are read directly. Three thousand take about as long."""
PARSED_SECONDS = 0.4
PARSED_UNTIL_SECONDS = 0.8
"""How long the best of these files are parsed, or until this time after the question if they were read quickly; those that are
not ready are searched by how their lines look. All else takes 0.3 to 0.5 s after that."""
CONVERTED_SECONDS = 0.5
"""How long files are converted that are shown as documents."""
FIRST_ANSWER_SECONDS = 1.3
"""An index that will be complete within this time is waited for: its answers are better than those of a direct search."""
FIRST_HITS_SECONDS = 2.5
"""How long a search waits that finds nothing in the files themselves."""
SLOWER_BESIDE = 2.0
"""Indexing takes about this many times longer on two cores of which a search has one."""
POLL_SECONDS = 0.03

Result = TypeVar("Result")


def search_growing_index(
    index: ProjectIndex,
    query: SearchQuery,
    options: SearchOptions,
    ask: Callable[[Searchable | None], Result],
    is_found: Callable[[Result], object],
) -> tuple[Result, SearchedFiles]:
    """Return the best answer that can be had within a moment, and the files that it is about.

    `ask` asks the index as it is, or what it is given instead.
    """
    index.look_again()  # others write to it
    began, checked, options = time.monotonic(), _last_check(index), options.within(query.filters)
    if options.mode == "vector":  # files have no vectors before they are indexed
        return _wait_for_hits(index, lambda: ask(None), is_found, began), ALL_INDEXED
    is_searchable = has_words(index)
    if is_searchable and sum(index.store.totals(kind).documents for kind in KINDS) > MAX_WALKED_FILES:
        return ask(None), ALL_INDEXED
    outdated, missing = missing_files(index) if is_searchable else (frozenset[str](), _all_files(index))
    if not missing and not outdated and is_searchable:
        index.forget_files()
        return ask(None), SearchedFiles(indexed=len(index.store.paths()))
    chosen = _chosen(missing, options)
    readable = [entry for entry in chosen if not index.source.is_binary(entry.path)]
    kept = index.kept_files()
    files = DirectIndex(
        readable, lambda entry: _read(kept, index.view, entry, options), query, DIRECT_SECONDS,
        _reader(index, CONVERTED_SECONDS), kept=kept, parse=partial(_parse, index, began), encode=partial(_encode, index), has_titles=index.view is View.DOCUMENTS,
    )  # fmt: skip
    answer, searched = _search_directly(index if is_searchable else None, files, outdated, ask)
    searched = searched._replace(unread=searched.unread + len(chosen) - len(readable))
    if not any(searched):  # by their paths, none of the files can match
        searched = SearchedFiles(direct=len(missing))
    needed = indexing_seconds([entry.stat.size for entry in missing], SLOWER_BESIDE)
    seconds = FIRST_ANSWER_SECONDS if needed < FIRST_ANSWER_SECONDS else 0.0
    deadline = began + (seconds if is_found(answer) else FIRST_HITS_SECONDS)
    while index.is_being_updated() or _last_check(index) == checked:
        if time.monotonic() > deadline:
            return answer, searched
        time.sleep(POLL_SECONDS)
    index.forget_files()
    # The run that has just ended compared all files.
    return (ask(None), SearchedFiles(indexed=len(index.store.paths()))) if index.is_ready() else (answer, searched)


def read_early(index: ProjectIndex, is_asked: Callable[[], bool]) -> None:
    """Load what a direct search needs, and read the files that the index lacks, until somebody asks."""
    start_parser()
    index.table()
    kept = index.kept_files()
    for entry in missing_files(index)[1] if has_words(index) else _all_files(index):
        if is_asked():
            return
        kept.read(entry)


def has_words(index: ProjectIndex) -> bool:
    """Return whether there is an index whose words can be searched."""
    index.look_again()
    if not index.exists:
        return False
    try:
        index.store.refresh()
        index.store.chunk_count()  # a query also meets damage that only reading shows
    except WordsMissing:
        return False
    return True


def missing_files(index: ProjectIndex) -> tuple[frozenset[str], list[Entry]]:
    """Return the paths whose words the index lacks or that are gone, and the files that have to be searched directly."""
    index.look_again()
    unsearchable, drift = frozenset(index.store.unsearchable_paths()), index.drift()
    known = {entry.path for entry in (*drift.new, *drift.changed)}
    entries = [index.source.entry_at(path) for path in unsearchable - known]
    changed = [entry for entry in drift.changed if entry.path in unsearchable or not _has_view_of(index, entry)]
    found = [entry for entry in (*drift.new, *changed, *entries) if _is_shown(entry, index)]
    return unsearchable.union(drift.gone), found


def _has_view_of(index: ProjectIndex, entry: Entry) -> bool:
    """Return whether the index has a file as it is, seen with this view: another view of it may be missing."""
    return any(one.views & index.view and one.stat == entry.stat for one in index.whole.documents_at(entry.path))


def missing_texts(
    index: ProjectIndex,
) -> tuple[list[Entry], Callable[[Entry], str], Coverage, frozenset[str]]:
    """Return the files whose text the index lacks now, how they are read, and how complete a search is with them.

    The last part is the paths that the index has and that are gone, or denied by now.
    """
    gone = frozenset[str]()
    if index.exists:
        drift = index.drift()
        found = [entry for entry in (*drift.new, *drift.changed) if _is_shown(entry, index)]
        gone = frozenset(drift.gone)
        known = len(set(index.store.paths()).difference(gone, (entry.path for entry in found)))
    else:
        found, known = _all_files(index), 0
    kept, read_text, any_file = index.kept_files(), _reader(index, inf), SearchOptions()

    def read(entry: Entry) -> str:
        contents = _read(kept, index.view, entry, any_file)
        content = None if isinstance(contents, Verdict) or not contents else contents[0]
        reading = kept.reading(content, read_text) if content else None
        return reading.text if reading else ""

    is_indexing = index.is_being_updated()
    covered = Coverage(known, known + len(found), is_indexing=is_indexing, is_whole=True, direct=len(found))
    return found, read, covered, gone


def _all_files(index: ProjectIndex) -> list[Entry]:
    return [entry for entry in index.source.entries() if _is_shown(entry, index)]


def _is_shown(entry: Entry | Verdict, index: ProjectIndex) -> TypeGuard[Entry]:
    return isinstance(entry, Entry) and bool(entry.views & index.view)


def _chosen(files: Sequence[Entry], options: SearchOptions) -> list[Entry]:
    """Return the files that a search may show, as far as their paths say so."""
    is_wanted = options.path_filter()
    return [entry for entry in files if options.kind in (None, entry.kind) and is_wanted(entry.path)]


def _read(kept: KeptFiles, view: View, entry: Entry, options: SearchOptions) -> Sequence[FileContent] | Verdict:
    read = kept.read(entry)
    if isinstance(read, Verdict):
        return read
    return [one for one in read if one.views & view and options.language_name in (None, one.language)]


def _reader(index: ProjectIndex, seconds: float) -> Callable[[FileContent], Reading | None]:
    """Return a function that reads the text of a file; pages are converted for as long as there is time."""
    if index.view is View.PROJECT:
        return read_directly
    spent = 0.0

    def read(content: FileContent) -> Reading | None:
        nonlocal spent
        if index.source.is_as_written(content):
            return read_directly(content)
        if spent > seconds:
            return None
        began = time.monotonic()
        document = parse(index.source, content)
        spent += time.monotonic() - began
        return None if isinstance(document, Verdict) else document.reading

    return read


def _parse(
    index: ProjectIndex, began: float, files: Sequence[FileContent]
) -> Iterator[tuple[FileContent, Reading, Sequence[Chunk]]]:
    """Yield the chunks of files: those that the catalog has already, and those that are parsed in time."""
    missing = list[FileContent]()
    for content in files:
        if found := _stored_chunks(index, content):
            yield content, *found
        else:
            missing.append(content)
    seconds = max(PARSED_SECONDS, PARSED_UNTIL_SECONDS - (time.monotonic() - began))
    with contextlib.suppress(Failed):  # where no parser can be started, files are searched without
        for content, parsed in parse_within(index.source, missing, seconds):
            yield content, parsed.document.reading, parsed.chunks


def _encode(index: ProjectIndex, encoder: str, texts: Sequence[tuple[str, str]]) -> "Vectors | None":
    """Encode texts with the static table, which takes 0.1 ms each; the model would take too long."""
    table = index.table()
    if table is None or table.version != encoder:
        return None
    return table.encode([encoder_input(path, text) for path, text in texts])


def _stored_chunks(index: ProjectIndex, content: FileContent) -> tuple[Reading, list[Chunk]] | None:
    """Return the text and the chunks of a file that is stored and whose words cannot be searched yet."""
    documents = index.whole.documents_at(content.path) if index.has_catalog else ()
    for document in documents:
        if document.content_hash == content.content_hash and document.views & content.views and document.is_verbatim:
            reading = read_directly(content)
            data = reading.text.encode("utf-8", "surrogatepass")
            return reading, [
                Chunk(
                    data[one.start_byte : one.end_byte].decode("utf-8", "replace"),
                    one.start_byte, one.end_byte, one.start_line, one.end_line, one.symbols, one.headings,
                )
                for one in index.whole.chunks(document.id)
            ]  # fmt: skip
    return None


def _search_directly(
    index: ProjectIndex | None,
    files: DirectIndex,
    outdated: frozenset[str],
    ask: Callable[[Searchable | None], Result],
) -> tuple[Result, SearchedFiles]:
    """Search files, and those that an index has beside them."""
    if index:
        combined = JoinedStore.beside(index.store, files, outdated)
        if combined.indexed_paths:
            unread = files.unread_paths - combined.indexed_paths
            return ask(combined), SearchedFiles(len(files.files), len(combined.indexed_paths), len(unread))
    return ask(JoinedStore({}, files)), SearchedFiles(len(files.files), 0, len(files.unread_paths))


def _last_check(index: ProjectIndex) -> str | None:
    """Return when a run that compared all files ended last; None while the first one has not."""
    return index.store.fact("checked") if index.exists and index.store.fact("state") == "complete" else None


def _wait_for_hits(
    index: ProjectIndex, ask: Callable[[], Result], is_found: Callable[[Result], object], began: float
) -> Result:
    """Return the first answer with hits that a growing index gives, or the last one."""
    while True:
        waited = time.monotonic() - began
        is_growing = index.is_being_updated()  # read before the search: an end in between shows at the next round
        if index.exists:
            answer = ask()
            if is_found(answer) or waited > FIRST_HITS_SECONDS or not is_growing:
                return answer
        elif waited > 2 * FIRST_HITS_SECONDS:
            raise UsageError(f"Indexing {index.root} did not start. Run: dowse index {index.root}")
        time.sleep(POLL_SECONDS)
