"""Ranking of documents by title and content in one order: a title outranks the same words in the text.

The words decide which documents match and how many do. Meaning orders documents that the words rank as equal, and it
answers alone where no document has a word of the query.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from dowse.protocols import Searchable
from dowse.screening.masking import screen_text
from dowse.searching.candidates import Mode, QueryVector, query_of_best_words
from dowse.searching.document_lines import DocumentLines
from dowse.searching.found_files import Current, ReadBytes, verify
from dowse.searching.passages import Passage, ShownTexts, holds_phrase, screen_shown
from dowse.searching.query_terms import SearchQuery, check_spelling, term_frequencies
from dowse.searching.ranking_constants import CHUNK_CANDIDATES, CHUNK_WEIGHTS, CORRECTION_WEIGHT
from dowse.searching.search import MAX_LIMIT, SearchHit, SearchOptions, search_store
from dowse.searching.term_positions import WantedLines, terms_among
from dowse.text.analysis import terms_of
from dowse.types import DocumentMatch, MatchedDocuments, StoredDocument, TextQuery

SearchPlace = Literal["title", "content", "both"]
MatchPlace = Literal["title", "content", "both", "meaning"]

RANKED_FILES = 24
"""Documents that are ranked closely, or twice as many as are shown; with 120 a search takes 3 ms longer."""
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

    found: Sequence[RankedDocument] = ()
    total: int = 0
    terms: Mapping[str, float] = field(default_factory=dict)
    corrected: Mapping[str, str] = field(default_factory=dict)
    total_without_filters: int = 0
    """The number of all matches without `+`, `-` and phrases, where these left nothing."""
    outdated: Sequence[str] = ()
    """The files that changed since they were indexed."""


def rank_documents(
    store: Searchable, read: ReadBytes, search: DocumentSearch, vectors: Sequence[QueryVector] = ()
) -> DocumentMatches:
    """Return the best documents by title and content, up to the limit of the search."""
    ranking = _Ranking(store, read, search, vectors)
    found = ranking.find() if ranking.terms else ranking.find_exact_titles()
    return replace(found, outdated=ranking.outdated)


class _Ranking:
    """One search of documents."""

    def __init__(
        self, store: Searchable, read: ReadBytes, search: DocumentSearch, vectors: Sequence[QueryVector]
    ) -> None:
        self._store, self._read, self._search, self._vectors = store, read, search, vectors
        self._typed, self._query, self._limit = search.query, search.query, search.limit
        if search.query.is_pasted:
            self._query = query_of_best_words(store, search.query)
        _, self._spelling = check_spelling(store, self._query)
        self._corrected = self._spelling.corrected
        self.terms = self._weigh_terms()
        self.outdated: list[str] = []

    def _weigh_terms(self) -> dict[str, float]:
        """Return the terms of the query with their weights; the correction of a misspelled word counts half."""
        weights: dict[str, float] = {}
        for word, terms in term_frequencies(self._store, self._query.positive).items():
            if correction := self._corrected.get(word.lower()):
                weights |= dict.fromkeys(terms_of(correction), CORRECTION_WEIGHT)
            else:
                weights |= dict.fromkeys(terms, 1.0)
        return weights

    def find_exact_titles(self) -> DocumentMatches:
        """Return the documents whose title is exactly the query, for a query without words."""
        name, among = self._query.text.strip().casefold(), self._search.among
        documents = self._store.documents() if self._query.terms and self._search.place != "content" else ()
        titled = [
            one
            for one in documents
            if one.title.strip().casefold() == name and (among is None or one.id in among) and self._verify(one)
        ]
        return DocumentMatches([RankedDocument(one, 1.0, "title") for one in titled[: self._limit]], len(titled))

    def find(self) -> DocumentMatches:
        """Return the best documents."""
        match, selected, total = self._select()
        if not total:
            unfiltered = self._match_of(self._query.without_filters())
            count = self._store.match_documents(unfiltered, 1).total if self._query.has_filters else 0
            return DocumentMatches(self._near_in_meaning(), 0, self.terms, self._corrected, count)
        documents = self._store.documents_by_id(selected.ids[: selected.titled])
        shares = {number: self._title_share(document.title) for number, document in documents.items()}
        hits = self._best_text_hits(match, {number for number, share in shares.items() if share >= 1})
        found = [*hits, *(number for number in shares if number not in hits)]
        documents |= self._store.documents_by_id([number for number in hits if number not in documents])
        relevance = {number: _relevance(shares.get(number, 0.0), hits.get(number)) for number in found}
        near, ranks = self._nearness(found), {number: rank for rank, number in enumerate(hits)}
        paths = {number: one.path for number, one in documents.items()} | {n: hit.path for n, hit in hits.items()}
        found.sort(key=lambda n: (-relevance[n], -near.get(n, 0.0), ranks.get(n, len(hits)), paths[n]))
        shown, titled, gone = list[StoredDocument](), list[Current](), 0
        for number in found:
            if len(shown) == self._limit:
                break
            document, hit = documents.get(number), hits.get(number)
            if document and hit and hit.passages:  # it was verified when the passage was read
                shown.append(document)
            elif document and (current := self._verify(document)):
                shown.append(document)
                titled.append(current)
            else:
                gone += 1
        passages = self._passages_of(titled) | {n: hit.passages[0] for n, hit in hits.items() if hit.passages}
        in_texts = hits.keys() | self._ids_in_texts(match, [one.id for one in shown if one.id not in hits])
        places: dict[int, MatchPlace] = {
            one.id: "content" if not shares.get(one.id) else "both" if one.id in in_texts else "title" for one in shown
        }
        ranked = [
            RankedDocument(self._screened(one), relevance[one.id], places[one.id], passages.get(one.id)) for one in shown
        ]  # fmt: skip
        return DocumentMatches(ranked, total - gone, self.terms, self._corrected)

    def _verify(self, document: StoredDocument) -> Current | None:
        return verify(self._store, self._read, document)

    # Words

    def _match_of(self, query: SearchQuery) -> DocumentMatch:
        return DocumentMatch(
            words=(*query.positive, *self._corrected.values()),
            required=tuple(
                word for word in (*query.must, *(word for phrase in query.phrases for word in phrase.split()))
                if terms_of(word)
            ),
            excluded=query.must_not,
            in_titles=self._search.place != "content",
            in_texts=self._search.place != "title",
            among=self._search.among,
        )  # fmt: skip

    def _select(self) -> tuple[DocumentMatch, MatchedDocuments, int]:
        """Return what documents have to match, the first that do, and the number of all."""
        match, most = self._match_of(self._query), 2 * (self._limit + SPARE_CANDIDATES)
        if not (self._query.phrases or self._query.not_phrases):
            selected = self._store.match_documents(match, most)
            return match, selected, selected.total
        left = self._with_phrases(match)
        match = replace(match, among=left)
        return match, self._store.match_documents(match, most), len(left)

    def _with_phrases(self, match: DocumentMatch) -> frozenset[int]:
        """Return the documents without those that lack a phrase or contain an excluded one, as far as time allows."""
        query, deadline = self._query, time.monotonic() + PHRASE_SECONDS
        left = set(self._store.match_documents(match, max(1, self._store.chunk_count())).ids)
        unchecked = set(left)
        if not query.phrases:
            with_words = [replace(match, required=(*match.required, *phrase.split())) for phrase in query.not_phrases]
            unchecked = {n for one in with_words for n in self._store.match_documents(one, len(left) + 1).ids}
        for document in self._store.documents_by_id(sorted(unchecked)).values():
            if time.monotonic() > deadline:
                break
            if not self._has_phrases(document):
                left.discard(document.id)
        return frozenset(left)

    def _has_phrases(self, document: StoredDocument) -> bool:
        texts = [document.title] if self._search.place != "content" else []
        if self._search.place != "title":
            current = self._verify(document)
            if current is None:
                return False
            texts.append(current.data.decode("utf-8", "replace"))
        holds = lambda phrase: any(holds_phrase(text, phrase) for text in texts)  # noqa: E731 - used twice below
        return all(map(holds, self._query.phrases)) and not any(map(holds, self._query.not_phrases))

    def _title_share(self, title: str) -> float:
        """Return the share of the query in a title.

        The share is at most 1 for a part of the query, and between 1 and 2 for all of it: the fewer other words, the higher.
        """
        terms, query, title_terms = self.terms, self._query, set(terms_of(title))
        share = sum(terms[term] for term in terms_among(title, frozenset(terms))) / len(terms)
        if share < 1:
            return share
        is_exact = title_terms == set(terms_of(" ".join((*query.terms, *query.must, *query.phrases))))
        return EXACT_TITLE_SHARE if is_exact else 1 + len(terms) / (len(title_terms) + 1)

    # Texts

    def _find_texts(self, limit: int, among: frozenset[int] | None, mode: Mode) -> Sequence[SearchHit]:
        options = SearchOptions(
            min(limit, MAX_LIMIT), mode=mode, among=among, ranked_files=max(RANKED_FILES, 2 * limit), detail="brief",
            keeps_weak=True, masks_secrets=self._search.masks_secrets, spelling=self._spelling, documents_only=True,
        )  # fmt: skip
        vectors = self._vectors if mode == "vector" else ()
        answer = search_store(self._store, self._read, self._typed, options, vectors)
        self.outdated += answer.outdated
        return answer.hits

    def _best_text_hits(self, match: DocumentMatch, whole_titles: set[int]) -> dict[int, SearchHit]:
        """Return the best texts by document id, as many as fit beside the documents with the whole query in their title."""
        if not match.in_texts or len(whole_titles) >= self._limit:
            return {}
        hits = self._matching(match, self._find_texts(self._limit, match.among, "lexical"))
        while (missing := self._limit - len(hits.keys() | whole_titles)) > 0:
            # The best passages were all in a few documents, or in documents that match only by their path.
            texts = self._store.match_documents(replace(match, in_titles=False), MORE_DOCUMENTS + len(hits)).ids
            remaining = frozenset(texts) - hits.keys()
            more = self._matching(match, self._find_texts(missing, remaining, "lexical")) if remaining else {}
            if not more:
                break
            lowest = min((hit.relevance for hit in hits.values()), default=1.0)
            hits |= {number: replace(hit, relevance=min(hit.relevance, lowest)) for number, hit in more.items()}
        return hits

    def _matching(self, match: DocumentMatch, hits: Sequence[SearchHit]) -> dict[int, SearchHit]:
        """Return the hits that match, and whose text has a word of the query."""
        ids = [hit.document_id for hit in hits]
        in_texts = self._ids_in_texts(match, ids)
        if match.required or match.excluded:
            in_texts &= set(self._store.match_documents(replace(match, among=in_texts), len(ids)).ids)
        return {hit.document_id: hit for hit in hits if hit.document_id in in_texts}

    def _ids_in_texts(self, match: DocumentMatch, ids: Sequence[int]) -> frozenset[int]:
        """Return those of the documents whose text has a word of the query."""
        if not ids or not match.in_texts:
            return frozenset()
        in_text = DocumentMatch(match.words, in_titles=False, among=frozenset(ids))
        return frozenset(self._store.match_documents(in_text, len(ids)).ids)

    def _passages_of(self, documents: Sequence[Current]) -> dict[int, Passage]:
        """Return the best passage of each document that was found by its title."""
        if not documents:
            return {}
        ids, best = frozenset(current.document.id for current in documents), dict[int, int]()
        query = TextQuery(self._query.positive, CHUNK_WEIGHTS, among=ids)
        for scored in self._store.find_chunks(query, CHUNK_CANDIDATES):
            best.setdefault(scored.document_id, scored.id)
        chunks, wanted = self._store.chunks_by_id(best.values()), WantedLines.of(self._query, self.terms)
        found: dict[int, Passage] = {}
        for current in documents:
            document, chunk = current.document, chunks.get(best.get(current.document.id, 0))
            if chunk and current.has(chunk):
                lines = DocumentLines(document, current.data, partial(tuple, chunk.symbols), wanted, chunk)
                shown = ShownTexts((lines.window(lines.best_unit({})),))
                masks = self._search.masks_secrets
                shown = screen_shown(shown, current.data, chunk, document.path, masks=masks)
                found[document.id] = shown.passages[0]
        return found

    # Meaning

    def _near_in_meaning(self) -> list[RankedDocument]:
        """Return documents near the query in meaning, for a query of several words that no document has."""
        is_guess = self._query.has_filters or len(self.terms) < MIN_MEANING_TERMS
        if not self._vectors or self._search.place == "title" or is_guess:
            return []
        hits = {hit.document_id: hit for hit in self._find_texts(self._limit, None, "vector")}
        documents = self._store.documents_by_id(hits)
        return [
            RankedDocument(
                self._screened(documents[number]), round(CONTENT_WEIGHT * hit.relevance, 4), "meaning",
                next(iter(hit.passages), None),
            )
            for number, hit in hits.items() if number in documents
        ]  # fmt: skip

    def _nearness(self, documents: Iterable[int]) -> dict[int, float]:
        """Return the nearness of each document's nearest chunk, by the first encoder that takes part."""
        nearness = dict[int, float]()
        for first in self._vectors[:1]:
            for hit in self._store.nearest(first.encoder, first.vector, CHUNK_CANDIDATES, among=frozenset(documents)):
                nearness.setdefault(hit.document_id, round(hit.score, 4))
        return nearness

    def _screened(self, document: StoredDocument) -> StoredDocument:
        """Mask secrets in the title and the description, which may be the first lines of the document."""
        if not self._search.masks_secrets:
            return document
        title, description = (_screen_shortened(text) for text in (document.title, document.description))
        return replace(document, title=title, description=description)


def _relevance(share: float, hit: SearchHit | None) -> float:
    """Return the relevance of a document with a share of the query in its title, and a hit in its text."""
    if share >= 1:
        relevance = MIN_TITLE_RELEVANCE + (1 - MIN_TITLE_RELEVANCE) * min(1.0, share - 1)
    elif hit:
        relevance = min(MAX_CONTENT_RELEVANCE, CONTENT_WEIGHT * hit.relevance + PARTIAL_TITLE_WEIGHT * share)
    else:
        relevance = CONTENT_WEIGHT * share
    return round(min(relevance, 1.0), 4)


def _screen_shortened(text: str) -> str:
    """Mask secrets in a text that was shortened. A long word that was cut may be a part of one, and is left out."""
    shown = screen_text(text).text
    last = shown.rpartition(" ")[2]
    is_cut = last.endswith("…") and last[:-1].isascii() and len(last) > MAX_CUT_CHARACTERS
    return shown.removesuffix(last) + "…" if is_cut else shown
