"""Search of the archives: the best documents by their words, each with its best passage, and highlights as HTML."""

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

from dowse.archives.archive_documents import details_from_json
from dowse.archives.archive_index import ArchiveIndex
from dowse.archives.archive_locations import Archive
from dowse.archives.archive_ranking import ArchiveWords, look_up_words, question_score, rank_archived
from dowse.archives.archive_types import ArchiveHit, Highlight, StoredArchiveDocument
from dowse.archives.archive_update import document_id, source_of
from dowse.indexes.damage_recovery import answer_or_rebuild
from dowse.indexes.document_search import ask_documents, read_now
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import update_if_quick
from dowse.protocols import Searchable
from dowse.screening.masking import screen_text
from dowse.searching.candidates import query_of_best_words
from dowse.searching.found_files import Current, verify
from dowse.searching.passages import (
    Passage,
    ShownTexts,
    found_terms,
    has_phrases,
    holds_phrase,
    screen_shown,
    without_front_matter,
)
from dowse.searching.query_terms import SearchQuery, parse_plain_query
from dowse.searching.ranking_constants import CHUNK_CANDIDATES, DOCS_CHUNK_WEIGHTS
from dowse.searching.search import SearchOptions
from dowse.store.catalog import Catalog
from dowse.text.analysis import is_unspaced
from dowse.text.excerpts import FoundWord, add_marks, choose_windows, window_around
from dowse.types import Coverage, DocumentMatch, StoredDocument, TextQuery

_WORD = re.compile(r"\w+")

ArchiveAnswer = tuple[Sequence[ArchiveHit], Coverage]
"""The hits in one archive, best first, and how much of it was searched."""


def search_archives(
    indexes: Mapping[Archive, ArchiveIndex], query: str, limit: int, *, fuzzy: bool = True
) -> list[ArchiveHit]:
    """Return the best documents of all archives for a query, after their indexes were brought up to date if that is quick."""
    parsed = parse_plain_query(query)

    def search(archive: Archive, index: ArchiveIndex) -> ArchiveAnswer:
        # What takes long is not indexed here, but searched directly.
        pending = update_if_quick(index, start=lambda _index: None) if index.root.is_dir() else 0
        return search_archive(index, archive, parsed, limit, fuzzy=fuzzy, pending=pending, is_behind=bool(pending))

    found = (answer_or_rebuild(index, partial(search, archive, index)) for archive, index in indexes.items())
    return merge_answers(found, limit)


def merge_answers(answers: Iterable[ArchiveAnswer], limit: int) -> list[ArchiveHit]:
    """Return the best hits of several archives in one order; of equal scores, the higher rank in its archive counts."""
    ranked = [(-hit.score, rank, hit.document.path, hit) for hits, _ in answers for rank, hit in enumerate(hits)]
    return [hit for *_, hit in sorted(ranked, key=lambda one: one[:3])[:limit]]


def search_archive(
    index: ProjectIndex,
    archive: Archive,
    query: SearchQuery,
    limit: int,
    *,
    fuzzy: bool = True,
    pending: int = 0,
    is_behind: bool = False,
) -> ArchiveAnswer:
    """Return the best documents of one archive. Files that the index lacks are searched directly.

    Unless `fuzzy`, a document has to have every word of the query as it is written.
    """
    if not query.text:
        return (), Coverage(0, 0, is_indexing=False, is_whole=True)

    def ask(files: Searchable | None) -> tuple[list[ArchiveHit], list[str]]:
        return _find(index, files or index.store, archive, query, limit, fuzzy=fuzzy)

    return ask_documents(index, query, SearchOptions(), ask, lambda found: found, pending=pending, is_behind=is_behind)


def _find(
    index: ProjectIndex, store: Searchable, archive: Archive, query: SearchQuery, limit: int, *, fuzzy: bool
) -> tuple[list[ArchiveHit], list[str]]:
    """Return the best documents, and the paths of those that changed since they were indexed."""
    if query.is_pasted:
        query = query_of_best_words(store, query)
    asked = look_up_words(store, query.without_filters().text, fuzzy=fuzzy)
    required = asked.spellings if not fuzzy else (*query.must, *(word for one in query.phrases for word in one.split()))
    among = None
    if required or query.must_not:
        match = DocumentMatch(asked.spellings, required, query.must_not)
        among = frozenset(store.match_documents(match, max(1, store.chunk_count())).ids)
    exact = () if fuzzy else tuple(_WORD.findall(query.text))
    chosen, outdated = list[tuple[Current, float]](), list[str]()
    for stored, score in rank_archived(store, asked, among) if asked.words else ():
        if len(chosen) == limit:
            break
        current = _read(index, store, stored)
        if current is None:
            outdated.append(stored.path)
        elif (not exact or _has_words(current, exact)) and has_phrases(query, current.data):
            chosen.append((current, score))
    masks = index.settings.mask_secrets
    passages = _best_passages(store, [current for current, _ in chosen], asked, masks=masks)
    catalog = index.store.catalog if any(current.document.id > 0 for current, _ in chosen) else None
    hits = list[ArchiveHit]()
    for current, score in chosen:
        document = _describe(index, catalog, archive, current.document)
        passage = passages.get(current.document.id)
        highlights = make_highlights(document.title, document.question, passage, asked.terms, masks=masks)
        hits.append(ArchiveHit(document, max(score, question_score(asked, document.question)), highlights))
    return sorted(hits, key=lambda hit: -hit.score), outdated


def _read(index: ProjectIndex, store: Searchable, document: StoredDocument) -> Current | None:
    """Return the text of a document if its files are unchanged; that of a missing archive as it was indexed."""
    if index.root.is_dir():
        return verify(store, index.read_bytes, document)
    text = store.converted_text(document.id)
    return None if text is None else Current(document, text.encode())


def _best_passages(
    store: Searchable, documents: Sequence[Current], words: ArchiveWords, *, masks: bool
) -> dict[int, Passage]:
    """Return the best passage of each document."""
    best, found = dict[int, int](), dict[int, Passage]()
    among = frozenset(current.document.id for current in documents)
    for scored in store.find_chunks(TextQuery(words.spellings, DOCS_CHUNK_WEIGHTS, among=among), CHUNK_CANDIDATES):
        best.setdefault(scored.document_id, scored.id)
    chunks = store.chunks_by_id(best.values())
    for current in documents:
        chunk = chunks.get(best.get(current.document.id, 0))
        if chunk and current.has(chunk):
            text = current.data[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace")
            passage = ShownTexts((Passage(chunk.start_line, chunk.end_line, text),))
            screened = screen_shown(passage, current.data, chunk, current.document.path, masks=masks)
            found[current.document.id] = screened.passages[0]
    return found


def _has_words(current: Current, words: Sequence[str]) -> bool:
    """Return whether a document has words as they are written, in upper or lower case."""
    text = f"{current.document.title}\n{current.data.decode('utf-8', 'replace')}"
    composed = unicodedata.normalize("NFC", text).lower()
    forms = (unicodedata.normalize("NFC", word).lower() for word in words)
    return all(word in composed if is_unspaced(word) else holds_phrase(composed, word) for word in forms)


def _describe(
    index: ProjectIndex, catalog: Catalog | None, archive: Archive, stored: StoredDocument
) -> StoredArchiveDocument:
    """Return a document with its details; those of one that is not indexed yet are read now."""
    if catalog and stored.id > 0:
        title, details = stored.title, catalog.details(stored.id)
    else:
        read = read_now(index, stored.path)
        title, details = (read.reading.title, read.reading.details) if read else (stored.title, "")
    about = details_from_json(details, stored.path)
    return StoredArchiveDocument(
        0, document_id(archive, stored.path), title, f"{index.given_root.name}/{stored.path}", source_of(archive, about),
        about.type, about.date, about.question, about.url, archive, stored.path,
    )  # fmt: skip


CHARACTERS_BEFORE, CHARACTERS_AFTER = 60, 140
"""Characters of a snippet before and after the word it is made for."""
MAX_SNIPPETS = 3
"""Maximum number of snippets of one field."""
HEADING_FACTOR = 0.3
"""The weight of a heading; other passages have 1."""
_SPACE = re.compile(r"\s+")
_BETWEEN = re.compile(r"[\s-]{1,3}")
"""Text between two words that share one `<mark>` element."""
_MARKUP_AT_START = re.compile(r"(?:[#>*+-]+|\d+[.)])\s+")

Terms = Mapping[str, float]


def make_highlights(
    title: str, question: str, passage: Passage | None, terms: Terms, *, masks: bool
) -> tuple[Highlight, ...]:
    """Return the fields of a document that have words of the query; the passage is masked already."""
    found = list[Highlight]()
    names: tuple[tuple[Literal["title", "question"], str], ...] = (("title", title), ("question", question))
    for field, text in names:
        screened = screen_text(text, masks=masks)
        if places := _places(screened.text, terms):
            snippet = _render(screened.text, (0, len(screened.text)), places)
            masked, flags = (sorted({one.kind for one in some}) for some in (screened.masked, screened.flags))
            found.append(Highlight(field, [snippet], masked, flags))
    if passage and (snippets := _make_snippets(without_front_matter(passage), terms, title)):
        found.append(Highlight("content", snippets, list(passage.masked), sorted(set(passage.flags))))
    return tuple(found)


def _places(text: str, terms: Terms) -> list[FoundWord]:
    groups = {term: number for number, term in enumerate(terms)}
    return [FoundWord(start, end, groups[term]) for start, end, term in found_terms(text, terms)]


def _make_snippets(text: str, terms: Terms, title: str) -> list[str]:
    """Return the best few parts of a passage. Headings come after other parts, and one that is the title is none."""
    places, weights = _places(text, terms), dict(enumerate(terms.values()))
    cut = partial(window_around, text, before=CHARACTERS_BEFORE, after=CHARACTERS_AFTER, in_paragraph=True)

    def factor(window: tuple[int, int]) -> float:
        line = text[text.rfind("\n", 0, window[0]) + 1 : window[1]].strip()
        return 0.0 if line.strip("#=* \t") == title else HEADING_FACTOR if line.startswith("#") else 1.0

    reach = (CHARACTERS_BEFORE, CHARACTERS_AFTER)
    chosen = choose_windows(places, weights, MAX_SNIPPETS, cut, reach=reach, factor=factor)
    return [_render(text, window, places) for window in chosen]


def _render(text: str, window: tuple[int, int], places: Iterable[FoundWord]) -> str:
    start, end = window
    inside = [place for place in places if start <= place.start and place.end <= end]
    if skipped := _MARKUP_AT_START.match(text, start, inside[0].start if inside else start):
        start = skipped.end()
    pieces, done = list[str](), start
    for first, last in _join_adjacent(text, inside):
        pieces += [_escape(text[done:first]), f"<mark>{_escape(text[first:last])}</mark>"]
        done = last
    line = _SPACE.sub(" ", "".join((*pieces, _escape(text[done:end])))).strip()
    is_cut_before = start > 0 and not _begins_paragraph(text, start)
    is_cut_after = end < len(text) and "\n\n" not in text[end : end + 2] and bool(text[end:].strip())
    return add_marks(line, "...", is_cut_before=is_cut_before, is_cut_after=is_cut_after)


def _escape(text: str) -> str:
    return html.escape(text, quote=False)


def _join_adjacent(text: str, places: Sequence[FoundWord]) -> list[tuple[int, int]]:
    """Return the places as spans, with adjacent words joined."""
    joined = list[tuple[int, int]]()
    for place in places:
        if joined and (place.start <= joined[-1][1] or _BETWEEN.fullmatch(text, joined[-1][1], place.start)):
            joined[-1] = (joined[-1][0], max(joined[-1][1], place.end))
        else:
            joined.append((place.start, place.end))
    return joined


def _begins_paragraph(text: str, at: int) -> bool:
    line = text.rfind("\n", 0, at - 1) + 1
    return not text[:at].strip() or "\n\n" in text[max(0, at - 2) : at] or bool(_MARKUP_AT_START.match(text, line, at))
