"""A loaded site, whose pages are found by words and by URL."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import OSA

from dowse.errors import BrokenSiteIndex
from dowse.screening.masking import Screened, screen_text, surroundings
from dowse.searching.query_terms import SearchQuery
from dowse.sites import page_urls
from dowse.sites.index_check import Problem, check_index
from dowse.sites.index_model import MAX_INDEX_BYTES, Page, SiteHeader, parse_index
from dowse.sites.page_index import ABSTRACT, BODY, TITLE, PageIndex, PageIndexBuilder, day_number, match_filters
from dowse.sites.site_search import SiteResults, search_pages
from dowse.system.platform import release_memory
from dowse.text.analysis import folded_spans, is_folded
from dowse.text.excerpts import PASSAGE_CHARACTERS, Splitting, add_marks, best_window, find_words, first_places

MAX_SUGGESTIONS = 3
"""URLs suggested for one that does not exist."""


@dataclass(frozen=True, slots=True)
class ListedPage:
    """The values of a page that are kept beside its texts."""

    url: str
    date: str
    topics: tuple[str, ...]


def load_site(data: bytes | bytearray) -> "LoadedSite":
    """Load a site from the bytes of its index; raise BrokenSiteIndex if it cannot be served.

    A bytearray is cleared once it is parsed, so that it and the loaded site are not in memory together.
    """
    if len(data) > MAX_INDEX_BYTES:
        raise BrokenSiteIndex(
            f"The index has {len(data) >> 20} MB; the maximum is {MAX_INDEX_BYTES >> 20} MB. Split the site, or shorten the bodies."
        )
    try:
        return _load(data)
    finally:
        release_memory()


def _load(data: bytes | bytearray) -> "LoadedSite":
    root = parse_index(data)
    if isinstance(data, bytearray):
        data.clear()
    builder, listed = PageIndexBuilder(), list[ListedPage]()

    def add(page: Page) -> None:
        builder.add(page)
        listed.append(ListedPage(page.url, page.date, page.topics))

    header, problems = check_index(root, add)
    fatal = [problem for problem in problems if problem.is_fatal]
    if fatal:
        more = f" And {len(fatal) - 1} more." if len(fatal) > 1 else ""
        raise BrokenSiteIndex(f"{fatal[0]}{more} `dowse site check` lists all.")
    root.clear()
    release_memory()
    return LoadedSite(header, tuple(listed), builder.build(), tuple(problems))


class LoadedSite:
    """A site that can be searched; it is immutable."""

    def __init__(
        self,
        header: SiteHeader,
        listed: tuple[ListedPage, ...],
        pages: PageIndex,
        problems: tuple[Problem, ...],
    ) -> None:
        self.header = header
        self.problems = problems
        self._listed = listed
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
        listed, texts = self._listed[number], self._pages.texts(number)
        title, abstract, body = (texts[field].decode() for field in (TITLE, ABSTRACT, BODY))
        return Page(listed.url, title, abstract, listed.date, listed.topics, body)

    def passage(self, number: int, results: SiteResults, *, masks: bool = True) -> Screened:
        """Return the passage of a page's body that best matches a search, screened."""
        text, places = self._pages.texts(number)[BODY].decode(), self._pages.places(number)
        return best_passage(text, results, places[BODY].keys() if places else None, masks=masks)

    def full_url(self, number: int) -> str:
        return page_urls.full_url(self.header.site.domain, self._listed[number].url)

    def find(self, url: str) -> int | None:
        """Return the number of the page at a path or full URL; None if there is none."""
        host, path = page_urls.split_url(url)
        if host is not None and not page_urls.is_same_host(host, self.header.site.domain):
            return None
        for candidate in (path, page_urls.strip_query(path)):
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


_SPLITTING = Splitting(folded_spans, is_folded)
_WRITTEN_OTHERWISE = Splitting(folded_spans, lambda _: False)
"""For words such as `C++`, which are compared in another form than they are written in."""


def best_passage(text: str, found: SiteResults, present: Set[str] | None = None, *, masks: bool = True) -> Screened:
    """Return the part of a text that has the most important words of the query; empty if it has none.

    `present` are the words of the text, if they are known.
    """
    words = found.words
    if present is not None:
        words = {word: words[word] for word in words.keys() & present}
    splitting = _SPLITTING if all(map(str.isascii, words)) else _WRITTEN_OTHERWISE
    places = first_places(find_words(text, words, splitting), 0, PASSAGE_CHARACTERS)
    importances = {number: term.importance for number, term in enumerate(found.terms)}
    window = best_window(text, places, importances)
    if window is None:
        return Screened("")
    start, end = window
    line = " ".join(text[start:end].split())
    is_cut = bool(text[:start].strip()) and text[max(0, start - 2) : start] != "\n\n"
    shown = add_marks(line, "…", is_cut_before=is_cut, is_cut_after=bool(text[end:].strip()))
    return screen_text(shown, around=surroundings(text, start, end) if masks else "", masks=masks)
