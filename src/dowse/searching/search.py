"""The search of one store: collect evidence, rank files, verify hits against their files, select passages."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from dowse.errors import UsageError
from dowse.protocols import Copies, ScoreTexts, Searchable
from dowse.reading.languages import language_called
from dowse.searching import found_files, ranking, ranking_constants
from dowse.searching.candidates import Mode, QueryVector, Scope, gather_evidence
from dowse.searching.definition_selection import (
    Compare,
    FileDefinitions,
    choose_definitions,
    find_defined_lines,
    room_for,
)
from dowse.searching.document_lines import DocumentLines
from dowse.searching.found_files import ALL_INDEXED, ChunkLines, Current, FoundFile, ReadBytes, SearchedFiles
from dowse.searching.passages import Passage, ShownTexts, comparable_lines, has_phrases, screen_shown, shorten_lines
from dowse.searching.path_kinds import Tests, path_filter
from dowse.searching.query_terms import SearchQuery, Spelling
from dowse.searching.ranking import Evidence, RankedFile
from dowse.searching.term_positions import WantedLines, terms_among
from dowse.searching.units import Unit
from dowse.text.analysis import rarity
from dowse.text.query_syntax import QueryFilters
from dowse.types import Kind, StoredDocument, Symbol

Detail = Literal["brief", "outline", "passages", "full", "definitions"]
"""A short passage of each file, one line, the lines that answer, a whole unit; or the definitions of all files, ranked."""

MAX_LIMIT, MAX_READ_BYTES, MAX_READ_LINES = 1000, 300_000, 50_000
"""Of a larger file, only the best chunk is considered: the time of an answer grows with its lines."""
FULL_LINES = 250
"""Lines of a whole function or section, if it is asked for; of a longer one, those that matter."""
SHOWN_COPIES = 5
"""Other files that a hit names that say the same; of more, their number."""
SPARE_FILES = 5
"""Files that are fetched at once to replace outdated ones."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options of a search: the documents to search, the search methods, and how much to show."""

    limit: int = 10
    kind: Kind | None = None
    path_glob: str | None = None
    language: str | None = None
    mode: Mode = "hybrid"
    alpha: float | None = None
    """The share of meaning in a hybrid search, from 0 to 1; None for the measured default."""
    among: frozenset[int] | None = None
    """Ids of the documents to search; None for all."""
    documents_only: bool = False
    """Whether the documents are for readers, whatever their kind."""
    ranked_files: int = ranking_constants.RANKED_FILES
    """Files that are ranked with all signals, for a limit of usual size."""
    detail: Detail = "passages"
    """How much is shown of the hits."""
    masks_secrets: bool = True
    spelling: Spelling | None = None
    """The spelling of the query, if it was checked before."""
    excluded_globs: tuple[str, ...] = ()
    """Paths that are left out."""
    definitions: int = ranking_constants.MAX_DEFINITIONS
    """Definitions that are shown whole, if they are ranked over all files."""
    keeps_weak: bool = False
    """Whether hits are kept that match much less well than the best one, to be compared with others."""
    compare: Compare | None = None
    """Compares definitions of packages with the query by meaning, of which public ones are meant."""
    tests: Tests = "ranked"
    """Whether files that are tests or examples by their path are ranked lower, left out, or the only ones."""
    lists_matches: bool = False
    """Whether the paths of all files that match are listed, to be counted."""
    among_paths: tuple[str, ...] = ()
    """Paths of which one has to match, beside the glob."""
    asks_model: bool = True  # to score texts, which takes a moment: not while somebody types
    score_texts: ScoreTexts | None = None  # by the model, if it can be asked
    copies: Copies | None = None
    """Knows the copies of files, if the store ranks one of them in place of all."""

    @property
    def language_name(self) -> str | None:
        """The language of the files to search, as the index calls it."""
        return language_called(self.language) if self.language else None

    def within(self, filters: QueryFilters) -> "SearchOptions":
        """Return the options with the filters that are typed into a query; those that are given count before them."""
        if not any(filters):
            return self
        return replace(
            self, kind=self.kind or filters.kind, language=self.language or filters.language,
            among_paths=filters.paths, excluded_globs=(*self.excluded_globs, *filters.excluded_paths),
        )  # fmt: skip

    def below(self, folder: str) -> "SearchOptions":
        """Return the options with paths that are relative to a folder."""
        given = ((self.path_glob,) if self.path_glob else (), self.among_paths, self.excluded_globs)
        glob, among, excluded = (tuple(f"{folder}/{path.lstrip('/')}" for path in paths) for paths in given)
        return replace(self, path_glob=next(iter(glob), None), among_paths=among, excluded_globs=excluded)

    def path_filter(self) -> Callable[[str], bool]:
        """Return a function that says whether the files of a path are searched."""
        wanted = [[self.path_glob] if self.path_glob else [], self.among_paths]
        return path_filter(wanted, self.excluded_globs, self.tests)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One file that answers the query, with the passage that is shown, or with its definitions."""

    path: str
    kind: Kind
    language: str
    title: str
    relevance: float
    """How well its lines answer, at most as well as those of the hit before it; hits of several sources are compared by it."""
    score: float
    """The relevance of the first hit, in proportion to how the file ranks below it."""
    passages: tuple[Passage, ...]
    signals: Mapping[str, float] = field(default_factory=dict)
    document_id: int = 0
    named: tuple[Passage, ...] = ()
    """Further definitions, each by its first line, if definitions are ranked."""
    same_in: tuple[str, ...] = ()
    """Other files that were found and say the same in this place; they are no hits of their own."""
    data: bytes = field(default=b"", repr=False, compare=False)
    """The text of the file in UTF-8, as it was verified."""

    @property
    def is_direct(self) -> bool:
        """Whether the file is not indexed yet and was searched directly."""
        return self.document_id < 0


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, and how they were found."""

    query: SearchQuery
    hits: tuple[SearchHit, ...] = ()
    outdated: tuple[str, ...] = ()
    """Files that are left out because they changed since they were indexed."""
    has_more: bool = False
    """Whether there is at least one more hit beyond the limit."""
    weaker: int = 0
    """Files that were compared and matched much less well than the best one, so that they are no hits."""
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
    matched: tuple[str, ...] = ()
    """The paths of the files that words or names of the query find, if they are listed."""
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
    answer = _rank_and_show(store, read, query, options, vectors)
    if answer.hits or not query.has_filters:
        return answer
    unfiltered = _rank_and_show(store, read, query.without_filters(), options, vectors)
    return replace(answer, hits_without_filters=len(unfiltered.hits))


def _rank_and_show(
    store: Searchable, read: ReadBytes, query: SearchQuery, options: SearchOptions, vectors: Sequence[QueryVector]
) -> Answer:
    started = time.perf_counter()
    options = options.within(query.filters)
    evidence = gather_evidence(
        store, query, scope_of(store, options), vectors,
        mode=options.mode, alpha=options.alpha, spelling=options.spelling,
    )  # fmt: skip
    if options.copies:
        evidence = replace(evidence, mentioned=options.copies.merged(evidence.mentioned))
    # All pages of usual length rank the same pool: another pool would give another order, and pages would overlap.
    pool = options.ranked_files if options.limit <= options.ranked_files // 2 else 2 * MAX_LIMIT
    ranked = ranking.rank_files(evidence, pool, store.paths_by_id)
    if options.score_texts and options.detail != "definitions":
        ranked = found_files.order_by_scores(ranked, evidence, store, read, options.score_texts)
    counted = ranking.count_relevant([file.score for file in ranked], len(evidence.terms))
    relevant = len(ranked) if options.keeps_weak else counted
    builder = _AnswerBuilder(store, read, query, evidence, options)
    builder.add_files(ranked[:relevant])
    return Answer(
        query=query, hits=tuple(builder.hits), outdated=tuple(builder.outdated), has_more=builder.has_more,
        weaker=len(ranked) - relevant, terms=evidence.terms, corrected=evidence.corrected, unknown=evidence.unknown,
        methods=_search_methods(options, vectors), seconds=time.perf_counter() - started,
        matched=tuple(_matched_paths(store, evidence, options)) if options.lists_matches else (),
    )  # fmt: skip


def _matched_paths(store: Searchable, evidence: Evidence, options: SearchOptions) -> Iterator[str]:
    """Yield the paths of all files that words or names of the query find."""
    for number, path in store.paths_by_id(ranking.found_by_words(evidence)).items():
        yield path
        yield from options.copies.copies_of(number) if options.copies else ()


def _search_methods(options: SearchOptions, vectors: Sequence[QueryVector]) -> dict[str, float]:
    by_words = {} if options.mode == "vector" else {"words": 1.0}
    by_meaning = {} if options.mode == "lexical" else {vector.encoder: round(vector.coverage, 3) for vector in vectors}
    return {**by_words, **by_meaning}


def scope_of(store: Searchable, options: SearchOptions) -> Scope:
    """Return the scope that the options describe."""
    language = options.language_name
    globs = (options.path_glob, options.among_paths, options.excluded_globs)
    if not language and not any(globs) and options.tests == "ranked":
        return Scope(options.kind, options.among, options.documents_only)
    is_wanted = options.path_filter()
    if language is None:  # reading the documents themselves takes forty times as long
        among = {number for number, path in store.ids_by_path() if is_wanted(path)}
    else:
        among = {one.id for one in store.documents() if one.language == language and is_wanted(one.path)}
    selected = frozenset(among if options.among is None else among & options.among)
    return Scope(options.kind, selected, options.documents_only)


class _AnswerBuilder:
    """Collects hits up to the limit."""

    def __init__(
        self, store: Searchable, read: ReadBytes, query: SearchQuery, evidence: Evidence, options: SearchOptions
    ) -> None:
        self.hits, self.outdated, self.has_more = list[SearchHit](), list[str](), False
        self._store, self._read, self._query, self._evidence = store, read, query, evidence
        self._options, self._limit = options, options.limit
        # Words that do not occur are the rarest, and say nothing about the lines.
        absent = rarity(0, store.chunk_count())
        terms, title_terms = (
            {term: weight for term, weight in one.terms.items() if weight < absent}
            for one in (evidence, evidence.title or Evidence())
        )
        self._ranks_definitions = options.detail == "definitions"
        self._wanted = WantedLines.of(query, terms, title_terms, ranks_definitions=self._ranks_definitions)
        self._found: list[FoundFile] = []
        self._copies: dict[bytes, dict[str, None]] = {}

    def add_files(self, ranked: Sequence[RankedFile]) -> None:
        """Add files, best first, until the limit is reached."""
        start, end = 0, self._limit + 1
        while start < len(ranked) and self._collect(ranked[start:end]):
            start, end = end, end + SPARE_FILES
        self._show()

    def _collect(self, files: Sequence[RankedFile]) -> bool:
        """Verify files and keep those that are shown; return whether more are wanted."""
        ids = [file.document_id for file in files]
        documents, found = self._store.documents_by_id(ids), ranking.best_chunks(self._evidence, ids)
        first_chunks = self._store.chunks_by_id([next(iter(chunks)) for chunks in found.values()])
        for file in files:
            document, scored = documents.get(file.document_id), found.get(file.document_id, {})
            if document is None or not document.chunk_count:  # just removed by another process; nothing to show
                continue
            reads_whole = self._is_read_whole(document)
            checked = found_files.verify(self._store, self._read, document, compares_content=reads_whole)
            is_long = checked is not None and checked.data.count(b"\n") > MAX_READ_LINES
            part = None if reads_whole and not is_long else first_chunks.get(next(iter(scored), 0))
            if checked is None or (part and not checked.has(part)):
                self.outdated.append(document.path)
            elif has_phrases(self._query, checked.data) and self._is_shown(file, checked):
                if len(self._found) == self._limit:
                    self.has_more = True
                    return False
                self._found.append(FoundFile(file, checked, part, scored))
        return True

    def _is_shown(self, file: RankedFile, checked: Current) -> bool:
        """Return whether a file says something that was not said before; blobs are found by name or by every word."""
        content = checked.document.content_hash
        if content in self._copies:
            self._copies[content] |= dict.fromkeys(self._paths_of_copies(file, checked))
            return False
        if not file.is_found_by_name and found_files.is_blob(checked.data):
            terms = frozenset(self._wanted.all_terms)
            if not terms or terms_among(checked.data.decode("utf-8", "replace"), terms) != terms:
                return False
        self._copies[content] = dict.fromkeys(self._paths_of_copies(file, checked)[1:])
        return True

    def _paths_of_copies(self, file: RankedFile, checked: Current) -> list[str]:
        """Return the path of a file, and of its copies."""
        copies = self._options.copies
        return [checked.document.path, *(copies.copies_of(file.document_id) if copies else ())]

    def _is_read_whole(self, document: StoredDocument) -> bool:
        """Return whether all units of the next file are compared, or only those of its best chunk."""
        most = ranking_constants.DEFINITION_BYTES if self._ranks_definitions else MAX_READ_BYTES
        whole = {"brief": 0, "outline": self._limit, "definitions": self._limit}
        is_early = len(self._found) < whole.get(self._options.detail, ranking_constants.READ_FILES)
        return is_early and document.stat.size <= most

    def _show(self) -> None:
        """Choose the passages of all files that were found, and make hits of them."""
        lines = [
            DocumentLines(one.checked.document, one.checked.data, partial(self._symbols, one), self._wanted, one.part)
            for one in self._found
        ]
        DocumentLines.find_terms(lines)
        places = self._store.chunk_lines(chunk for found in self._found if not found.part for chunk in found.scores)
        if self._ranks_definitions:
            self._show_definitions(lines, places)
            return
        said_in = dict[str, int]()
        for found, one in zip(self._found, lines, strict=True):
            unit = one.best_unit(found_files.scores_by_lines(found, places))
            passage = self._passage(found, one, unit)
            relevance = ranking.relevance_of(found.checked.document, one.window(unit), self._evidence)
            first = self.hits[0].relevance if self.hits else relevance
            ceiling = self.hits[-1].relevance if self.hits else 1.0
            score = round(first * self._share(found), 4)
            hit = self._screened_hit(found, (min(ceiling, relevance), score), [passage])
            said = "" if self._options.detail == "brief" else comparable_lines(passage)
            if said in said_in:
                same = self.hits[said_in[said]]
                self.hits[said_in[said]] = replace(same, same_in=(*same.same_in, hit.path, *hit.same_in))
                continue
            if said:
                said_in[said] = len(self.hits)
            self.hits.append(hit)

    def _show_definitions(self, lines: Sequence[DocumentLines], places: ChunkLines) -> None:
        """Make hits of the files with definitions that are worth showing."""
        defined = [frozenset[int]() for _ in lines]
        if self._wanted.symbols:
            defined = find_defined_lines(lines, list(map(self._symbols, self._found)), self._query.names[0])
        files = [
            FileDefinitions(
                rank, one, found_files.scores_by_lines(found, places), self._share(found),
                not ranking_constants.ASIDE_SIGNALS.isdisjoint(found.file.signals), names,
            )
            for rank, (found, one, names) in enumerate(zip(self._found, lines, defined, strict=True))
        ]  # fmt: skip
        options, room = self._options, room_for(self._query)
        choose_definitions(files, options.definitions, room, options.compare, options.score_texts)
        for found, file in zip(self._found, files, strict=True):
            if file.whole or file.named:
                self.hits.append(self._screened_hit(found, (1.0, 1.0), file.whole, file.named))

    def _passage(self, found: FoundFile, lines: DocumentLines, unit: Unit) -> Passage:
        match self._options.detail:
            case "brief":
                return lines.window(unit)
            case "outline":
                return lines.first_line(unit)
            case "full":
                return lines.excerpt(unit, FULL_LINES)
        is_likely = self._share(found) >= ranking_constants.LIKELY_SHARE
        return lines.excerpt(unit, ranking_constants.LIKELY_LINES if is_likely else ranking_constants.OTHER_LINES)

    def _share(self, found: FoundFile) -> float:
        """Return the score of a file as a share of the best one."""
        best = self._found[0].file.score
        return max(found.file.score / best, 0.0) if best > 0 else 1.0

    def _symbols(self, found: FoundFile) -> list[Symbol]:
        chunks = [found.part] if found.part else self._store.chunks(found.checked.document.id)
        return [symbol for chunk in chunks for symbol in chunk.symbols]

    def _screened_hit(
        self, found: FoundFile, scores: tuple[float, float], passages: Sequence[Passage], named: Sequence[Passage] = ()
    ) -> SearchHit:
        document = found.checked.document
        texts = ShownTexts((*passages, *named), document.title)
        texts = screen_shown(texts, found.checked.data, found.part, document.path, masks=self._options.masks_secrets)
        shown = tuple(shorten_lines(passage, self._evidence.terms) for passage in texts.passages)
        count = len(passages)
        return SearchHit(
            document.path, document.kind, document.language, texts.title, *scores, shown[:count],
            found.file.signals, document.id, shown[count:],
            tuple(path for path in self._copies.get(document.content_hash, ()) if path != document.path),
            found.checked.data,
        )  # fmt: skip
