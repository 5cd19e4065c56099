"""Searches of a folder of documents by title and content, and the list of its documents."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import coverage, search_now
from dowse.line_numbers import split_lines
from dowse.parsing.document_parsing import parse
from dowse.parsing.parsed_outlines import outline
from dowse.searching.document_matching import MatchPlace
from dowse.searching.document_ranking import DocumentMatches, DocumentSearch, rank_documents
from dowse.searching.query_terms import SearchQuery
from dowse.searching.search import MAX_LIMIT, Answer, SearchOptions, search_store
from dowse.searching.title_index import TitleIndex
from dowse.types import Coverage, Document, Entry, Verdict

RANKED_FILES = 24
"""Documents that are ranked closely, or twice as many as are shown; with 120 a search takes 3 ms longer."""
NO_BUDGET = 1_000_000
"""Only an excerpt of a passage is shown, so long passages are no reason to leave others out."""


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """A query to a folder of documents."""

    query: SearchQuery
    place: MatchPlace = "both"
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
    index: ProjectIndex, request: DocumentQuery, titles: TitleIndex, pending: int = 0
) -> DocumentResults:
    """Find documents in a folder's index as it is now; `titles` are kept for the next search."""
    is_growing = not index.exists or index.is_being_updated()
    if is_growing:  # wait for the first documents that are worth showing
        search_now(index, request.query, SearchOptions(1, path_glob=_extensions_glob(request.extensions)))
    else:
        index.store.refresh()
    may_reindex = not is_growing
    masks = index.settings.mask_secrets

    def search(limit: int, among: frozenset[int] | None) -> Answer:
        nonlocal may_reindex
        if among is None and request.extensions:
            allowed = titles.documents_with_endings(tuple(request.extensions))
            among = allowed if len(allowed) < len(titles.documents) else None
        options = SearchOptions(
            min(limit, MAX_LIMIT), budget_tokens=NO_BUDGET, among=among,
            ranked_files=max(RANKED_FILES, 2 * limit), shown_chunks=1, masks_secrets=masks,
        )  # fmt: skip
        if may_reindex:  # the first search indexes files again that turn out to have changed
            may_reindex = False
            return search_now(index, request.query, options)
        return search_store(index.store, index.source.read_bytes, request.query, options)

    asked = DocumentSearch(request.query, request.place, request.limit, tuple(request.extensions), masks)
    matches = rank_documents(index.store, index.source.read_bytes, titles, asked, search)
    return DocumentResults(matches, coverage(index, pending))


def list_documents(index: ProjectIndex, after: str = "", limit: int | None = None) -> list[ListedDocument]:
    """Return the documents after a path, sorted by path; if the index is not complete, the files are read."""
    if index.exists and not index.is_being_updated() and index.store.fact("state") == "complete":
        stored = islice(index.store.documents(after=after), limit)
        return [
            ListedDocument(document.path, document.title, document.description, document.tags) for document in stored
        ]
    return list(islice(_read_documents(index, after), limit))


def read_now(index: ProjectIndex, path: str) -> Document | None:
    """Read a document as it is now; None if there is none or the policy denies it."""
    entry = index.source.entry_at(path) if _is_plain(path) else None
    return _read_document(index, entry) if isinstance(entry, Entry) else None


def _read_document(index: ProjectIndex, entry: Entry) -> Document | None:
    content = index.source.read(entry)
    document = content if isinstance(content, Verdict) else parse(index.source, content)
    return None if isinstance(document, Verdict) else document


def text_of(document: Document, anchor: str = "") -> str | None:
    """Return the text of a document or of one of its sections; None if it has no such section."""
    text = document.reading.text
    if not anchor:
        return text
    section = outline(text, [anchor]).section(anchor)
    return "".join(split_lines(text)[section.start_line - 1 : section.end_line]) if section else None


def _is_plain(path: str) -> bool:
    """Return whether a path is spelled as the list spells it: below the root, without dots."""
    return bool(path) and "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


def _read_documents(index: ProjectIndex, after: str) -> Iterator[ListedDocument]:
    for entry in index.source.entries():
        read = _read_document(index, entry) if isinstance(entry, Entry) and entry.path > after else None
        if read is not None:
            yield ListedDocument(read.path, read.reading.title, read.reading.description, read.reading.tags)


def _extensions_glob(extensions: frozenset[str]) -> str | None:
    """Return a glob for paths with these extensions, in upper or lower case."""
    if not extensions:
        return None
    names = ("".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in name[1:]) for name in extensions)
    return f"**/*.{{{','.join(sorted(names))}}}"
