"""The search of one store: collect evidence, rank files, verify hits against their files, select passages."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Literal, NamedTuple

from dowse.errors import UsageError
from dowse.globs import compile_glob
from dowse.protocols import ChunkReader, Searchable
from dowse.screening.masking import screen_text
from dowse.searching import ranking_constants
from dowse.searching.candidates import Mode, QueryVector, Scope, SearchMethod, Spelling, gather_evidence
from dowse.searching.passage_screening import screen_passages
from dowse.searching.passages import Passage, holds_phrase, merge_passages, select_passage, terms_among
from dowse.searching.path_kinds import kinds_of
from dowse.searching.query_terms import SearchQuery
from dowse.searching.ranking import Evidence, RankedFile, best_chunks, leg_scores, rank_files, shortlist
from dowse.searching.verification import Current, ReadBytes, verify
from dowse.types import Kind, Scored, StoredChunk, StoredDocument

MAX_LIMIT = 1000
SPARE_FILES = 5
"""Files that are fetched at once to replace outdated ones."""


Tests = Literal["ranked", "none", "only"]
_TEST_KINDS = frozenset({"test", "example"})


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options of a search: the documents to search, the search methods, and how much to show."""

    limit: int = 10
    kind: Kind | None = None
    path_glob: str | None = None
    language: str | None = None
    budget_tokens: int = 20_000
    mode: Mode = "hybrid"
    alpha: float | None = None
    """The share of meaning in a hybrid search, from 0 to 1; None for the measured default."""
    among: frozenset[int] | None = None
    """Ids of the documents to search; None for all."""
    documents_only: bool = False
    """Whether the documents are for readers, whatever their kind."""
    ranked_files: int = ranking_constants.RANKED_FILES
    """Files that are ranked with all signals, for a limit of usual size."""
    shown_chunks: int = ranking_constants.MAX_SHOWN_CHUNKS
    """Maximum number of chunks shown of a file."""
    masks_secrets: bool = True
    spelling: Spelling | None = None
    """The spelling of the query, if it was checked before."""
    excluded_globs: tuple[str, ...] = ()
    """Paths that are left out."""
    tests: Tests = "ranked"
    """Whether files that are tests or examples by their path are ranked lower, left out, or the only ones."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One file that answers the query, with its best passages."""

    path: str
    kind: Kind
    language: str
    title: str
    relevance: float
    passages: tuple[Passage, ...]
    signals: Mapping[str, float] = field(default_factory=dict)
    document_id: int = 0

    @property
    def is_direct(self) -> bool:
        """Whether the file is not indexed yet and was searched directly."""
        return self.document_id < 0


class SearchedFiles(NamedTuple):
    """The files that an answer is about, if some of them are not indexed yet."""

    direct: int = 0
    """Files that were searched directly, by words alone."""
    indexed: int = 0
    """Files that were searched in the index beside them."""
    unread: int = 0
    """Files that were searched in neither way."""


ALL_INDEXED = SearchedFiles()


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, and how they were found."""

    query: SearchQuery
    hits: tuple[SearchHit, ...] = ()
    candidates: int = 0
    outdated: tuple[str, ...] = ()
    """Files that are left out because they changed since they were indexed."""
    is_cut: bool = False
    """Whether the token budget ended before the limit was reached."""
    has_more: bool = False
    """Whether there is at least one more hit beyond the limit."""
    terms: Mapping[str, float] = field(default_factory=dict)
    corrected: Mapping[str, str] = field(default_factory=dict)
    """Words that do not occur, and the words that replaced them."""
    unknown: tuple[str, ...] = ()
    """Words that do not occur and have no similar word."""
    methods: Mapping[str, float] = field(default_factory=dict)
    """The search methods: `words` and the names of encoders, each with the share of chunks that it covers."""
    skipped_method: str = ""
    """A search method that was not available this time, and why."""
    seconds: float = 0.0
    searched: SearchedFiles = ALL_INDEXED
    hits_without_filters: int = 0
    """Hits that the same search has without `+`, `-` and phrases, where these left nothing."""


def search_store(
    store: Searchable,
    read: ReadBytes,
    query: SearchQuery,
    options: SearchOptions | None = None,
    vectors: Sequence[QueryVector] = (),
) -> Answer:
    """Search a store; every hit is verified against its file before it is shown."""
    options = options or SearchOptions()
    if not 1 <= options.limit <= MAX_LIMIT:
        raise UsageError(f"The limit has to be between 1 and {MAX_LIMIT}.")
    if options.mode == "vector" and not vectors:
        raise UsageError("mode 'vector' needs an encoder, and this index has none. Use 'hybrid' or 'lexical'.")
    answer = _search(store, read, query, options, vectors)
    if answer.hits or not query.has_filters:
        return answer
    without_filters = _search(store, read, query.without_filters(), options, vectors)
    return replace(answer, hits_without_filters=len(without_filters.hits))


def _search(
    store: Searchable, read: ReadBytes, query: SearchQuery, options: SearchOptions, vectors: Sequence[QueryVector]
) -> Answer:
    started = time.perf_counter()
    method = SearchMethod(options.mode, options.alpha)
    scope = scope_of(store, options)
    evidence = gather_evidence(store, query, scope, vectors, method, spelling=options.spelling)
    if evidence is None:
        return Answer(query, methods=_search_methods(options, vectors), seconds=time.perf_counter() - started)
    scores = leg_scores(evidence.legs)
    # All pages of usual length rank the same pool: another pool would give another order, and pages would overlap.
    pool = options.ranked_files if options.limit <= options.ranked_files // 2 else 2 * MAX_LIMIT
    ids = shortlist(evidence, scores, pool)
    ranked = rank_files(evidence, scores, store.paths_by_id(ids))
    builder = _AnswerBuilder(store, read, query, evidence, options)
    builder.add_files(ranked)
    return Answer(
        query=query,
        hits=tuple(builder.hits),
        candidates=len(ranked),
        outdated=tuple(builder.outdated),
        is_cut=builder.is_cut,
        has_more=builder.has_more,
        terms=evidence.terms,
        corrected=evidence.corrected,
        unknown=evidence.unknown,
        methods=_search_methods(options, vectors),
        seconds=time.perf_counter() - started,
    )


def _search_methods(options: SearchOptions, vectors: Sequence[QueryVector]) -> dict[str, float]:
    by_words = {} if options.mode == "vector" else {"words": 1.0}
    by_meaning = {} if options.mode == "lexical" else {vector.encoder: round(vector.coverage, 3) for vector in vectors}
    return {**by_words, **by_meaning}


def scope_of(store: ChunkReader, options: SearchOptions) -> Scope:
    """Return the scope that the options describe."""
    if not (options.path_glob or options.language or options.excluded_globs) and options.tests == "ranked":
        return Scope(options.kind, options.among, options.documents_only)
    expression = compile_glob(options.path_glob) if options.path_glob else None
    excluded = [compile_glob(glob) for glob in options.excluded_globs]
    language = options.language.lower() if options.language else None

    def is_wanted(path: str) -> bool:
        if (expression and not expression.fullmatch(path)) or any(glob.fullmatch(path) for glob in excluded):
            return False
        return options.tests == "ranked" or (options.tests == "only") == bool(kinds_of(path) & _TEST_KINDS)

    if language is None:  # reading the documents themselves takes forty times as long
        among = {number for number, path in store.ids_by_path() if is_wanted(path)}
    else:
        among = {
            document.id for document in store.documents() if document.language == language and is_wanted(document.path)
        }
    selected = frozenset(among if options.among is None else among & options.among)
    return Scope(options.kind, selected, options.documents_only)


class _AnswerBuilder:
    """Collects hits up to the limit and the token budget."""

    def __init__(
        self, store: ChunkReader, read: ReadBytes, query: SearchQuery, evidence: Evidence, options: SearchOptions
    ) -> None:
        self.hits: list[SearchHit] = []
        self.outdated: list[str] = []
        self.is_cut = self.has_more = False
        self._store, self._read, self._query, self._evidence = store, read, query, evidence
        self._names = query.names
        self._limit, self._characters_left = options.limit, options.budget_tokens * 4
        self._max_chunks, self._masks = options.shown_chunks, options.masks_secrets

    def add_files(self, ranked: Sequence[RankedFile]) -> None:
        """Add files, best first, until the limit is reached or nothing more fits."""
        start, end = 0, self._limit + 1
        while start < len(ranked):
            if not self._add_batch(ranked[start:end]):
                return
            start, end = end, end + SPARE_FILES

    def _add_batch(self, files: Sequence[RankedFile]) -> bool:
        """Verify files and add them; return whether there is room for more."""
        ids = [file.document_id for file in files]
        documents, found = self._store.documents_by_id(ids), best_chunks(self._evidence, ids)
        shown = {document_id: _chunks_to_show(chunks, self._max_chunks) for document_id, chunks in found.items()}
        stored = self._store.chunks_by_id([chunk_id for chunk_ids in shown.values() for chunk_id in chunk_ids])
        for file in files:
            document = documents.get(file.document_id)
            if document is None or not document.chunk_count:  # just removed by another process; nothing to show
                continue
            chunks = [stored[chunk_id] for chunk_id in shown.get(document.id, ()) if chunk_id in stored]
            if not self._add(file, document, chunks or self._store.chunks(document.id)[:1]):
                return False
        return True

    def _add(self, file: RankedFile, document: StoredDocument, chunks: Sequence[StoredChunk]) -> bool:
        checked = verify(self._store, self._read, document)
        if not isinstance(checked, Current) or not all(checked.has(chunk) for chunk in chunks):
            self.outdated.append(document.path)
            return True
        if not self._has_phrases(checked):
            return True
        if len(self.hits) == self._limit:
            self.has_more = True
            return False
        hit = self._make_hit(file, checked, chunks)
        size = len(hit.path) + sum(len(passage.text) for passage in hit.passages)
        if size > self._characters_left and self.hits:
            self.is_cut = True
            return False
        self._characters_left -= size
        self.hits.append(hit)
        return True

    def _has_phrases(self, checked: Current) -> bool:
        """Return whether the text has every phrase and none of the excluded ones."""
        if not self._query.phrases and not self._query.not_phrases:
            return True
        text = checked.data.decode("utf-8", "replace")
        return all(holds_phrase(text, phrase) for phrase in self._query.phrases) and not any(
            holds_phrase(text, phrase) for phrase in self._query.not_phrases
        )

    def _make_hit(self, file: RankedFile, checked: Current, chunks: Sequence[StoredChunk]) -> SearchHit:
        document, terms = checked.document, self._evidence.terms
        passages = merge_passages(select_passage(checked.data, chunk, terms, self._names) for chunk in chunks)
        ceiling = self.hits[-1].relevance if self.hits else 1.0
        relevance = min(ceiling, _relevance(document, passages, self._evidence))
        safe = screen_passages(passages, checked.data, chunks, document.path, masks=self._masks)
        title = screen_text(document.title, masks=self._masks).text
        signals = file.signals
        return SearchHit(document.path, document.kind, document.language, title, relevance, safe, signals, document.id)


def _chunks_to_show(chunks: list[Scored], max_chunks: int) -> list[int]:
    """Return the best chunk, and the next ones that are nearly as good."""
    min_score = ranking_constants.MIN_SHOWN_SHARE * chunks[0].score
    return [hit.id for hit in chunks[:max_chunks] if hit.score >= min_score]


def _relevance(document: StoredDocument, passages: list[Passage], evidence: Evidence) -> float:
    """Return the relevance of a hit, from 0 to 1.

    It depends on the share of the query in the passages and in the names around them, and on nearness in meaning.
    """
    terms = evidence.terms
    total = sum(terms.values()) + evidence.missing or 1.0
    # The parent folders say little, unless the query is a path.
    path = document.path if evidence.path else document.path.rpartition("/")[2]
    around = [path, document.title, *(name for passage in passages for name in (*passage.symbols, *passage.headings))]
    wanted = frozenset(terms)
    names = terms_among(" ".join(around), wanted)
    everything = names.union(*(terms_among(passage.text, wanted) for passage in passages))
    in_names, in_all = (fsum(terms[term] for term in found) / total for found in (names, everything))
    by_words = ranking_constants.PASSAGE_RELEVANCE * in_all + ranking_constants.NAME_RELEVANCE * in_names
    return round(by_words + (1 - by_words) * _meaning_relevance(evidence.nearness.get(document.id, 0.0)), 4)


def _meaning_relevance(nearness: float) -> float:
    """Return the relevance by nearness in meaning: 0 up to the minimum nearness, then increasing."""
    span = ranking_constants.FULL_NEARNESS - ranking_constants.MIN_NEARNESS
    share = min(1.0, max(0.0, (nearness - ranking_constants.MIN_NEARNESS) / span))
    return ranking_constants.MAX_MEANING_RELEVANCE * share
