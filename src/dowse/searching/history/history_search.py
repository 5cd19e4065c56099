"""Search of commits by the words of their messages, paths and changed symbols."""

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from dowse.errors import UsageError
from dowse.globs import compile_path_filter
from dowse.screening.masking import screen_text
from dowse.searching.history.commit_reading import MAX_FILES, moment_of
from dowse.searching.history.project_history import History, HistoryCoverage
from dowse.searching.query_terms import SearchQuery, parse_search_query
from dowse.text.analysis import rarity, terms_of, whole_terms_of

SUBJECT_WEIGHT, BODY_WEIGHT, SYMBOL_WEIGHT, PATH_WEIGHT = 4.0, 1.0, 1.0, 1.0
SATURATION = 1.5
"""How often a word has to occur, weighted, for a commit to get 40 % of its score."""
COVERAGE_POWER = 0.5
"""How much less a commit counts that lacks some of the words."""
LONG_BODY_TERMS = 60
"""The words of a longer body count less, in proportion to its length."""
MANY_SYMBOLS, MANY_PATHS = 8, 5
"""The words of more symbols or paths count less, in proportion: a commit that changes all of them is about none."""
MAX_BODY_CHARACTERS = 4000
MAX_PATHS = 50
"""The words of further paths are not looked at."""
WITHOUT_FILES = 0.7
"""A factor for merges, so that the commits come first that they merge."""


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit that may answer, with the texts that are compared with a query."""

    number: int
    name: str
    time: int
    file_count: int
    is_cut: int
    author: str
    message: str
    paths: list[str] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)

    def score(self, weights: Mapping[str, float]) -> float:
        """Return its score: between 0 and 1. `weights` has the terms of the query."""
        total = sum(weights.values()) or 1.0
        subject, _, body = self.message.partition("\n")
        body_terms = terms_of(body[:MAX_BODY_CHARACTERS])
        counts: dict[str, float] = {}
        for weight, terms in (
            (SUBJECT_WEIGHT, terms_of(subject)),
            (BODY_WEIGHT * _share(LONG_BODY_TERMS, body_terms), body_terms),
            (SYMBOL_WEIGHT * _share(MANY_SYMBOLS, self.symbols), set(terms_of(" ".join(self.symbols)))),
            (PATH_WEIGHT * _share(MANY_PATHS, self.paths), set(terms_of(" ".join(self.paths[:MAX_PATHS])))),
        ):
            for term in terms:
                if term in weights:
                    counts[term] = counts.get(term, 0.0) + weight
        score = sum(weights[term] * count / (count + SATURATION) for term, count in counts.items())
        covered = sum(weights[term] for term in counts) / total
        return score / total * float(covered**COVERAGE_POWER) * (1.0 if self.paths else WITHOUT_FILES)


def _share(usual: int, found: Sequence[str]) -> float:
    return min(1.0, usual / max(len(found), 1))


READ_SECONDS = 1.5
"""How long a search reads commits that are not known yet. The reply says how many there are."""
MAX_TERMS = 32
MAX_CANDIDATES = {"texts": 200, "names": 100}
"""Commits that are scored: the best by their messages and paths, and the best by their symbols."""
MAX_SELECTED = 5000
"""The rarest words of a query select commits, as long as they select no more than this; the others only score."""
SHOWN_LINES, SHOWN_FILES, SHOWN_SYMBOLS = 3, 10, 6
MAX_LINE_CHARACTERS = 300
_EVER = (-(1 << 62), 1 << 62)
_COMMIT_NAME = re.compile(r"[0-9a-f]{7,64}")
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """Which commits a search looks at, and how many it returns."""

    limit: int = 10
    path_glob: str | None = None
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class CommitHit:
    """A commit that answers, as it is shown."""

    name: str
    time: int
    subject: str
    author: str
    lines: tuple[str, ...]
    """The lines of the body with words of the query."""
    files: tuple[str, ...]
    """The first files that the commit changes, those with words of the query before others."""
    file_count: int
    has_uncounted_files: bool
    """Whether the commit changes more files than were counted."""
    symbols: tuple[str, ...]
    """The functions and classes with words of the query that the commit changes."""
    score: float
    masked: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def date(self) -> str:
        """The day of the commit; empty if it has none that a calendar has."""
        moment = moment_of(self.time) if self.time else None
        return moment.date().isoformat() if moment else ""


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """The commits for a query, best first."""

    hits: tuple[CommitHit, ...]
    coverage: HistoryCoverage
    seconds: float


def search_history(
    history: History, query: str, options: HistoryOptions, seconds: float = READ_SECONDS
) -> HistoryAnswer:
    """Read commits that are not known yet for some seconds, and return the best ones for a query; without one the newest."""
    began = time.monotonic()
    times = (_day(options.since, "since"), _day(options.until, "until", is_end=True))
    glob = compile_path_filter(options.path_glob) if options.path_glob else None
    coverage = history.update(seconds)
    hits = _Search(history, parse_search_query(query), times, glob).find(options.limit)
    return HistoryAnswer(tuple(hits), coverage, time.monotonic() - began)


def _day(text: str | None, name: str, *, is_end: bool = False) -> int:
    """Return the first second of a day, a month or a year, or the last one."""
    if not text:
        return _EVER[is_end]
    found = _DATE.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError
        year, month, day = (int(part) if part else 0 for part in found.groups())
        start = datetime(year, month or 1, day or 1, tzinfo=UTC)
        later = start + timedelta(days=1 if day else 31 if month else 366)
        end = later if day else later.replace(day=1, month=later.month if month else 1)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{name} is '{text}', which is no date. Write 2025, 2025-05 or 2025-05-20.") from error
    return int(end.timestamp()) - 1 if is_end else int(start.timestamp())


class _Search:
    """One search of a history."""

    def __init__(
        self, history: History, query: SearchQuery, times: tuple[int, int], glob: "re.Pattern[str] | None"
    ) -> None:
        self._history, self._database = history, history.database
        self._query, self._times, self._glob = query, times, glob
        terms = list(dict.fromkeys(terms_of(" ".join(query.positive))))[:MAX_TERMS]
        total = max(1, sum(self._database.counts().values()))
        self._frequencies = {term: self._frequency(term) for term in terms}
        self._weights = {term: rarity(found, total) for term, found in self._frequencies.items() if found}
        by_rarity = sorted(self._weights, key=self._frequencies.__getitem__)
        sums = accumulate(self._frequencies[term] for term in by_rarity)
        self._selecting = [term for term, sum_ in zip(by_rarity, sums, strict=True) if sum_ <= MAX_SELECTED]
        self._selecting = self._selecting or by_rarity[:1]

    def find(self, limit: int) -> list[CommitHit]:
        """Return the best commits."""
        among = None if self._glob is None else self._commits_of(self._glob)
        only = "" if among is None else "AND number IN (SELECT value FROM json_each(?))"
        values = [*self._times, *([] if among is None else [json.dumps(among)])]
        if not self._query.text.strip():
            return [self._hit(0.0, one) for one in self._commits(self._newest(only, [*values, limit]))]
        named = self._named()
        others = self._commits([number for number in self._candidates(only, values) if number not in named])
        scored = [(one.score(self._weights), one) for one in others if self._passes(one)]
        scored.sort(key=lambda one: (-round(one[0], 4), -one[1].number))  # of equal ones, the newest first
        found = [*((1.0, one) for one in self._commits(named)), *scored]
        return [self._hit(score, one) for score, one in found[:limit]]

    def _numbers(self, query: str, values: Sequence[object]) -> list[int]:
        return [number for (number,) in self._database.rows(query, values)]

    def _newest(self, only: str, values: Sequence[object]) -> list[int]:
        """Return the newest commits that are read, or the newest of some."""
        query = (
            f"SELECT number FROM commits JOIN messages USING (number) WHERE is_reached = 1 AND time BETWEEN ? AND ? {only} "  # noqa: S608 - constants
            "ORDER BY number DESC LIMIT ?"
        )
        return self._numbers(query, values)

    def _named(self) -> list[int]:
        """Return the commits of which the query is the beginning of the name."""
        name = self._query.text.lower()
        query = "SELECT number FROM commits WHERE name BETWEEN ? AND ? AND is_reached = 1 LIMIT ?"
        return self._numbers(query, (name, f"{name}g", MAX_TERMS)) if _COMMIT_NAME.fullmatch(name) else []

    def _frequency(self, term: str) -> int:
        return max(
            (count for table in ("texts", "names") for (count,) in self._database.rows(
                f"SELECT doc FROM {table}_terms WHERE term = ?", (term,)  # noqa: S608 - one of two constants
            )),
            default=0,
        )  # fmt: skip

    def _commits_of(self, glob: "re.Pattern[str]") -> list[int]:
        """Return the commits that change a file which matches, also under its earlier names."""
        rows = self._database.rows("SELECT id, path FROM paths")
        names = self._database.earlier_names([number for number, path in rows if glob.fullmatch(path)])
        found = self._database.rows_in("SELECT path, number FROM changes WHERE path IN", names)
        return sorted({number for path, number in found if number <= names[path]})

    def _candidates(self, only: str, values: Sequence[object]) -> list[int]:
        found: dict[int, None] = {}
        if not self._selecting:
            return []
        expression = " OR ".join(f'"{term}"' for term in self._selecting)
        for table, limit in MAX_CANDIDATES.items():
            query = (
                f"SELECT number FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? AND rank MATCH ? "  # noqa: S608
                f"ORDER BY rank LIMIT ?) AS found JOIN commits ON number = found.rowid "
                f"WHERE is_reached = 1 AND time BETWEEN ? AND ? {only} LIMIT ?"
            )
            weights = "bm25(3.0, 1.0, 1.0)" if table == "texts" else "bm25()"
            first = 2 * limit if tuple(values) == _EVER else _EVER[1]
            found |= dict.fromkeys(self._numbers(query, (expression, weights, first, *values, limit)))
        return list(found)

    def _commits(self, numbers: Sequence[int]) -> list[_Commit]:
        """Return those of the commits that were read."""
        query = (
            "SELECT number, name, time, files, is_cut, author, message FROM commits JOIN messages USING (number) "
            "WHERE number IN"
        )
        found = {row[0]: _Commit(*row) for row in self._database.rows_in(query, numbers)}
        if not all(isinstance(one.name, str) for one in found.values()):
            raise TypeError("the name of a commit has another type")
        query = "SELECT number, paths.path FROM changes JOIN paths ON paths.id = changes.path WHERE number IN"
        for number, path in self._database.rows_in(query, found):
            found[number].paths.append(path)
        for number, names in self._database.rows_in("SELECT number, names FROM symbols WHERE number IN", found):
            found[number].symbols.extend(names.split(" "))
        return [found[number] for number in numbers if number in found]

    def _passes(self, text: _Commit) -> bool:
        """Return whether a commit has what the query requires, and nothing that it excludes."""
        query = self._query
        if query.is_pasted or not query.has_filters:
            return True
        whole = " ".join((text.message, *text.paths, *text.symbols))
        terms, small = {*terms_of(whole), *whole_terms_of(whole)}, " ".join(whole.lower().split())
        has = lambda word: terms.issuperset(terms_of(word))  # noqa: E731
        return (
            all(map(has, query.must)) and not any(map(has, query.must_not))
            and all(phrase.lower() in small for phrase in query.phrases)
            and not any(phrase.lower() in small for phrase in query.not_phrases)
        )  # fmt: skip

    def _hit(self, score: float, commit: _Commit) -> CommitHit:
        masks, glob, count = self._history.settings.mask_secrets, self._glob, commit.file_count
        message, person = screen_text(commit.message, masks=masks), screen_text(commit.author, masks=masks)
        subject, *body = message.text.split("\n")
        files = [path for path in commit.paths if self._history.paths.allows(path)]
        files.sort(key=lambda path: (not (glob and glob.fullmatch(path)), -self._matches(path)))
        return CommitHit(
            commit.name, commit.time, _cut(subject), _cut(person.text), tuple(self._best_lines(body)),
            tuple(files[:SHOWN_FILES]), count if count > MAX_FILES else len(files), bool(commit.is_cut),
            tuple(self._best_symbols(commit)), round(score, 3),
            tuple(sorted({mask.kind for one in (message, person) for mask in one.masked})),
            tuple(sorted({flag.kind for one in (message, person) for flag in one.flags})),
        )  # fmt: skip

    def _matches(self, text: str) -> float:
        return sum(self._weights.get(term, 0.0) for term in set(terms_of(text)))

    def _best_lines(self, lines: Iterable[str]) -> list[str]:
        """Return the lines that have the most words of the query, in their order."""
        written = [(number, line.strip()) for number, line in enumerate(lines) if line.strip()]
        best = sorted(((self._matches(line), -number, line) for number, line in written), reverse=True)[:SHOWN_LINES]
        return [_cut(line) for _, _, line in sorted((-at, score, line) for score, at, line in best if score)]

    def _best_symbols(self, commit: _Commit) -> list[str]:
        rows = self._database.rows(
            "SELECT paths.path, names FROM symbols JOIN paths ON paths.id = symbols.path WHERE number = ?",
            (commit.number,),
        )
        names = [name for path, found in rows if self._history.paths.allows(path) for name in found.split(" ")]
        scored = [(self._matches(name), name) for name in dict.fromkeys(names)]
        return [name for score, name in sorted(scored, key=lambda one: -one[0]) if score][:SHOWN_SYMBOLS]


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARACTERS else line[: MAX_LINE_CHARACTERS - 1] + "…"
