"""A site, whose pages are found by words and by URL, and which is loaded again when its index is replaced."""

import hashlib
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import OSA

from dowse.errors import DowseError, Failed, UsageError
from dowse.screening.masking import Screened, screen_text, surroundings
from dowse.searching.query_terms import SearchQuery
from dowse.sites import page_urls
from dowse.sites.index_check import MAX_INDEX_BYTES, Page, Problem, SiteHeader, check_header, check_pages, parse_index
from dowse.sites.index_sources import REMOTE_CHECK_SECONDS, IndexSource, open_index_source
from dowse.sites.page_index import ABSTRACT, BODY, TITLE, PageIndex, day_number, match_filters
from dowse.sites.site_search import SiteResults, search_pages
from dowse.system.platform import release_memory
from dowse.text.analysis import folded_spans, is_folded
from dowse.text.excerpts import PASSAGE_CHARACTERS, Splitting, add_marks, best_window, find_words, first_places

MAX_SUGGESTIONS = 3
"""URLs suggested for one that does not exist."""


def load_site(data: bytes | bytearray) -> "LoadedSite":
    """Load a site from the bytes of its index; raise Failed if it cannot be served.

    A bytearray is cleared once it is parsed, so that it and the loaded site are not in memory together.
    """
    if len(data) > MAX_INDEX_BYTES:
        raise Failed(
            f"The index has {len(data) >> 20} MB; the maximum is {MAX_INDEX_BYTES >> 20} MB. Split the site, or shorten the bodies."
        )
    root = parse_index(data)
    if isinstance(data, bytearray):
        data.clear()
    listed = list[Page]()

    def pages() -> Iterator[Page]:
        for page in check_pages(root, problems):
            listed.append(Page(page.url, "", date=page.date, topics=page.topics))
            yield page

    try:
        header, problems = check_header(root)
        index = PageIndex(pages())
        fatal = [problem for problem in problems if problem.is_fatal]
        if fatal:
            more = f" And {len(fatal) - 1} more." if len(fatal) > 1 else ""
            raise Failed(f"{fatal[0]}{more} `dowse site check` lists all.")
        return LoadedSite(header, tuple(listed), index, tuple(problems))
    finally:
        root.clear()
        release_memory()


_SPLITTING = Splitting(folded_spans, is_folded)
_WRITTEN_OTHERWISE = Splitting(folded_spans, lambda _: False)
"""For words such as `C++`, which are compared in another form than they are written in."""


class LoadedSite:
    """A site that can be searched; it is immutable."""

    def __init__(
        self, header: SiteHeader, listed: tuple[Page, ...], pages: PageIndex, problems: tuple[Problem, ...]
    ) -> None:
        self.header = header
        self.problems = problems
        self._listed = listed
        """The pages without their texts."""
        self._pages = pages

    def __len__(self) -> int:
        return len(self._listed)

    def search(
        self,
        query: SearchQuery,
        limit: int,
        topics: Sequence[str] = (),
        since: date | None = None,
        until: date | None = None,
    ) -> SiteResults:
        """Return the best pages for a query, among those with any of the topics and dated from `since` to `until`."""
        return search_pages(self._pages, query, limit, match_filters(topics, since, until))

    def page(self, number: int) -> Page:
        """Return a page with its whole text."""
        texts = self._pages.texts(number)
        title, abstract, body = (texts[field].decode() for field in (TITLE, ABSTRACT, BODY))
        return replace(self._listed[number], title=title, abstract=abstract, body=body)

    def passage(self, number: int, results: SiteResults, *, masks: bool = True) -> Screened:
        """Return the part of a page's body that has the most important words of a search, screened; empty if it has none."""
        text, places = self._pages.texts(number)[BODY].decode(), self._pages.places(number)
        present = results.words.keys() & places[BODY].keys() if places else results.words.keys()
        words = {word: results.words[word] for word in present}
        splitting = _SPLITTING if all(map(str.isascii, words)) else _WRITTEN_OTHERWISE
        found = first_places(find_words(text, words, splitting), 0, PASSAGE_CHARACTERS)
        window = best_window(text, found, {number: term.importance for number, term in enumerate(results.terms)})
        if window is None:
            return Screened("")
        start, end = window
        line = " ".join(text[start:end].split())
        is_cut = bool(text[:start].strip()) and text[max(0, start - 2) : start] != "\n\n"
        shown = add_marks(line, "…", is_cut_before=is_cut, is_cut_after=bool(text[end:].strip()))
        return screen_text(shown, around=surroundings(text, start, end) if masks else "", masks=masks)

    def full_url(self, number: int) -> str:
        return page_urls.full_url(self.header.site.domain, self._listed[number].url)

    def find(self, url: str) -> int | None:
        """Return the number of the page at a path or full URL; None if there is none."""
        host, path = page_urls.split_url(url)
        if host is not None and not page_urls.is_same_host(host, self.header.site.domain):
            return None
        for candidate in (path, path.partition("#")[0].partition("?")[0]):
            if (number := self._numbers_by_path.get(page_urls.path_key(candidate))) is not None:
                return number
        return None

    def similar_urls(self, url: str) -> list[str]:
        """Return the URLs of pages that are most similar to a URL."""
        key = page_urls.path_key(page_urls.split_url(url[:500])[1])
        similar = process.extract(
            key, self._numbers_by_path.keys(), scorer=OSA.normalized_similarity, limit=MAX_SUGGESTIONS, score_cutoff=0.5
        )
        return [self._listed[self._numbers_by_path[path]].url for path, *_ in similar]

    def topics(self) -> list[tuple[str, int]]:
        """Return all topics with their number of pages, the most frequent first."""
        counts = Counter(topic for listed in self._listed for topic in dict.fromkeys(listed.topics))
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

    def date_range(self) -> tuple[str, str] | None:
        """Return the earliest and the latest day of any page; None if no page is dated."""
        days = [number for listed in self._listed if (number := day_number(listed.date))]
        return (date.fromordinal(min(days)).isoformat(), date.fromordinal(max(days)).isoformat()) if days else None

    @cached_property
    def _numbers_by_path(self) -> dict[str, int]:
        numbers: dict[str, int] = {}
        for number, listed in enumerate(self._listed):
            numbers.setdefault(page_urls.path_key(page_urls.split_url(listed.url)[1]), number)
        return numbers


_log = logging.getLogger(__name__)


class ServedSite:
    """A site and the source of its index.

    `current` is replaced as a whole, so a caller can keep using the object it got. An index that cannot be loaded
    does not replace it.
    """

    def __init__(self, source: IndexSource, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self._lock = threading.Lock()
        self.problem: str | None = None
        """Why the newest index cannot be served, while an older one is; None if there is no problem."""
        try:
            fetched = source.fetch(None)
            assert fetched is not None  # noqa: S101 - without a revision nothing is unchanged
            self._digest = _digest(fetched.data)
            self.current: LoadedSite = load_site(fetched.data)
        except DowseError as error:
            message = str(error)
            named = message if source.name in message else f"{source.name} cannot be served. {message}"
            raise type(error)(named) from error
        self._revision = fetched.revision
        self._checked_at = clock()
        self.loaded_at = _now()

    @property
    def source_name(self) -> str:
        """The name of the source that the index comes from."""
        return self._source.name

    @property
    def may_have_changed(self) -> bool:
        """Whether the index may have been replaced. The check is cheap."""
        if self._source.is_remote:
            return self._clock() - self._checked_at >= REMOTE_CHECK_SECONDS
        return self._source.has_changed(self._revision)

    @property
    def is_remote(self) -> bool:
        """Whether `refresh` goes over the network."""
        return self._source.is_remote

    def refresh(self) -> None:
        """Load the index if it was replaced.

        If the new one cannot be loaded, keep the old one and set `problem`.
        """
        if not self._lock.acquire(blocking=not self._source.is_remote):
            return  # another thread is refreshing
        try:
            if self.may_have_changed:
                self._load_if_changed()
        finally:
            self._lock.release()

    def _load_if_changed(self) -> None:
        self._checked_at = self._clock()
        try:
            fetched = self._source.fetch(self._revision)
            if fetched is None:
                return
            self._revision = fetched.revision
            digest = _digest(fetched.data)
            if digest != self._digest:
                self.current = load_site(fetched.data)
                self._digest, self.loaded_at = digest, _now()
                _log.warning("%s was replaced; now serving its %d pages", self._source.name, len(self.current))
            self.problem = None
        except Exception as error:  # the old index must stay served, whatever happens
            could = "The new index cannot be served"
            if isinstance(error, Failed) and self._source.is_remote:
                could = "The index could not be updated"
            what = error if isinstance(error, DowseError) else f"{type(error).__name__}: {error}"
            problem = f"{could}; the old one stays in use: {what}"
            if problem != self.problem:
                _log.warning("%s: %s", self._source.name, problem)
            self.problem = problem


def _digest(data: bytearray) -> bytes:
    return hashlib.blake2b(data).digest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


_NAMED = re.compile(r"([a-z][a-z0-9_]*)=(.*)", re.DOTALL)


def parse_site_argument(text: str) -> tuple[str | None, str]:
    """Split `[NAME=]FILE|URL` into name and location; only text that can name a tool is a name."""
    match = _NAMED.fullmatch(text)
    name, location = match.groups() if match else (None, text)
    if not location:
        raise UsageError(
            f"{text!r} does not name an index. Write [NAME=]FILE, or an address that begins with https:// or s3://."
        )
    return name, location


def load_sites(arguments: Iterable[str]) -> list[tuple[str | None, ServedSite]]:
    """Load the sites that these arguments name; return each with its given name, or None."""
    sites = [(name, ServedSite(open_index_source(location))) for name, location in map(parse_site_argument, arguments)]
    for _, site in sites:
        if count := len(site.current.problems):
            _log.warning(
                "%s: %d problem%s; `dowse site check` lists them", site.source_name, count, "" if count == 1 else "s"
            )
    return sites
