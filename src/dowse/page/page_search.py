"""The search in an address, and its hits: of the federated search for words, or every occurrence of a text or pattern in files."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import partial
from itertools import groupby
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from dowse.errors import UsageError
from dowse.federation.federated_ranking import RankedItem
from dowse.federation.federated_search import FederatedResult, search_all
from dowse.federation.federation_types import AS_DOCUMENT, SourceQuery, id_of, locator_in
from dowse.federation.place_source import place_name
from dowse.federation.source_list import SourceList
from dowse.indexes.project_search import ExactQuery
from dowse.mcp.replies import coverage_warnings
from dowse.mcp.tools import Call
from dowse.page.item_links import read_address, root_name
from dowse.reading.languages import is_language, language_called
from dowse.searching.exact_search import Occurrence
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.surfaces.organisation.place_search import find_text as find_text_at_place
from dowse.surfaces.project.chosen_projects import find_text
from dowse.surfaces.project.path_search import relative_pattern
from dowse.text.analysis import terms_of
from dowse.text.query_syntax import find_filters
from dowse.types import Coverage
from dowse.visible_text import pluralize

SearchMode = Literal["words", "exact", "regex"]
DEFAULT_LIMIT, MAX_LIMIT = 10, 50
"""Results that are shown while somebody types, and those behind `More results`: most of a search is cutting passages."""
MAX_TEXT_CHARACTERS = 10_000
MAX_FILTER_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class PageQuery:
    """The words in the box, how they are meant, and the filters; the names of the fields are those in the address."""

    q: str = ""
    mode: SearchMode = "words"
    source: str = ""
    kind: str = ""
    language: str = ""
    path: str = ""
    since: str = ""
    until: str = ""
    limit: int = DEFAULT_LIMIT

    @property
    def has_filters(self) -> bool:
        """Whether anything but the words limits the results."""
        return any((self.source, self.kind, self.language, self.path, self.since, self.until))

    def address(self, **changes: Any) -> str:
        """Return the address of the search, with some fields changed; defaults are left out."""
        changed = replace(self, **changes)
        given = {one.name: value for one in fields(self) if (value := getattr(changed, one.name)) != one.default}
        return f"/?{urlencode(given, errors='replace')}" if given else "/"

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of a filter: `lang`, `kind`, `path` or `-path`, typed into the box or beside it."""
        typed = find_filters(self.q, is_language) if self.mode == "words" else []
        beside = {"lang": self.language, "kind": self.kind, "path": self.path}.get(name, "")
        given = (*(value for one, value, _ in typed if one == name), *([beside] if beside else ()))
        return tuple(map(language_called, given)) if name == "lang" else given

    def toggled(self, name: str, value: str) -> "PageQuery":
        """Return the query with a filter, or without it if it has it; filters of words are typed into the box."""
        beside, is_chosen = "language" if name == "lang" else name, value in self.values(name)
        if self.mode != "words" or (is_chosen and bool(getattr(self, beside, ""))):
            change: dict[str, Any] = {beside: "" if is_chosen else value}
            return replace(self, **change)
        text = self.q
        for one, found, written in find_filters(self.q, is_language):
            if one == name and (found == value or name in ("lang", "kind")):
                text = text.replace(written, "", 1)
        words, quoted = " ".join(text.split()), f'"{value}"' if " " in value else value
        return replace(self, q=words if is_chosen else f"{words} {name}:{quoted}")

    def without_filters(self) -> "PageQuery":
        """Return the query with its words alone."""
        text = self.q
        for _, _, written in find_filters(text, is_language) if self.mode == "words" else ():
            text = text.replace(written, "", 1)
        return PageQuery(text if text == self.q else " ".join(text.split()), self.mode, limit=self.limit)

    def day(self, name: Literal["since", "until"]) -> date | None:
        """Return the day of a filter; raise UsageError where it is none."""
        text = getattr(self, name)
        try:
            return date.fromisoformat(text) if text else None
        except ValueError as error:
            raise UsageError(f"{name.capitalize()} has to be a day such as 2025-01-31.") from error


def read_query(parameters: Mapping[str, str]) -> PageQuery:
    """Return the query of an address. A field that is out of range is ignored, since people edit addresses."""
    names = ("source", "kind", "language", "path", "since", "until")
    found: dict[str, Any] = {name: parameters.get(name, "").strip()[:MAX_FILTER_CHARACTERS] for name in names}
    if found["kind"] not in ("code", "docs"):
        found["kind"] = ""
    if parameters.get("mode") in get_args(SearchMode):
        found["mode"] = parameters["mode"]
    limit = parameters.get("limit", "")
    if limit.isascii() and limit.isdecimal() and len(limit) < 4:
        found["limit"] = min(max(int(limit), 1), MAX_LIMIT)
    return PageQuery(parameters.get("q", "")[:MAX_TEXT_CHARACTERS], **found)


QUICK_LIMIT = 6
"""Results while somebody types: a screen shows four, and finding the passages of ten takes a third longer."""
EXACT_SECONDS, QUICK_SECONDS = 3.0, 0.15
"""How long one folder is searched for a text, and how long while somebody types: the page says if that was not enough."""
LINES_PER_FILE = 5
"""Lines that are listed of a file with many occurrences."""


@dataclass(frozen=True, slots=True)
class PageHit:
    """One result as the page shows it."""

    id: str
    source: str
    title: str
    path: str
    passages: tuple[tuple[int, str], ...]
    """Its texts, each with the number of its first line; 0 for a text that has no lines."""
    around: tuple[str, ...] = ()
    """The headings or definitions around the passage, outermost first."""
    masked: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    day: str = ""
    more_lines: int = 0
    file: bytes = field(default=b"", repr=False)
    """The text of its file, as the search has read it."""

    @property
    def locator(self) -> str:
        """Its place in its source: for a file, the path."""
        return (locator_in(self.source, self.id) or self.path).removesuffix(AS_DOCUMENT)

    @property
    def is_converted(self) -> bool:
        """Whether it is a document whose text was converted."""
        return self.id.endswith(AS_DOCUMENT) or self.source.startswith("documents/")

    @property
    def text(self) -> str:
        """All of its texts."""
        return "\n".join(text for _, text in self.passages)

    @property
    def line_numbers(self) -> list[int]:
        """The number of each line; none for a text that has no lines."""
        return [first + n for first, text in self.passages if first for n in range(text.count("\n") + 1)]

    @property
    def address(self) -> str:
        """The address at which the result is read, at the lines that answer."""
        numbers = self.line_numbers
        if not numbers:
            return read_address(self.id)
        first, last = numbers[0], numbers[-1]
        return f"{read_address(self.id)}#L{first}" + (f"-L{last}" if last > first and not self.more_lines else "")


@dataclass(frozen=True, slots=True)
class PageResults:
    """The hits of a query, what to mark in them, and what to know about them."""

    hits: Sequence[PageHit] = ()
    terms: frozenset[str] = frozenset()
    """The terms that match, for a search by words."""
    notes: Sequence[str] = ()
    summary: str = ""
    has_more: bool = False
    is_complete: bool = True
    """Nothing was left out for lack of time."""
    matched: frozenset[tuple[str, str]] = frozenset()
    """The names of the roots and the paths of all files that match, as far as they are known."""
    growing: Mapping[str, Coverage] = field(default_factory=dict)
    """The sources that did not have all files in their index, by name."""
    seconds: float = 0.0


async def find_hits(sources: SourceList, query: PageQuery, *, is_quick: bool = False) -> PageResults:
    """Return the hits of a query, quickly the first ones; raise UsageError for a filter or pattern that is malformed."""
    if not query.q.strip():
        return PageResults()
    started = time.perf_counter()
    if query.mode == "words":
        found = await _find_words(sources, query, is_quick=is_quick)
    else:
        found = await _find_occurrences(sources, query, QUICK_SECONDS if is_quick else EXACT_SECONDS)
    return replace(found, seconds=time.perf_counter() - started)


async def _find_words(sources: SourceList, query: PageQuery, *, is_quick: bool) -> PageResults:
    parsed = parse_search_query(query.q)
    limit = min(query.limit, QUICK_LIMIT) if is_quick else query.limit
    source_query = SourceQuery(
        parsed, limit, query.path or None, query.language or None, query.day("since"), query.day("until"),
        query.kind or None,  # type: ignore[arg-type] # it was checked
        lists_matches=True, asks_model=not is_quick,
    )  # fmt: skip
    found = await search_all(sources, Call(), source_query, query.source or None, is_quick=is_quick)
    words = [*parsed.positive, *(near for answer in found.answers.values() for near in answer.corrected.values())]
    shown = found.results[:limit]
    # Documents are ranked without their whole texts, and the project has most of them as well.
    texts = {key: one.data for answer in found.answers.values() for one in answer.items for key in one.keys if one.data}
    count = len(shown)
    has_more = len(found.results) > count or (is_quick and count > QUICK_LIMIT // 2)  # each source gave a share
    summary = f"{count}+ results" if has_more else pluralize(count, "result")
    return PageResults(
        [_word_hit(ranked, texts) for ranked in shown],
        frozenset(term for word in words for term in terms_of(word)),
        _notes(found),
        summary,
        has_more,
        matched=frozenset((root_name(name), path) for name, answer in found.answers.items() for path in answer.matched),
        growing={
            **_growing({name: answer.coverage for name, answer in found.answers.items() if answer.coverage}),
            **{name: coverage for name, coverage in running_roots(sources).items() if name in found.problems},
        },
    )


def _growing(coverages: Mapping[str, Coverage]) -> dict[str, Coverage]:
    """Return the coverages of sources that will have more files in a moment."""
    return {name: coverage for name, coverage in coverages.items() if not (coverage.is_complete or coverage.problem)}


def _word_hit(ranked: RankedItem, texts: Mapping[str, bytes]) -> PageHit:
    item, more = ranked.item, ranked.item.more
    path = str(more.get("path") or more.get("docId") or item.title)
    return PageHit(
        item.id,
        item.source,
        item.title,
        path,
        ((more.get("startLine", 0), item.text),) if item.text else (),
        item.around,
        tuple(more.get("masked", ())),
        tuple(more.get("flags", ())),
        ranked.also,
        str(more.get("date", "")),
        file=item.data or next((texts[key] for key in item.keys if key in texts), b""),
    )


def _notes(found: FederatedResult) -> list[str]:
    corrected = {word: near for answer in found.answers.values() for word, near in answer.corrected.items()}
    notes = [f"Searched for “{near}” instead of “{word}”." for word, near in corrected.items()]
    if found.without_filters:
        notes.append(f"Without +, - and quotes there would be {found.without_filters} or more results.")
    notes += [f"{root_name(name)}: {why}" for name, why in found.problems.items()]
    notes += [f"{root_name(name)} is left out: {why}." for name, why in found.left_out.items()]
    notes += [f"{root_name(name)}: {warning}" for name, answer in found.answers.items() for warning in answer.warnings]
    return list(dict.fromkeys(notes))


async def _find_occurrences(sources: SourceList, query: PageQuery, seconds: float) -> PageResults:
    if query.since or query.until:
        raise UsageError("Dates limit a search by words only. Remove them, or switch to words.")
    roots = {
        root.served: root
        for root in sources.roots()
        if query.source in ("", root.name, root_name(root.name), *root.kinds)
    }
    queries = {one: (_text_query(query, one.name, seconds), root.main_view) for one, root in roots.items()}
    answers, notes = await find_text(queries)
    hits: list[PageHit] = []
    coverages: dict[str, Coverage] = {}
    for served, (found, covered) in answers:
        name, kind = roots[served].name, roots[served].kind
        service: Any = sources.projects if kind == "project" else sources.folders and sources.folders.service
        shown_path = partial(service.shown_path, served)
        hits += _occurrence_hits(name, shown_path, found.found, queries[served][0].texts or {})
        notes += [f"{root_name(name)}: {warning}" for warning in coverage_warnings(covered)]
        coverages[name] = covered
    searched = [found for _, (found, _) in answers]
    if sources.place and query.source in ("", "project", place_name(sources.place.place)):
        asked = _text_query(query, "", seconds)
        found = await asyncio.to_thread(find_text_at_place, sources.place.store, asked)
        hits += _occurrence_hits(place_name(sources.place.place), str, found.found, asked.texts or {})
        searched.append(found)
    total, files = (sum(getattr(found, name) for found in searched) for name in ("total", "files"))
    is_complete = all(found.is_complete for found in searched)
    if not is_complete and seconds == EXACT_SECONDS:  # otherwise, a longer search follows
        notes.append("The search took too long and was stopped: there may be more. Name a path or a source.")
    if not query.source and (sources.sites or sources.archives):
        notes.append("Sites, archives and named indexes are searched by words only.")
    summary = f"{total:,}{'' if is_complete else '+'} in {pluralize(files, 'file')}"
    return PageResults(
        hits[: query.limit], frozenset(), notes, summary, len(hits) > query.limit, is_complete,
        frozenset((root_name(hit.source), hit.locator) for hit in hits), _growing(coverages),
    )  # fmt: skip


def _text_query(query: PageQuery, name: str, seconds: float) -> ExactQuery:
    glob = relative_pattern(query.path).removeprefix(f"{name}/") if query.path else None
    kind: Any = query.kind or None  # it was checked
    options = SearchOptions(10 * query.limit, kind, glob, query.language or None)
    return ExactQuery(query.q, options, seconds, query.mode == "regex", texts={})


def running_roots(sources: SourceList) -> dict[str, Coverage]:
    """Return how far the roots are that this server indexes now, by the names of their sources, without asking an index."""
    return {
        root.name: Coverage(*progress, is_indexing=True)
        for root in sources.roots()
        if (progress := root.served.progress(root.views))
    }


def _occurrence_hits(
    name: str, shown_path: Callable[[str], str], found: Sequence[Occurrence], texts: Mapping[str, str]
) -> list[PageHit]:
    hits = []
    for path, group in groupby(found, key=lambda one: one.path):
        places = list(group)
        shown = places[:LINES_PER_FILE]
        hits.append(
            PageHit(
                id_of(name, path), name, shown_path(path), shown_path(path),
                tuple((one.line, one.text) for one in shown),
                masked=tuple(sorted({kind for one in shown for kind in one.masked})),
                flags=tuple(sorted({kind for one in shown for kind in one.flags})),
                more_lines=len(places) - len(shown),
                file=texts[path].encode(),
            )
        )  # fmt: skip
    return hits
