"""A query's way to its answer: gather, rank, verify, cut; nothing that is not in the files now."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dowse.errors import UsageError
from dowse.globs import compile_glob
from dowse.protocols import DocumentReader, Store
from dowse.screening.masking import screen_text
from dowse.searching import ranking_constants
from dowse.searching.candidates import Mode, QueryVector, Scope, SearchMethod, gather_evidence
from dowse.searching.passage_screening import screen_passages
from dowse.searching.passages import Passage, holds_phrase, merge_passages, select_passage, terms_in
from dowse.searching.query_terms import SearchQuery, parse_search_query
from dowse.searching.ranking import Evidence, RankedFile, best_chunks, leg_scores, rank_files, shortlist
from dowse.searching.verification import Current, ReadBytes, verify
from dowse.types import Kind, Scored, StoredChunk, StoredDocument

MAX_LIMIT = 1000
SPARE_FILES = 5
"""Files beyond the limit whose chunks are fetched with the others, for those that turn out to be outdated."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What is searched, and how much is shown."""

    limit: int = 10
    kind: Kind | None = None
    path_glob: str | None = None
    language: str | None = None
    budget_tokens: int = 20_000
    mode: Mode = "hybrid"
    alpha: float | None = None
    """How much of a hybrid search is meaning, from 0 to 1; without it as measured."""
    among: frozenset[int] | None = None
    """Only these documents, by their numbers; without it, all."""
    ranked_files: int = ranking_constants.RANKED_FILES
    """Files that are looked at closely, for a limit of usual size."""
    shown_chunks: int = ranking_constants.MAX_SHOWN_CHUNKS
    """Passages of a file, at most."""
    masks_secrets: bool = True


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One file that answers, with the passages that do."""

    path: str
    kind: Kind
    language: str
    title: str
    relevance: float
    passages: tuple[Passage, ...]
    signals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, and what is to be known about them."""

    query: SearchQuery
    hits: tuple[SearchHit, ...] = ()
    candidates: int = 0
    outdated: tuple[str, ...] = ()
    """Files that changed since they were indexed and are left out."""
    is_cut: bool = False
    """The budget was spent before the limit was reached."""
    terms: Mapping[str, float] = field(default_factory=dict)
    corrected: Mapping[str, str] = field(default_factory=dict)
    """Words that are nowhere, and the known ones that were taken for them."""
    unknown: tuple[str, ...] = ()
    """Words that are nowhere, and nothing near them is."""
    methods: Mapping[str, float] = field(default_factory=dict)
    """How it was searched: by `words`, by which encoders, and the share of chunks that each could find."""
    skipped_method: str = ""
    """Which way could not be gone this time, and why."""
    seconds: float = 0.0


def search_store(
    store: Store, read: ReadBytes, text: str, options: SearchOptions | None = None, meanings: Sequence[QueryVector] = ()
) -> Answer:
    """Search a store; every hit is verified against its file before it is shown."""
    options = options or SearchOptions()
    if not 1 <= options.limit <= MAX_LIMIT:
        raise UsageError(f"The limit has to be between 1 and {MAX_LIMIT}.")
    if options.mode == "vector" and not meanings:
        raise UsageError("mode 'vector' needs an encoder, and this index has none. Use 'hybrid' or 'lexical'.")
    started = time.perf_counter()
    query = parse_search_query(text)
    evidence = gather_evidence(
        store, query, scope_of(store, options), meanings, SearchMethod(options.mode, options.alpha)
    )
    if evidence is None:
        return Answer(query, methods=_search_methods(options, meanings), seconds=time.perf_counter() - started)
    scores = leg_scores(evidence.legs)
    # One pool for all pages of usual length: with another pool another order, and pages would overlap.
    pool = options.ranked_files if options.limit <= options.ranked_files // 2 else 2 * MAX_LIMIT
    ids = shortlist(evidence, scores, pool)
    documents = store.documents_by_id(ids)
    ranked = rank_files(
        evidence, scores, {document: documents[document].path for document in ids if document in documents}
    )
    growing = _AnswerBuilder(store, read, query, evidence, options)
    growing.expect(ranked[: options.limit + SPARE_FILES])
    for file in ranked:
        if not growing.add(file, documents[file.document_id]):
            break
    return Answer(
        query=query,
        hits=tuple(growing.hits),
        candidates=len(ranked),
        outdated=tuple(growing.outdated),
        is_cut=growing.is_cut,
        terms=evidence.terms,
        corrected=evidence.corrected,
        unknown=evidence.unknown,
        methods=_search_methods(options, meanings),
        seconds=time.perf_counter() - started,
    )


def _search_methods(options: SearchOptions, meanings: Sequence[QueryVector]) -> dict[str, float]:
    by_words = {} if options.mode == "vector" else {"words": 1.0}
    by_meaning = {} if options.mode == "lexical" else {one.encoder: round(one.coverage, 3) for one in meanings}
    return {**by_words, **by_meaning}


def scope_of(store: DocumentReader, options: SearchOptions) -> Scope:
    """The documents that the options leave."""
    if options.path_glob is None and options.language is None:
        return Scope(options.kind, options.among)
    expression = compile_glob(options.path_glob) if options.path_glob else None
    language = options.language.lower() if options.language else None
    among = frozenset(
        document.id
        for document in store.documents()
        if (expression is None or expression.fullmatch(document.path))
        and language in (None, document.language)
        and (options.among is None or document.id in options.among)
    )
    return Scope(options.kind, among)


class _AnswerBuilder:
    """The answer as it grows, within its limit and budget."""

    def __init__(
        self, store: DocumentReader, read: ReadBytes, query: SearchQuery, evidence: Evidence, options: SearchOptions
    ) -> None:
        self.hits: list[SearchHit] = []
        self.outdated: list[str] = []
        self.is_cut = False
        self._store, self._read, self._query, self._evidence = store, read, query, evidence
        self._limit, self._left = options.limit, options.budget_tokens * 4
        self._most_chunks, self._masks = options.shown_chunks, options.masks_secrets
        self._chunks: dict[int, list[StoredChunk]] = {}

    def expect(self, files: Sequence[RankedFile]) -> None:
        """Fetch, all at once, the chunks of files that are likely to be shown.

        Of each the best, and others nearly as good; the first one where only the path fits.
        """
        found = best_chunks(self._evidence, [file.document_id for file in files])
        wanted = {document: _chunks_to_show(chunks, self._most_chunks) for document, chunks in found.items()}
        held = self._store.chunks_by_id([number for numbers in wanted.values() for number in numbers])
        for file in files:
            numbers = wanted.get(file.document_id, [])
            self._chunks[file.document_id] = [held[number] for number in numbers if number in held]

    def add(self, file: RankedFile, document: StoredDocument) -> bool:
        """Verify a file and take it in; whether there is room for more."""
        checked = verify(self._store, self._read, document)
        if not isinstance(checked, Current):
            self.outdated.append(document.path)
            return True
        if not self._fits(checked):
            return True
        hit = self._hit(file, checked)
        if hit is None:
            self.outdated.append(document.path)
            return True
        size = len(hit.path) + sum(len(passage.text) for passage in hit.passages)
        if size > self._left and self.hits:
            self.is_cut = True
            return False
        self._left -= size
        self.hits.append(hit)
        return len(self.hits) < self._limit

    def _fits(self, checked: Current) -> bool:
        """Whether every phrase is there, word by word, and none that is excluded."""
        if not self._query.phrases and not self._query.not_phrases:
            return True
        text = checked.data.decode("utf-8", "replace")
        return all(holds_phrase(text, phrase) for phrase in self._query.phrases) and not any(
            holds_phrase(text, phrase) for phrase in self._query.not_phrases
        )

    def _hit(self, file: RankedFile, checked: Current) -> SearchHit | None:
        document, terms = checked.document, self._evidence.terms
        if document.id not in self._chunks:
            self.expect([file])
        chunks = self._chunks[document.id] or self._store.chunks(document.id)[:1]
        if not all(checked.has(chunk) for chunk in chunks):
            return None
        passages = merge_passages(select_passage(checked.data, chunk, terms, self._query.names) for chunk in chunks)
        ceiling = self.hits[-1].relevance if self.hits else 1.0
        relevance = min(ceiling, _relevance(document, passages, self._evidence))
        safe = screen_passages(passages, checked.data, chunks, document.path, masks=self._masks)
        title = screen_text(document.title, masks=self._masks).text
        return SearchHit(document.path, document.kind, document.language, title, relevance, safe, file.signals)


def _chunks_to_show(chunks: list[Scored], most: int) -> list[int]:
    """The best chunk, and the next where it is nearly as good."""
    least = ranking_constants.MIN_SHOWN_SHARE * chunks[0].score
    return [hit.id for hit in chunks[:most] if hit.score >= least]


def _relevance(document: StoredDocument, passages: list[Passage], evidence: Evidence) -> float:
    """Between 0 and 1: how much of the query, by weight, the passages hold, and the names around them; or mean."""
    terms = evidence.terms
    total = sum(terms.values()) + evidence.missing or 1.0
    # The folders on the way say little, unless they are what was asked for.
    path = document.path if evidence.path else document.path.rpartition("/")[2]
    around = [path, document.title, *(name for one in passages for name in (*one.symbols, *one.headings))]
    names = terms_in(" ".join(around))
    told = names.union(*(terms_in(passage.text) for passage in passages))
    in_names, in_all = (sum(terms[term] for term in found & terms.keys()) / total for found in (names, told))
    by_words = ranking_constants.PASSAGE_RELEVANCE * in_all + ranking_constants.NAME_RELEVANCE * in_names
    return round(by_words + (1 - by_words) * _meaning_relevance(evidence.nearness.get(document.id, 0.0)), 4)


def _meaning_relevance(nearness: float) -> float:
    """What nearness in meaning says: nothing up to the floor, then more and more."""
    span = ranking_constants.FULL_NEARNESS - ranking_constants.MIN_NEARNESS
    share = min(1.0, max(0.0, (nearness - ranking_constants.MIN_NEARNESS) / span))
    return ranking_constants.MAX_MEANING_RELEVANCE * share
