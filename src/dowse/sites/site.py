"""One site that is loaded: its pages, found by words and by address."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from dowse.errors import BrokenSiteIndex
from dowse.platform import release_memory
from dowse.screening.masking import Screened
from dowse.sites import page_urls
from dowse.sites.index_check import IndexChecker, Problem
from dowse.sites.index_model import MAX_INDEX_BYTES, Page, SiteHeader
from dowse.sites.index_parsing import parse_index
from dowse.sites.site_passages import best_passage
from dowse.sites.site_postings import ABSTRACT, BODY, TITLE, PostingsBuilder
from dowse.sites.site_search import SiteResults, SiteSearcher
from dowse.sites.site_tokens import SiteTokenizer

MAX_SUGGESTIONS = 3
"""So many addresses are proposed for one that is not there."""


@dataclass(frozen=True, slots=True)
class ListedPage:
    """What is kept of a page beside its text."""

    url: str
    date: str
    topics: tuple[str, ...]


def load_site(data: bytes | bytearray) -> "LoadedSite":
    """A site of the bytes of its index; BrokenIndex says what keeps it from being served.

    A bytearray is emptied as soon as it was read: it and what is made of it need not be in memory together.
    """
    if len(data) > MAX_INDEX_BYTES:
        raise BrokenSiteIndex(f"The index has {len(data) >> 20} MB; {MAX_INDEX_BYTES >> 20} are the most.")
    try:
        return _SiteLoader().load(data)
    finally:
        release_memory()


class _SiteLoader:
    """Pages on their way from the file into the postings."""

    def __init__(self) -> None:
        self._checker = IndexChecker()
        self._tokenizer = SiteTokenizer()
        self._begin()

    def load(self, data: bytes | bytearray) -> "LoadedSite":
        root = parse_index(data, self._add, self._begin)
        if isinstance(data, bytearray):
            data.clear()
        release_memory()
        header, problems = self._checker.header(root)
        fatal = [problem for problem in problems if problem.is_fatal]
        if fatal:
            more = f" And {len(fatal) - 1} more." if len(fatal) > 1 else ""
            raise BrokenSiteIndex(f"{fatal[0]}{more} `dowse site check` lists all.")
        searcher = SiteSearcher(self._poster.done(), self._tokenizer)
        return LoadedSite(header, tuple(self._listed), searcher, self._tokenizer, tuple(problems))

    def _begin(self) -> None:
        self._checker.restart()
        self._poster = PostingsBuilder(self._tokenizer)
        self._listed: list[ListedPage] = []

    def _add(self, number: int, value: object) -> None:
        page = self._checker.page(number, value)
        if page is not None:
            self._poster.add(page)
            self._listed.append(ListedPage(page.url, page.date, page.topics))


class LoadedSite:
    """A site that can be asked; it does not change."""

    def __init__(
        self,
        header: SiteHeader,
        listed: tuple[ListedPage, ...],
        searcher: SiteSearcher,
        tokenizer: SiteTokenizer,
        problems: tuple[Problem, ...],
    ) -> None:
        self.header = header
        self.problems = problems
        self._listed = listed
        self._searcher = searcher
        self._tokenizer = tokenizer

    def __len__(self) -> int:
        return len(self._listed)

    def search(
        self, query: str, limit: int, topics: Sequence[str] = (), since: date | None = None, until: date | None = None
    ) -> SiteResults:
        """The best pages for a query, among those with any of the topics and dated within the days."""
        return self._searcher.search(query, limit, self._allowed(topics, since, until))

    def page(self, number: int) -> Page:
        """A page, whole."""
        listed, texts = self._listed[number], self._searcher.postings.texts
        title, abstract, body = (texts.encoded(number, field).decode() for field in (TITLE, ABSTRACT, BODY))
        return Page(listed.url, title, abstract, listed.date, listed.topics, body)

    def passage(self, number: int, found: SiteResults, *, masks: bool = True) -> Screened:
        """The part of a page's body that a search found, as it may be shown."""
        return best_passage(self._searcher.postings, self._tokenizer, number, found.terms, masks=masks)

    def full_url(self, number: int) -> str:
        """Where a page can be opened."""
        return page_urls.full_url(self.header.site.domain, self._listed[number].url)

    def find(self, address: str) -> int | None:
        """The page at a path or full address."""
        host, path = page_urls.split_url(address)
        if host is not None and not page_urls.is_same_host(host, self.header.site.domain):
            return None
        for candidate in (path, page_urls.strip_query(path)):
            if (number := self._by_address.get(page_urls.path_key(candidate))) is not None:
                return number
        return None

    def nearest(self, address: str) -> list[str]:
        """The URLs that are most like an address."""
        key = page_urls.path_key(page_urls.split_url(address[:500])[1])
        near = process.extract(
            key, self._by_address.keys(), scorer=OSA.normalized_similarity, limit=MAX_SUGGESTIONS, score_cutoff=0.5
        )
        return [self._listed[self._by_address[found]].url for found, *_ in near]

    def topics(self) -> list[tuple[str, int]]:
        """All topics, those of most pages first."""
        counted = Counter(topic for listed in self._listed for topic in dict.fromkeys(listed.topics))
        return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))

    def dates(self) -> tuple[str, str] | None:
        """The first and the last day of any page."""
        days = self._days[self._days > 0]
        if not len(days):
            return None
        return date.fromordinal(int(days.min())).isoformat(), date.fromordinal(int(days.max())).isoformat()

    def _allowed(self, topics: Sequence[str], since: date | None, until: date | None) -> NDArray[np.bool_]:
        allowed = np.ones(len(self), np.bool_)
        if topics:
            wanted = {_fold_topic(topic) for topic in topics}
            allowed &= np.array([not wanted.isdisjoint(map(_fold_topic, one.topics)) for one in self._listed], np.bool_)
        if since:
            allowed &= self._days >= since.toordinal()
        if until:
            allowed &= (self._days <= until.toordinal()) & (self._days > 0)
        return allowed

    @cached_property
    def _by_address(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for number, listed in enumerate(self._listed):
            found.setdefault(page_urls.path_key(page_urls.split_url(listed.url)[1]), number)
        return found

    @cached_property
    def _days(self) -> NDArray[np.int64]:
        """The day of each page; 0 where it has none, or none that can be read."""
        return np.array([_day_number(listed.date) for listed in self._listed], np.int64)


def _day_number(text: str) -> int:
    try:
        return date.fromisoformat(text[:10]).toordinal()
    except ValueError:
        return 0


def _fold_topic(topic: str) -> str:
    return " ".join(topic.casefold().split())
