"""Ranking of documents by title and content in one order: a title outranks the same words in the text.

The words decide which documents match and how many do. Meaning orders documents that the words rank as equal, and it
answers alone where no document has a word of the query.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from dowse.protocols import Searchable
from dowse.screening.masking import screen_text
from dowse.searching.candidates import Mode, QueryVector, query_of_best_words
from dowse.searching.document_lines import DocumentLines
from dowse.searching.found_files import Current, ReadBytes, verify
from dowse.searching.passages import Passage, ShownTexts, holds_phrase, screen_shown
from dowse.searching.query_terms import SearchQuery, Spelling, check_spelling, term_frequencies
from dowse.searching.ranking_constants import CHUNK_CANDIDATES, CHUNK_WEIGHTS, CORRECTION_WEIGHT
from dowse.searching.search import Answer, SearchHit
from dowse.searching.term_positions import WantedLines, terms_among
from dowse.text.analysis import terms_of
from dowse.types import DocumentMatch, StoredDocument, TextQuery

SearchPlace = Literal["title", "content", "both"]
MatchPlace = Literal["title", "content", "both", "meaning"]

MIN_TITLE_RELEVANCE = 0.8
"""Relevance of a title with every word of the query; the fewer other words the title has, the closer it gets to 1."""
MAX_CONTENT_RELEVANCE = 0.79
CONTENT_WEIGHT = 0.7
PARTIAL_TITLE_WEIGHT = 0.15
"""Content counts less than a whole title; a title with some of the words adds a little."""
SPARE_CANDIDATES = 2
"""Candidates beyond the limit that replace documents which turn out to be gone."""
EXACT_TITLE_SHARE = 2.0
"""Share of a title that is exactly the query."""
MORE_DOCUMENTS = 500
"""Matching documents to search once more where the best passages are all in a few."""
MIN_MEANING_TERMS = 2
"""Terms that a query needs to be answered by meaning alone: the meaning of one word that nothing contains is a guess."""
PHRASE_SECONDS = 0.2
"""Time limit for reading documents to check phrases. Documents that are not read in time count if they have all words."""
MAX_CUT_CHARACTERS = 50
"""Of a word that was cut. A description of 150 characters is cut within a word only if that has more than half of them."""

SearchTexts = Callable[[int, frozenset[int] | None, Mode, Spelling], Answer]
"""Searches the texts: takes a limit, the documents to search or None for all, and the search method."""
FindTexts = Callable[[int, frozenset[int] | None, Mode], Sequence[SearchHit]]
"""The same for one query, whose spelling was checked."""


@dataclass(frozen=True, slots=True)
class DocumentSearch:
    """A query, where to look for it, and the documents to search or None for all."""

    query: SearchQuery
    place: SearchPlace
    limit: int
    among: frozenset[int] | None = None
    masks_secrets: bool = True


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document that was found, where the query matched, and the best passage."""

    document: StoredDocument
    relevance: float
    place: MatchPlace
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class DocumentMatches:
    """The documents that were found, the number of all matches by words, and the terms and corrections of the query."""

    found: list[RankedDocument]
    total: int
    terms: Mapping[str, float]
    corrected: Mapping[str, str]
    total_without_filters: int = 0
    """The number of all matches without `+`, `-` and phrases, where these left nothing."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    document_id: int
    relevance: float
    nearness: float
    """Nearness in meaning; it orders candidates of equal relevance."""
    text_rank: int
    """Its rank among the texts; it orders candidates that are as near."""
    passage: Passage | None


def rank_documents(
    store: Searchable,
    read: ReadBytes,
    search: DocumentSearch,
    search_texts: SearchTexts,
    vectors: Sequence[QueryVector] = (),
) -> DocumentMatches:
    """Return the best documents by title and content, up to the limit of the search."""
    if search.query.is_pasted:
        search = replace(search, query=query_of_best_words(store, search.query))
    query, spelling = search.query, check_spelling(store, search.query)
    corrected = spelling.corrected
    match, terms = _match_of(search, corrected), _query_terms(store, query, corrected)
    find_texts: FindTexts = lambda limit, among, mode: search_texts(limit, among, mode, spelling).hits  # noqa: E731
    if not terms:
        return _titled_exactly(store, read, search)
    selected = store.match_documents(match, 2 * (search.limit + SPARE_CANDIDATES))
    total = selected.total
    if query.phrases or query.not_phrases:
        match, total = _with_phrases(store, read, search, match)
        selected = store.match_documents(match, 2 * (search.limit + SPARE_CANDIDATES))
    if not total:
        by_meaning = _near_in_meaning(store, search, terms, find_texts, vectors)
        unfiltered = _match_of(replace(search, query=query.without_filters()), corrected)
        count = store.match_documents(unfiltered, 1).total if query.has_filters else 0
        return DocumentMatches(by_meaning, 0, terms, corrected, count)
    titled = store.documents_by_id(selected.ids[: selected.titled])
    shares = {number: _title_share(query, terms, document.title) for number, document in titled.items()}
    whole_titles = {number for number, share in shares.items() if share >= 1}
    hits = _best_text_hits(store, match, search, find_texts, whole_titles)
    ranks, near = {number: rank for rank, number in enumerate(hits)}, _nearness(store, vectors, {*hits, *shares})
    paths = {**{number: hit.path for number, hit in hits.items()}, **{one.id: one.path for one in titled.values()}}
    ranked = sorted(
        (
            _make_candidate(
                number, shares.get(number, 0.0), near.get(number, 0.0), ranks.get(number, len(hits)), hits.get(number)
            )
            for number in {*hits, *shares}
        ),
        key=lambda one: (-one.relevance, -one.nearness, one.text_rank, paths[one.document_id]),
    )
    verified, gone = _verify_candidates(store, read, ranked, search.limit, titled)
    passages = _find_passages(store, [current for _, _, current in verified if current], search, terms)
    by_title = [candidate.document_id for candidate, _, _ in verified if candidate.document_id not in hits]
    in_text = hits.keys() | _ids_in_texts(store, match, by_title)
    found = [
        RankedDocument(
            _screened(document, search),
            candidate.relevance,
            _match_place(shares.get(candidate.document_id), in_text=candidate.document_id in in_text),
            candidate.passage or passages.get(candidate.document_id),
        )
        for candidate, document, _ in verified
    ]
    return DocumentMatches(found, total - gone, terms, corrected)


def _match_of(search: DocumentSearch, corrected: Mapping[str, str]) -> DocumentMatch:
    query = search.query
    return DocumentMatch(
        words=(*query.positive, *corrected.values()),
        required=tuple(
            word for word in (*query.must, *(word for phrase in query.phrases for word in phrase.split())) if terms_of(word)
        ),
        excluded=query.must_not,
        in_titles=search.place != "content",
        in_texts=search.place != "title",
        among=search.among,
    )  # fmt: skip


def _query_terms(store: Searchable, query: SearchQuery, corrected: Mapping[str, str]) -> dict[str, float]:
    """Return the terms of a query with their weights; the correction of a misspelled word counts half."""
    weights: dict[str, float] = {}
    for word, terms in term_frequencies(store, query.positive).items():
        correction = corrected.get(word.lower())
        if correction:
            weights |= dict.fromkeys(terms_of(correction), CORRECTION_WEIGHT)
        else:
            weights |= dict.fromkeys(terms, 1.0)
    return weights


def _titled_exactly(store: Searchable, read: ReadBytes, search: DocumentSearch) -> DocumentMatches:
    """Return the documents whose title is exactly the query, for a query without words."""
    name, among = search.query.text.strip().casefold(), search.among
    documents = store.documents() if search.query.terms and search.place != "content" else ()
    titled = [
        one
        for one in documents
        if one.title.strip().casefold() == name and (among is None or one.id in among) and verify(store, read, one)
    ]
    found = [RankedDocument(document, 1.0, "title") for document in titled[: search.limit]]
    return DocumentMatches(found, len(titled), {}, {})


def _with_phrases(
    store: Searchable, read: ReadBytes, search: DocumentSearch, match: DocumentMatch
) -> tuple[DocumentMatch, int]:
    """Leave out documents that lack a phrase or contain an excluded one, as far as the time limit allows.

    Return the match with the documents that are left, and their number.
    """
    query, deadline = search.query, time.monotonic() + PHRASE_SECONDS
    left = set(store.match_documents(match, max(1, store.chunk_count())).ids)
    unchecked = set(left)
    if not query.phrases:
        with_words = [replace(match, required=(*match.required, *phrase.split())) for phrase in query.not_phrases]
        unchecked = {number for one in with_words for number in store.match_documents(one, len(left) + 1).ids}
    for document in store.documents_by_id(sorted(unchecked)).values():
        if time.monotonic() > deadline:
            break
        if not _has_phrases(store, read, search, document):
            left.discard(document.id)
    return replace(match, among=frozenset(left)), len(left)


def _has_phrases(store: Searchable, read: ReadBytes, search: DocumentSearch, document: StoredDocument) -> bool:
    texts = [document.title] if search.place != "content" else []
    if search.place != "title":
        current = verify(store, read, document)
        if current is None:
            return False
        texts.append(current.data.decode("utf-8", "replace"))
    holds = lambda phrase: any(holds_phrase(text, phrase) for text in texts)  # noqa: E731 - used twice below
    return all(map(holds, search.query.phrases)) and not any(map(holds, search.query.not_phrases))


def _near_in_meaning(
    store: Searchable,
    search: DocumentSearch,
    terms: Mapping[str, float],
    find_texts: FindTexts,
    vectors: Sequence[QueryVector],
) -> list[RankedDocument]:
    """Return documents near the query in meaning, for a query of several words that no document has."""
    query = search.query
    if not vectors or search.place == "title" or query.has_filters or len(terms) < MIN_MEANING_TERMS:
        return []
    hits = {hit.document_id: hit for hit in find_texts(search.limit, None, "vector")}
    documents = store.documents_by_id(hits)
    return [
        RankedDocument(
            _screened(documents[number], search),
            round(CONTENT_WEIGHT * hit.relevance, 4),
            "meaning",
            hit.passages[0] if hit.passages else None,
        )
        for number, hit in hits.items()
        if number in documents
    ]


def _nearness(store: Searchable, vectors: Sequence[QueryVector], documents: Iterable[int]) -> dict[int, float]:
    """Return the nearness of each document's nearest chunk, by the first encoder that takes part."""
    if not vectors:
        return {}
    among, nearness = frozenset(documents), dict[int, float]()
    for hit in store.nearest(vectors[0].encoder, vectors[0].vector, CHUNK_CANDIDATES, among=among):
        nearness.setdefault(hit.document_id, round(hit.score, 4))
    return nearness


def _title_share(query: SearchQuery, terms: Mapping[str, float], title: str) -> float:
    """Return the share of the query in a title.

    The share is at most 1 for a part of the query, and between 1 and 2 for all of it: the fewer other words, the higher.
    """
    title_terms = tuple(dict.fromkeys(terms_of(title)))
    share = sum(terms[term] for term in terms_among(title, frozenset(terms))) / len(terms)
    if share < 1:
        return share
    words = frozenset(terms_of(" ".join((*query.terms, *query.must, *query.phrases))))
    is_exact = words.issuperset(title_terms) and len(title_terms) == len(words)
    return EXACT_TITLE_SHARE if is_exact else 1 + len(terms) / (len(title_terms) + 1)


def _best_text_hits(
    store: Searchable, match: DocumentMatch, search: DocumentSearch, find_texts: FindTexts, whole_titles: set[int]
) -> dict[int, SearchHit]:
    """Return the best texts by document id, as many as fit beside the documents with the whole query in their title."""
    limit = search.limit
    if not match.in_texts or len(whole_titles) >= limit:
        return {}
    hits = _matching_hits(store, match, find_texts(limit, match.among, "lexical"))
    while (missing := limit - len(hits.keys() | whole_titles)) > 0:
        # The best passages were all in a few documents, or in documents that match only by their path.
        texts = store.match_documents(replace(match, in_titles=False), MORE_DOCUMENTS + len(hits)).ids
        remaining = frozenset(texts) - hits.keys()
        more = _matching_hits(store, match, find_texts(missing, remaining, "lexical")) if remaining else {}
        if not more:
            break
        lowest = min((hit.relevance for hit in hits.values()), default=1.0)
        hits |= {number: replace(hit, relevance=min(hit.relevance, lowest)) for number, hit in more.items()}
    return hits


def _matching_hits(store: Searchable, match: DocumentMatch, hits: Sequence[SearchHit]) -> dict[int, SearchHit]:
    """Return the hits that match, and whose text has a word of the query."""
    ids = [hit.document_id for hit in hits]
    in_texts = _ids_in_texts(store, match, ids)
    if match.required or match.excluded:
        in_texts &= set(store.match_documents(replace(match, among=in_texts), len(ids)).ids)
    return {hit.document_id: hit for hit in hits if hit.document_id in in_texts}


def _ids_in_texts(store: Searchable, match: DocumentMatch, ids: Sequence[int]) -> frozenset[int]:
    """Return those of the documents whose text has a word of the query."""
    if not ids or not match.in_texts:
        return frozenset()
    in_text = DocumentMatch(match.words, in_titles=False, among=frozenset(ids))
    return frozenset(store.match_documents(in_text, len(ids)).ids)


def _make_candidate(
    document_id: int, share: float, nearness: float, text_rank: int, hit: SearchHit | None
) -> _Candidate:
    if share >= 1:
        relevance = MIN_TITLE_RELEVANCE + (1 - MIN_TITLE_RELEVANCE) * min(1.0, share - 1)
    elif hit:
        by_content = CONTENT_WEIGHT * hit.relevance + PARTIAL_TITLE_WEIGHT * share
        relevance = min(MAX_CONTENT_RELEVANCE, by_content)
    else:
        relevance = CONTENT_WEIGHT * share
    passage = hit.passages[0] if hit and hit.passages else None
    return _Candidate(document_id, round(min(relevance, 1.0), 4), nearness, text_rank, passage)


def _verify_candidates(
    store: Searchable, read: ReadBytes, ranked: list[_Candidate], limit: int, titled: Mapping[int, StoredDocument]
) -> tuple[list[tuple[_Candidate, StoredDocument, Current | None]], int]:
    """Return the first candidates that are up to date, and the number of those that are gone or changed.

    A candidate with a passage was verified when the passage was read.
    """
    verified: list[tuple[_Candidate, StoredDocument, Current | None]] = []
    gone = 0
    others = [candidate.document_id for candidate in ranked if candidate.document_id not in titled]
    documents = {**titled, **store.documents_by_id(others)}
    for candidate in ranked:
        if len(verified) == limit:
            break
        document = documents.get(candidate.document_id)
        current = verify(store, read, document) if document and not candidate.passage else None
        if document and (candidate.passage or current):
            verified.append((candidate, document, current))
        else:
            gone += 1
    return verified, gone


def _find_passages(
    store: Searchable, documents: Sequence[Current], search: DocumentSearch, terms: Mapping[str, float]
) -> dict[int, Passage]:
    """Return the best passage of each document that was found by its title."""
    if not documents:
        return {}
    ids, best = frozenset(current.document.id for current in documents), dict[int, int]()
    for scored in store.find_chunks(TextQuery(search.query.positive, CHUNK_WEIGHTS, among=ids), CHUNK_CANDIDATES):
        best.setdefault(scored.document_id, scored.id)
    chunks, wanted = store.chunks_by_id(best.values()), WantedLines.of(search.query, terms)
    found: dict[int, Passage] = {}
    for current in documents:
        chunk = chunks.get(best.get(current.document.id, 0))
        if chunk and current.has(chunk):
            lines = DocumentLines(current.document, current.data, partial(tuple, chunk.symbols), wanted, chunk)
            passage = lines.window(lines.best_unit({}))
            path, masks = current.document.path, search.masks_secrets
            shown = screen_shown(ShownTexts((passage,)), current.data, chunk, path, masks=masks)
            found[current.document.id] = shown.passages[0]
    return found


def _screened(document: StoredDocument, search: DocumentSearch) -> StoredDocument:
    """Mask secrets in the title and the description, which may be the first lines of the document."""
    if not search.masks_secrets:
        return document
    title, description = (_screen_shortened(text) for text in (document.title, document.description))
    return replace(document, title=title, description=description)


def _screen_shortened(text: str) -> str:
    """Mask secrets in a text that was shortened. A long word that was cut may be a part of one, and is left out."""
    shown = screen_text(text).text
    last = shown.rpartition(" ")[2]
    is_cut = last.endswith("…") and last[:-1].isascii() and len(last) > MAX_CUT_CHARACTERS
    return shown.removesuffix(last) + "…" if is_cut else shown


def _match_place(share: float | None, *, in_text: bool) -> MatchPlace:
    if not share:
        return "content"
    return "both" if in_text else "title"
