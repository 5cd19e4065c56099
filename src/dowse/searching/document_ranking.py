"""Ranking of documents by title and content in one order: a title outranks the same words in the text."""

from collections.abc import Callable, Collection, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from heapq import nlargest

from dowse.screening.masking import screen_text
from dowse.searching.candidates import corrections
from dowse.searching.document_matching import DocumentMatcher, MatchPlace
from dowse.searching.passage_screening import screen_passages
from dowse.searching.passages import Passage, select_passage
from dowse.searching.query_terms import SearchQuery
from dowse.searching.ranking_constants import CHUNK_CANDIDATES, CHUNK_WEIGHTS, CORRECTION_WEIGHT
from dowse.searching.search import Answer, SearchHit
from dowse.searching.title_index import FollowableStore, TitleIndex
from dowse.searching.verification import Current, ReadBytes, verify
from dowse.text.analysis import terms_of
from dowse.types import StoredDocument, TextQuery

__all__ = ["DocumentMatches", "DocumentSearch", "MatchPlace", "RankedDocument", "SearchTexts", "rank_documents"]

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

SearchTexts = Callable[[int, frozenset[int] | None], Answer]
"""Searches the texts: takes a limit, and the documents to search or None for all."""


@dataclass(frozen=True, slots=True)
class DocumentSearch:
    """A query, where to look for it, and the file endings of the documents to search; without endings, all."""

    query: SearchQuery
    place: MatchPlace
    limit: int
    endings: tuple[str, ...] = ()
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
    """The documents that were found, the number of all matches, and the terms and corrections of the query."""

    found: list[RankedDocument]
    total: int
    terms: Mapping[str, float]
    corrected: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Candidate:
    document_id: int
    relevance: float
    text_rank: int
    """Its rank among the texts; it breaks ties of relevance."""
    passage: Passage | None


def rank_documents(
    store: FollowableStore, read: ReadBytes, titles: TitleIndex, search: DocumentSearch, search_texts: SearchTexts
) -> DocumentMatches:
    """Return the best documents by title and content, up to the limit of the search."""
    titles.follow(store)
    matches = _find_once(store, read, titles, search, search_texts)
    # A search indexes changed files again, under new ids. If that happened, search once more.
    return _find_once(store, read, titles, search, search_texts) if titles.follow(store) else matches


def _find_once(
    store: FollowableStore, read: ReadBytes, titles: TitleIndex, search: DocumentSearch, search_texts: SearchTexts
) -> DocumentMatches:
    query, corrected = search.query, corrections(store, search.query.positive)
    matcher = DocumentMatcher(store, read, titles, search.place)
    among = titles.documents_with_endings(search.endings) if search.endings else None
    matched, texts = matcher.match(query, tuple(corrected.values()), among)
    terms = _query_terms(titles, query, corrected)
    shares = _title_shares(titles, query, terms, matched) if search.place != "content" else {}
    best_titles = nlargest(search.limit + SPARE_CANDIDATES, shares, key=shares.__getitem__)
    whole_titles = {document_id for document_id in best_titles if shares[document_id] >= 1}
    hits = _best_text_hits(titles, search_texts, texts, search.limit, whole_titles)
    ranks, last = {document_id: rank for rank, document_id in enumerate(hits)}, len(hits)
    ranked = sorted(
        (
            _make_candidate(
                document_id, shares.get(document_id, 0.0), ranks.get(document_id, last), hits.get(document_id)
            )
            for document_id in {*hits, *best_titles}
        ),
        key=lambda candidate: (
            -candidate.relevance,
            candidate.text_rank,
            titles.documents[candidate.document_id].path,
        ),
    )
    verified, gone = _verify_candidates(store, read, ranked, search.limit)
    passages = _find_passages(store, [current for _, _, current in verified if current], search, terms)
    found = [
        RankedDocument(
            _mask_secrets(document) if search.masks_secrets else document,
            candidate.relevance,
            _match_place(shares.get(candidate.document_id), in_text=candidate.document_id in texts),
            candidate.passage or passages.get(candidate.document_id),
        )
        for candidate, document, _ in verified
    ]
    return DocumentMatches(found, len(matched) - gone, terms, corrected)


def _mask_secrets(document: StoredDocument) -> StoredDocument:
    """Mask secrets in the title and the description, which may be the first lines of the document."""
    title, description = screen_text(document.title), screen_text(document.description)
    return replace(document, title=title.text, description=description.text)


def _query_terms(titles: TitleIndex, query: SearchQuery, corrected: Mapping[str, str]) -> dict[str, float]:
    """Return the terms of a query with their weights; the correction of a misspelled word counts half."""
    weights: dict[str, float] = {}
    for word in query.positive:
        terms, correction = terms_of(word), corrected.get(word.lower())
        if correction and not any(map(titles.is_known, terms)):
            weights |= dict.fromkeys(terms_of(correction), CORRECTION_WEIGHT)
        else:
            weights |= dict.fromkeys(terms, 1.0)
    return weights


def _title_shares(
    titles: TitleIndex, query: SearchQuery, terms: Mapping[str, float], matched: Set[int]
) -> dict[int, float]:
    """Return the share of the query in the title of each document.

    The share is at most 1 for a part of the query, and between 1 and 2 for all of it: the fewer other words, the higher.
    """
    if not terms:
        return dict.fromkeys(matched, EXACT_TITLE_SHARE)  # the exact title matched, and it has no words
    words = frozenset(terms_of(" ".join((*query.terms, *query.must, *query.phrases))))
    shares: dict[int, float] = {}
    for document_id, weight in titles.term_weights(terms, matched).items():
        share, title_terms = weight / len(terms), titles.documents[document_id].terms
        if share >= 1:
            is_exact = words.issuperset(title_terms) and len(title_terms) == len(words)
            share = EXACT_TITLE_SHARE if is_exact else 1 + len(terms) / (len(title_terms) + 1)
        shares[document_id] = share
    return shares


def _best_text_hits(
    titles: TitleIndex, search_texts: SearchTexts, texts: Set[int], limit: int, whole_titles: set[int]
) -> dict[int, SearchHit]:
    """Return the best texts by document id, as many as fit beside the documents with the whole query in their title."""
    if not texts or len(whole_titles) >= limit:
        return {}
    hits = _hits_by_id(titles, search_texts(limit - len(whole_titles - texts), None).hits, texts)
    while (missing := limit - len(hits.keys() | whole_titles)) > 0 and len(hits) < len(texts):
        # The best passages were all in a few documents, or in documents that match only by their path.
        remaining = frozenset(texts - hits.keys())
        more = _hits_by_id(titles, search_texts(missing, remaining).hits, remaining)
        if not more:
            break
        lowest = min((hit.relevance for hit in hits.values()), default=1.0)
        hits |= {document_id: replace(hit, relevance=min(hit.relevance, lowest)) for document_id, hit in more.items()}
    return hits


def _hits_by_id(titles: TitleIndex, hits: Iterable[SearchHit], among: Collection[int]) -> dict[int, SearchHit]:
    pairs = ((titles.document_id(hit.path), hit) for hit in hits)
    return {document_id: hit for document_id, hit in pairs if document_id is not None and document_id in among}


def _make_candidate(document_id: int, share: float, text_rank: int, hit: SearchHit | None) -> _Candidate:
    if share >= 1:
        relevance = MIN_TITLE_RELEVANCE + (1 - MIN_TITLE_RELEVANCE) * min(1.0, share - 1)
    elif hit:
        by_content = CONTENT_WEIGHT * hit.relevance + PARTIAL_TITLE_WEIGHT * share
        relevance = min(MAX_CONTENT_RELEVANCE, by_content)
    else:
        relevance = CONTENT_WEIGHT * share
    passage = hit.passages[0] if hit and hit.passages else None
    return _Candidate(document_id, round(min(relevance, 1.0), 4), text_rank, passage)


def _verify_candidates(
    store: FollowableStore, read: ReadBytes, ranked: list[_Candidate], limit: int
) -> tuple[list[tuple[_Candidate, StoredDocument, Current | None]], int]:
    """Return the first candidates that are up to date, and the number of those that are gone or changed.

    A candidate with a passage was verified when the passage was read.
    """
    verified: list[tuple[_Candidate, StoredDocument, Current | None]] = []
    gone = 0
    documents = store.documents_by_id([candidate.document_id for candidate in ranked])
    for candidate in ranked:
        if len(verified) == limit:
            break
        document = documents.get(candidate.document_id)
        current = verify(store, read, document) if document and not candidate.passage else None
        if document and (candidate.passage or isinstance(current, Current)):
            verified.append((candidate, document, current if isinstance(current, Current) else None))
        else:
            gone += 1
    return verified, gone


def _find_passages(
    store: FollowableStore, documents: list[Current], search: DocumentSearch, terms: Mapping[str, float]
) -> dict[int, Passage]:
    """Return the best passage of each document that was found by its title, if its text has any."""
    if not documents:
        return {}
    ids = frozenset(current.document.id for current in documents)
    best: dict[int, int] = {}
    for scored in store.find_chunks(TextQuery(search.query.positive, CHUNK_WEIGHTS, among=ids), CHUNK_CANDIDATES):
        best.setdefault(scored.document_id, scored.id)
    chunks = store.chunks_by_id(best.values())
    found: dict[int, Passage] = {}
    for current in documents:
        chunk = chunks.get(best.get(current.document.id, 0))
        if chunk and current.has(chunk):
            passage = select_passage(current.data, chunk, terms, search.query.names)
            path, masks = current.document.path, search.masks_secrets
            (found[current.document.id],) = screen_passages([passage], current.data, [chunk], path, masks=masks)
    return found


def _match_place(share: float | None, *, in_text: bool) -> MatchPlace:
    if not share:
        return "content"
    return "both" if in_text else "title"
