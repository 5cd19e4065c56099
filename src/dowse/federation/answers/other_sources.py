"""The sources of a server beside its folders, as assistants are answered from them: sites, research archives and notes, with their lines."""

import asyncio
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dowse.errors import DowseError, ItemNotFound
from dowse.federation.answers.definition_search import MAX_LINE_CHARACTERS, FoundDefinition
from dowse.federation.answers.package_answers import FIND_SECONDS
from dowse.federation.answers.place_reading import RequestedPlace, SourceText, read_lines
from dowse.federation.federated_ranking import RankedItem
from dowse.federation.federated_search import fetch_one, search_all
from dowse.federation.federation_types import SOURCE_KINDS, FetchedItem, SearchSource, SourceQuery, id_of
from dowse.federation.source_list import SourceList
from dowse.mcp.tools import Call
from dowse.screening.masking import screen_text
from dowse.searching.exact_search import FindMatches, Occurrences, search_text
from dowse.searching.passages import Passage
from dowse.searching.query_terms import SearchQuery
from dowse.searching.term_positions import terms_among
from dowse.text.analysis import terms_of
from dowse.types import View
from dowse.visible_text import shown_name

WRAPPED_CHARACTERS = 160
"""A line that is too long to be shown, as the pages of a site are, is broken into lines of this length."""
_WRAPPED_LINE = re.compile(rf"\S.{{0,{WRAPPED_CHARACTERS - 1}}}(?!\S)|\S.{{{WRAPPED_CHARACTERS - 1}}}")
"""The next line of such a length. The standard library's textwrap takes 1.1 s for 2 MB in one line, this 0.01 s."""
SECTION_CHARACTERS = 2_000
"""Of a longer section, the lines around the passage that the source found are shown."""
LINES_ABOVE = 2
_ELLIPSES = re.compile(r"(?<!\s)\s*(?:…|\.\.\.)\s*")
_LOCATING_WORDS = 8
"""Words by which a passage is found in the text if it is not there as a whole."""


def item_text(item_id: str, text: str) -> SourceText:
    """Return the text of an item with its lines and sections, with secrets masked."""
    shown = screen_text(wrapped(text), path=item_id, masks=True).text
    return SourceText(item_id, shown, "markdown", "docs", ())


def item_section(source: SourceText, item: FetchedItem, passage: str, terms: frozenset[str]) -> FoundDefinition:
    """Return the section that has a passage, or the lines around it; a short text is shown whole."""
    lines, line = source.lines, _line_of(source.text, passage, terms)
    start, end, names = 1, len(lines), tuple[str, ...]()
    unit = source.unit_at(line)
    if len(source.text) > SECTION_CHARACTERS and unit:
        start, end, names = unit.start + 1, unit.end + 1, unit.names
    first, last = _lines_around(lines, start, end, line)
    title = _shown_title(item)
    headings = (title, *(name for name in names if name != title))
    flags = screen_text("\n".join(lines[first - 1 : last]), path=source.path, masks=False).flags
    found = Passage(
        first, last, "\n".join(lines[first - 1 : last]), headings=headings,
        flagged_lines=tuple(sorted({first + flag.line - 1 for flag in flags})),
        whole=None if (first, last) == (start, end) else (start, end),
    )  # fmt: skip
    return FoundDefinition(source.path, found, address=web_address(item.url))


def _shown_title(item: FetchedItem) -> str:
    """Return the title of an item on one line, with secrets masked."""
    return shown_name(screen_text(item.title).text)


def web_address(address: str) -> str:
    """Return the address of a page with secrets masked; empty for one that only this server knows, as the id says it."""
    return screen_text(address).text if address.startswith(("http://", "https://")) else ""


def wrapped(text: str) -> str:
    """Return a text whose lines can be shown whole."""
    rows = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    return "\n".join(
        row if len(row) <= MAX_LINE_CHARACTERS else "\n".join(map(str.rstrip, _WRAPPED_LINE.findall(row)))
        for row in rows
    )


def _line_of(text: str, passage: str, terms: frozenset[str]) -> int:
    """Return the line of a passage with most of the terms; the first line if the passage is not found.

    The passage may be written with other blanks than the text.
    """
    for part in _ELLIPSES.split(passage):
        words = part.split()
        for some in (words[:-1], words[:_LOCATING_WORDS]):  # the last word may be cut
            if some and (found := re.search(r"\s+".join(map(re.escape, some)), text)):
                first = text.count("\n", 0, found.start()) + 1
                counts = [len(terms_among(line, terms)) for line in found[0].split("\n")]
                return first + counts.index(max(counts))
    return 1


def _lines_around(lines: list[str], start: int, end: int, line: int) -> tuple[int, int]:
    """Return the first and last of the lines of a section that fit, around one of them."""
    if sum(len(text) + 1 for text in lines[start - 1 : end]) <= SECTION_CHARACTERS:
        return start, end
    last = min(max(line, start), end)
    first = max(start, last - LINES_ABOVE)
    left = SECTION_CHARACTERS - sum(len(text) + 1 for text in lines[first - 1 : last])
    while last < end and len(lines[last]) < left:
        last += 1
        left -= len(lines[last - 1]) + 1
    while first > start and len(lines[first - 2]) < left:
        first -= 1
        left -= len(lines[first - 1]) + 1
    return first, last


SOURCE_ID = re.compile(rf"(?:{'|'.join(SOURCE_KINDS)})/\S+")
"""The id of an item of any source."""
SHOWN_SHARE = 0.5
"""An item is shown if its score is at least this share of the best one's. Beside 28 questions about seven projects, a page of
three foreign sites is shown for one; for 72 queries about their pages, the right page is shown for all."""


class FoundItems(NamedTuple):
    """The items of other sources that answer, in order: those better than everything in the folders, and those after it."""

    before: list[FoundDefinition]
    after: list[FoundDefinition]
    problems: list[str]
    has_files: bool = True
    """Whether a file of the folders is as good as these."""


NOTHING = FoundItems([], [], [])


class OtherSources:
    """The sources of a server that are no folders of its files."""

    def __init__(self, sources: SourceList, view: View) -> None:
        """`view` says whether the folders are answered from as projects or as documents."""
        self._sources = sources
        self._others = replace(sources, projects=None, folders=None)
        self._all = sources if view is View.DOCUMENTS else replace(sources, folders=None)
        """Without the documents of projects, which are found as files of the project."""

    async def known(self, call: Call) -> list[SearchSource]:
        """Return the sources there are."""
        found, _ = await self._others.find(call)
        return found

    async def names(self, call: Call) -> list[str]:
        """Return the names of the sources, with which the ids of their items begin."""
        return [source.name for source in await self.known(call)]

    async def find_items(self, call: Call, query: SearchQuery) -> FoundItems:
        """Return the items that answer a question, in the order of all sources together."""
        arguments, others = call.arguments, await self.known(call)
        is_place = self._sources.place is not None  # which has code and tests
        if not others or (
            not is_place and (arguments["kind"] == "code" or arguments["tests"] == "only" or arguments.get("project"))
        ):
            return NOTHING
        asked = SourceQuery(query, int(arguments["limit"]), arguments["path"], kind=arguments["kind"], asks_model=False)
        found = await search_all(self._all, call, asked, is_quick=True)
        names = {source.name for source in others}
        best = found.results[0].score if found.results else 0.0
        shown = [one for one in found.results[: asked.limit] if one.score >= SHOWN_SHARE * best]
        is_other = [one.item.source in names for one in shown]
        first_file = is_other.index(False) if False in is_other else len(shown)
        problems = [f"{name} is left out: {problem}" for name, problem in found.problems.items() if name in names]
        before = await self._sections(call, shown[:first_file], query)
        after = await self._sections(
            call, [one for one, other in zip(shown[first_file:], is_other[first_file:], strict=True) if other], query
        )
        return FoundItems(before, after, problems, has_files=not before or False in is_other)

    async def _sections(self, call: Call, ranked: Sequence[RankedItem], query: SearchQuery) -> list[FoundDefinition]:
        found, terms = [], frozenset(term for word in query.positive for term in terms_of(word))
        for one in ranked:
            try:
                _, item = await fetch_one(self._others, call, one.item.id)
            except DowseError:  # it was removed meanwhile
                continue
            found.append(item_section(item_text(one.item.id, item.text), item, one.item.text, terms))
        return found

    async def read(self, call: Call, place: RequestedPlace, characters: int) -> str:
        """Return a place of an item as text, below its title and its address; raise ItemNotFound if there is none."""
        _, item = await fetch_one(self._sources, call, place.path)
        head = f"{_shown_title(item)}  {web_address(item.url)}".rstrip()
        return f"{head}\n{read_lines(item_text(place.path, item.text), place, place.path, characters)}"

    async def find(
        self, call: Call, texts: Sequence[FindMatches], limit: int
    ) -> tuple[list[Occurrences], dict[str, SourceText]]:
        """Return the lines with some texts, and the items that have them."""
        found = [Occurrences(limit=limit) for _ in texts]
        sources, deadline = dict[str, SourceText](), time.monotonic() + FIND_SECONDS

        def look_at(name: str, items: Iterable[tuple[str, str]]) -> None:
            for locator, text in items:
                item_id, shown = id_of(name, locator), wrapped(text)
                for matches, occurrences in zip(texts, found, strict=True):
                    search_text(item_id, shown, matches, deadline, occurrences)
                if any(item_id in occurrences.counts for occurrences in found):
                    sources[item_id] = item_text(item_id, shown)

        for source in await self.known(call):
            try:
                await asyncio.to_thread(look_at, source.name, await source.texts())
            except (TimeoutError, ItemNotFound):
                for occurrences in found:
                    occurrences.is_complete = False
        return found, sources
