"""Questions to a folder of documents: listed, and found by title and content."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import answer_now, coverage
from dowse.line_numbers import split_lines
from dowse.reading.outlines import find_section
from dowse.searching.document_matching import MatchPlace
from dowse.searching.document_ranking import DocumentMatches, DocumentSearch, rank_documents
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import MAX_LIMIT, Answer, SearchOptions, search_store
from dowse.searching.title_index import TitleIndex
from dowse.types import Coverage, Document, Entry

RANKED = 24
"""Texts that are ranked closely, or twice as many as are shown: with 120 an answer takes 3 ms longer."""
NO_BUDGET = 1_000_000
"""Of a passage a few words are told, so long passages are no reason to leave others out."""


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """What is looked for, and how much of it is shown."""

    text: str
    place: MatchPlace = "both"
    limit: int = 10
    extensions: frozenset[str] = frozenset()
    """In small letters with their dots; without any, all."""


@dataclass(frozen=True, slots=True)
class DocumentResults:
    """What was found in one folder, and how much of it was searched."""

    matches: DocumentMatches
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """What is listed of a document."""

    path: str
    title: str
    description: str
    tags: tuple[str, ...] = ()


def find_documents(
    project: ProjectIndex, wanted: DocumentQuery, titles: TitleIndex, pending: int = 0
) -> DocumentResults:
    """Documents by a folder's index as it is now; `titles` are kept for the next question."""
    is_growing = not project.exists or project.is_being_updated()
    if is_growing:  # waits for the first that are worth showing
        answer_now(project, wanted.text, SearchOptions(1, path_glob=_glob_of(wanted.extensions)))
    else:
        project.store.refresh()
    left_to_mend = [] if is_growing else [answer_now]
    masks = project.settings.mask_secrets

    def ask(limit: int, among: frozenset[int] | None) -> Answer:
        if among is None and wanted.extensions:
            kinds = titles.documents_with_endings(tuple(wanted.extensions))
            among = kinds if len(kinds) < len(titles.documents) else None
        options = SearchOptions(
            min(limit, MAX_LIMIT), budget_tokens=NO_BUDGET, among=among,
            ranked_files=max(RANKED, 2 * limit), shown_chunks=1, masks_secrets=masks,
        )  # fmt: skip
        if left_to_mend:  # once, what is found to have changed is indexed again
            return left_to_mend.pop()(project, wanted.text, options)
        return search_store(project.store, project.source.read_bytes, wanted.text, options)

    asked = DocumentSearch(parse_search_query(wanted.text), wanted.place, wanted.limit, tuple(wanted.extensions), masks)
    matches = rank_documents(project.store, project.source.read_bytes, titles, asked, ask)
    return DocumentResults(matches, coverage(project, pending))


def list_documents(project: ProjectIndex, after: str = "", most: int | None = None) -> list[ListedDocument]:
    """Documents by path, those after one; where the index does not know them all, they are read themselves."""
    if project.exists and not project.is_being_updated() and project.store.fact("state") == "complete":
        stored = islice(project.store.documents(after=after), most)
        return [ListedDocument(one.path, one.title, one.description, one.tags) for one in stored]
    return list(islice(_read(project, after), most))


def read_now(project: ProjectIndex, path: str) -> Document | None:
    """A document of a folder, behind its policy; None where there is none."""
    entry = project.source.entry_at(path) if _is_plain(path) else None
    read = project.source.read(entry) if isinstance(entry, Entry) else None
    return read if isinstance(read, Document) else None


def text_of(document: Document, anchor: str = "") -> str | None:
    """A document's text, or that of a section; None where it has no such section."""
    text = document.reading.text
    if not anchor:
        return text
    section = find_section(text, anchor)
    return "".join(split_lines(text)[section.start_line - 1 : section.end_line]) if section else None


def _is_plain(path: str) -> bool:
    """Whether a path is spelled as listed: below the root, without dots."""
    return bool(path) and "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


def _read(project: ProjectIndex, after: str) -> Iterator[ListedDocument]:
    for entry in project.source.entries():
        read = project.source.read(entry) if isinstance(entry, Entry) and entry.path > after else None
        if isinstance(read, Document):
            yield ListedDocument(read.path, read.reading.title, read.reading.description, read.reading.tags)


def _glob_of(extensions: frozenset[str]) -> str | None:
    """The paths with these extensions, in any case."""
    if not extensions:
        return None
    names = ("".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in name[1:]) for name in extensions)
    return f"**/*.{{{','.join(sorted(names))}}}"
