"""Documents by their titles and by what they say, in one order: a title outranks the same words in the text."""

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
from dowse.store.analysis import terms_of
from dowse.types import StoredDocument, TextQuery

__all__ = ["DocumentMatches", "DocumentSearch", "MatchPlace", "RankedDocument", "SearchTexts", "rank_documents"]

MIN_TITLE_RELEVANCE = 0.8
"""Every word of the query in the title; the rest of the way to 1 is how little else the title says."""
MAX_CONTENT_RELEVANCE = 0.79
CONTENT_WEIGHT = 0.7
PARTIAL_TITLE_WEIGHT = 0.15
"""The content counts less than a whole title, and a part of the title a little beside it."""
SPARE_CANDIDATES = 2
"""Candidates beyond the limit, for those that turn out to be gone."""
EXACT_TITLE_SHARE = 2.0
"""How much a title says of a query that is this very title."""

SearchTexts = Callable[[int, frozenset[int] | None], Answer]
"""So many texts that answer, of some documents or of all that are wanted."""


@dataclass(frozen=True, slots=True)
class DocumentSearch:
    """What is looked for, where, and in documents with which endings; without any, all."""

    query: SearchQuery
    place: MatchPlace
    limit: int
    endings: tuple[str, ...] = ()
    masks_secrets: bool = True


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document that was found, where, and what it says there."""

    document: StoredDocument
    relevance: float
    place: MatchPlace
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class DocumentMatches:
    """What was found, how much there is, and how the query was understood."""

    found: list[RankedDocument]
    total: int
    terms: Mapping[str, float]
    corrected: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Candidate:
    number: int
    relevance: float
    rank: int
    """Its place among the texts: of equals the better text comes first."""
    passage: Passage | None


def rank_documents(
    store: FollowableStore, read: ReadBytes, titles: TitleIndex, asked: DocumentSearch, ask: SearchTexts
) -> DocumentMatches:
    """The best documents by title and content, up to the asked limit."""
    titles.follow(store)
    matches = _find_once(store, read, titles, asked, ask)
    # Files that were found to have changed were indexed again, under other numbers.
    return _find_once(store, read, titles, asked, ask) if titles.follow(store) else matches


def _find_once(
    store: FollowableStore, read: ReadBytes, titles: TitleIndex, asked: DocumentSearch, ask: SearchTexts
) -> DocumentMatches:
    query, corrected = asked.query, corrections(store, asked.query.positive)
    matcher = DocumentMatcher(store, read, titles, asked.place)
    among = titles.of_kinds(asked.endings) if asked.endings else None
    matched, texts = matcher.matched(query, tuple(corrected.values()), among)
    wanted = _query_terms(titles, query, corrected)
    shares = _title_shares(titles, query, wanted, matched) if asked.place != "content" else {}
    best = nlargest(asked.limit + SPARE_CANDIDATES, shares, key=shares.__getitem__)
    hits = _best_text_hits(titles, ask, texts, asked.limit, {number for number in best if shares[number] >= 1})
    ranks, last = {number: rank for rank, number in enumerate(hits)}, len(hits)
    ranked = sorted(
        (
            _make_candidate(number, shares.get(number, 0.0), ranks.get(number, last), hits.get(number))
            for number in {*hits, *best}
        ),
        key=lambda one: (-one.relevance, one.rank, titles.documents[one.number].path),
    )
    there, gone = _verify_candidates(store, read, ranked, asked.limit)
    passages = _find_passages(store, [current for _, _, current in there if current], asked, wanted)
    found = [
        RankedDocument(
            _mask_secrets(document) if asked.masks_secrets else document,
            one.relevance,
            _match_place(shares.get(one.number), one.number in texts),
            one.passage or passages.get(one.number),
        )
        for one, document, _ in there
    ]
    return DocumentMatches(found, len(matched) - gone, wanted, corrected)


def _mask_secrets(document: StoredDocument) -> StoredDocument:
    """A document whose title and description may be shown: its first line can be anything."""
    title, description = screen_text(document.title), screen_text(document.description)
    return replace(document, title=title.text, description=description.text)


def _query_terms(titles: TitleIndex, query: SearchQuery, corrected: Mapping[str, str]) -> dict[str, float]:
    """The terms that are looked for; one that stands in for a misspelled word counts half."""
    wanted: dict[str, float] = {}
    for word in query.positive:
        terms, stand_in = terms_of(word), corrected.get(word.lower())
        if stand_in and not any(map(titles.is_known, terms)):
            wanted |= dict.fromkeys(terms_of(stand_in), CORRECTION_WEIGHT)
        else:
            wanted |= dict.fromkeys(terms, 1.0)
    return wanted


def _title_shares(
    titles: TitleIndex, query: SearchQuery, wanted: Mapping[str, float], matched: Set[int]
) -> dict[int, float]:
    """Of each document how much of the query, up to 1, its title says; up to 2 for all of it and little else."""
    if not wanted:
        return dict.fromkeys(matched, EXACT_TITLE_SHARE)  # found by this very title, which has no words
    words = frozenset(terms_of(" ".join((*query.terms, *query.must, *query.phrases))))
    shares: dict[int, float] = {}
    for number, weight in titles.shares(wanted, matched).items():
        share, there = weight / len(wanted), titles.documents[number].terms
        if share >= 1:
            share = (
                EXACT_TITLE_SHARE
                if words.issuperset(there) and len(there) == len(words)
                else 1 + len(wanted) / (len(there) + 1)
            )
        shares[number] = share
    return shares


def _best_text_hits(
    titles: TitleIndex, ask: SearchTexts, texts: Set[int], limit: int, named: set[int]
) -> dict[int, SearchHit]:
    """The best texts, where there is room for any beside the documents whose titles say it all."""
    if not texts or len(named) >= limit:
        return {}
    hits = _hits_by_id(titles, ask(limit - len(named - texts), None).hits, texts)
    while (missing := limit - len(hits.keys() | named)) > 0 and len(hits) < len(texts):
        # The best passages were all of a few, or of documents that only their path speaks for: others come after them.
        rest = frozenset(texts - hits.keys())
        more = _hits_by_id(titles, ask(missing, rest).hits, rest)
        if not more:
            break
        least = min((hit.relevance for hit in hits.values()), default=1.0)
        hits |= {number: replace(hit, relevance=min(hit.relevance, least)) for number, hit in more.items()}
    return hits


def _hits_by_id(titles: TitleIndex, hits: Iterable[SearchHit], among: Collection[int]) -> dict[int, SearchHit]:
    numbered = ((titles.number_of(hit.path), hit) for hit in hits)
    return {number: hit for number, hit in numbered if number is not None and number in among}


def _make_candidate(number: int, share: float, rank: int, hit: SearchHit | None) -> _Candidate:
    relevance = (
        min(MAX_CONTENT_RELEVANCE, CONTENT_WEIGHT * hit.relevance + PARTIAL_TITLE_WEIGHT * min(share, 1.0))
        if hit
        else CONTENT_WEIGHT * share
    )
    if share >= 1:
        relevance = MIN_TITLE_RELEVANCE + (1 - MIN_TITLE_RELEVANCE) * min(1.0, share - 1)
    return _Candidate(number, round(min(relevance, 1.0), 4), rank, hit.passages[0] if hit and hit.passages else None)


def _verify_candidates(
    store: FollowableStore, read: ReadBytes, ranked: list[_Candidate], limit: int
) -> tuple[list[tuple[_Candidate, StoredDocument, Current | None]], int]:
    """The first candidates, read now unless they were for their passage, and how many are gone or changed."""
    there: list[tuple[_Candidate, StoredDocument, Current | None]] = []
    gone = 0
    documents = store.documents_by_id([one.number for one in ranked])
    for one in ranked:
        if len(there) == limit:
            break
        document = documents.get(one.number)
        current = verify(store, read, document) if document and not one.passage else None
        if document and (one.passage or isinstance(current, Current)):
            there.append((one, document, current if isinstance(current, Current) else None))
        else:
            gone += 1
    return there, gone


def _find_passages(
    store: FollowableStore, documents: list[Current], asked: DocumentSearch, wanted: Mapping[str, float]
) -> dict[int, Passage]:
    """What documents that were found by their titles say of it: the best passage of each that has any."""
    if not documents:
        return {}
    numbers = frozenset(current.document.id for current in documents)
    best: dict[int, int] = {}
    for scored in store.find_chunks(TextQuery(asked.query.positive, CHUNK_WEIGHTS, among=numbers), CHUNK_CANDIDATES):
        best.setdefault(scored.document_id, scored.id)
    chunks = store.chunks_by_id(best.values())
    found: dict[int, Passage] = {}
    for current in documents:
        chunk = chunks.get(best.get(current.document.id, 0))
        if chunk and current.has(chunk):
            passage = select_passage(current.data, chunk, wanted, asked.query.names)
            path, masks = current.document.path, asked.masks_secrets
            (found[current.document.id],) = screen_passages([passage], current.data, [chunk], path, masks=masks)
    return found


def _match_place(share: float | None, in_text: bool) -> MatchPlace:
    if not share:
        return "content"
    return "both" if in_text else "title"
