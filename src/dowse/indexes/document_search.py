"""Searches of a folder of documents by title and content, and the list of its documents."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from dowse.errors import NotIndexed, WordsMissing
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import REPAIRED_FILES, coverage
from dowse.indexes.query_vectors import QueryEncoder, encode_query
from dowse.parsing.document_parsing import outline, parse
from dowse.protocols import Searchable
from dowse.searching.document_ranking import DocumentMatches, DocumentSearch, SearchPlace, rank_documents
from dowse.searching.query_terms import SearchQuery
from dowse.searching.search import SearchOptions
from dowse.text.line_numbers import split_lines
from dowse.types import Coverage, Document, Entry, StoredDocument, Verdict

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """A query to a folder of documents."""

    query: SearchQuery
    place: SearchPlace = "both"
    limit: int = 10
    extensions: frozenset[str] = frozenset()
    """File extensions in lower case, with their dots; an empty set means all."""


@dataclass(frozen=True, slots=True)
class DocumentResults:
    """The matches in one folder, and how much of it was searched."""

    matches: DocumentMatches
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document as the list of resources shows it."""

    path: str
    title: str
    description: str
    tags: tuple[str, ...] = ()


def find_documents(
    index: ProjectIndex,
    request: DocumentQuery,
    pending: int = 0,
    encoder: QueryEncoder | None = None,
    *,
    is_behind: bool = False,
) -> DocumentResults:
    """Find documents in a root's index as it is now; files that it lacks are searched directly, as `search_now` does."""
    options = SearchOptions(path_glob=_extensions_glob(request.extensions))
    return DocumentResults(
        *ask_documents(
            index, request.query, options, lambda files: _rank(index, request, encoder, files), lambda found: found.found,
            pending=pending, is_behind=is_behind,
        )
    )  # fmt: skip


def ask_documents(
    index: ProjectIndex,
    query: SearchQuery,
    options: SearchOptions,
    ask: Callable[[Searchable | None], tuple[Found, Sequence[str]]],
    hits: Callable[[Found], Sequence[object]],
    *,
    pending: int,
    is_behind: bool,
) -> tuple[Found, Coverage]:
    """Ask an index, or the files that an index lacks as well; `ask` also returns the paths that changed since they were indexed.

    These are indexed, and the index is asked again.
    """
    if not is_behind and index.is_ready():
        with contextlib.suppress(WordsMissing):
            found, outdated = ask(None)
            if outdated and index.reindex_for_answer(outdated[:REPAIRED_FILES]):
                found, outdated = ask(None)
            return found, coverage(index, max(pending, len(outdated)))
    from dowse.indexes.growing_index import search_growing_index  # here because most searches do not need it

    (found, outdated), searched = search_growing_index(index, query, options, ask, lambda one: hits(one[0]))
    return found, coverage(index, max(pending, len(outdated)), searched)


def find_indexed_documents(index: ProjectIndex, request: DocumentQuery) -> DocumentResults:
    """Find documents among those that are indexed so far, by words and the table."""
    try:
        index.store.refresh()
        matches, outdated = _rank(index, request, None)
    except (NotIndexed, WordsMissing):
        matches, outdated = DocumentMatches(), ()
    return DocumentResults(matches, coverage(index, len(outdated)))


def _rank(
    index: ProjectIndex, request: DocumentQuery, encoder: QueryEncoder | None, files: Searchable | None = None
) -> tuple[DocumentMatches, Sequence[str]]:
    """Rank the documents of an index, or files; return the matches, and the files that changed since they were indexed."""
    store: Searchable = index.store if files is None else files
    vectors = (
        encode_query(index, request.query, "hybrid", encoder, index.store, stored_share=store.stored_share)
        if store.stored_share
        else ()
    )
    among = _documents_with(store, request.extensions) if request.extensions else None
    asked = DocumentSearch(request.query, request.place, request.limit, among, index.settings.mask_secrets)
    found = rank_documents(store, index.read_bytes, asked, vectors)
    return found, found.outdated


def _documents_with(store: Searchable, extensions: frozenset[str]) -> frozenset[int]:
    """Return the documents whose file names have one of the extensions, ignoring case."""
    return frozenset(number for number, path in store.ids_by_path() if path.lower().endswith(tuple(extensions)))


def list_documents(
    index: ProjectIndex, after: str = "", limit: int | None = None, *, is_compared: bool = True
) -> list[ListedDocument]:
    """Return the documents after a path, sorted by path; if the index is not complete, the files are read.

    Unless the files were compared with the index just now, those of the list are.
    """
    if index.exists and not index.is_being_updated() and index.store.fact("state") == "complete":
        documents = index.store.documents(after=after)
        is_current = is_compared and not index.has_pending
        shown = map(_listed, documents) if is_current else _as_they_are(index, documents)
        return list(islice(shown, limit))
    return list(islice(_read_documents(index, after), limit))


def _listed(document: StoredDocument) -> ListedDocument:
    return ListedDocument(document.path, document.title, document.description, document.tags)


def _as_they_are(index: ProjectIndex, documents: Iterable[StoredDocument]) -> Iterator[ListedDocument]:
    """Yield documents of the index that are still there; one that has changed since is read."""
    for document in documents:
        entry = index.source.entry_at(document.path)
        if isinstance(entry, Entry) and entry.stat == document.stat:
            yield _listed(document)
        elif isinstance(entry, Entry):
            yield from _read_listed(index, entry)


def _read_listed(index: ProjectIndex, entry: Entry) -> Iterator[ListedDocument]:
    if read := _read_document(index, entry):
        yield ListedDocument(read.path, read.reading.title, read.reading.description, read.reading.tags)


def read_now(index: ProjectIndex, path: str) -> Document | None:
    """Read a document as it is now; None if there is none that the view shows or the policy denies it."""
    entry = index.source.entry_at(path) if _is_plain(path) else None
    return _read_document(index, entry) if isinstance(entry, Entry) else None


def _read_document(index: ProjectIndex, entry: Entry) -> Document | None:
    read = index.source.read(entry) if entry.views & index.view else []
    contents = [] if isinstance(read, Verdict) else [content for content in read if content.views & index.view]
    document = parse(index.source, contents[0]) if contents else None
    return None if isinstance(document, Verdict) else document


def text_of(document: Document, anchor: str = "") -> str | None:
    """Return the text of a document or of one of its sections; None if it has no such section."""
    text = document.reading.text
    if not anchor:
        return text
    section = outline(text, [anchor], document.language).section(anchor)
    return "".join(split_lines(text)[section.start_line - 1 : section.end_line]) if section else None


def _is_plain(path: str) -> bool:
    """Return whether a path is spelled as the list spells it: below the root, without dots."""
    return bool(path) and "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


def _read_documents(index: ProjectIndex, after: str) -> Iterator[ListedDocument]:
    for entry in index.source.entries():
        if isinstance(entry, Entry) and entry.path > after:
            yield from _read_listed(index, entry)


def _extensions_glob(extensions: frozenset[str]) -> str | None:
    """Return a glob for paths with these extensions, in upper or lower case."""
    if not extensions:
        return None
    names = ["".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in name[1:]) for name in extensions]
    return f"**/*.{{{','.join(sorted(names))}}}" if len(names) > 1 else f"**/*.{names[0]}"
