"""The sources of a server beside its folders, as assistants are answered from them: sites, research archives and notes."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dowse.answers.definition_replies import FoundDefinition
from dowse.answers.item_text import item_section, item_text, web_address, wrapped
from dowse.answers.place_reading import RequestedPlace, read_lines
from dowse.answers.source_text import SourceText
from dowse.errors import DowseError, ItemNotFound
from dowse.federation.federated_ranking import RankedItem
from dowse.federation.federated_search import FederatedQuery, fetch_one, search_all
from dowse.federation.federation_types import SearchSource, SourceQuery
from dowse.federation.result_ids import id_of
from dowse.federation.source_list import SourceList
from dowse.mcp.tools import Call
from dowse.searching.exact_search import FindMatches, Occurrences, search_text
from dowse.searching.query_terms import SearchQuery
from dowse.text.analysis import terms_of
from dowse.types import View

SOURCE_ID = re.compile(r"(?:project|documents|site|archive|index)/\S+")
"""The id of an item of any source."""
SHOWN_SHARE = 0.5
"""An item is shown if its score is at least this share of the best one's. Beside 28 questions about seven projects, a page of
three foreign sites is shown for one; for 72 queries about their pages, the right page is shown for all."""
FIND_SECONDS = 5.0
"""How long a source is searched for a text."""


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
        is_beside = (
            sources.folders is not None and view is View.PROJECT and sources.folders.service is not sources.projects
        )
        self._others = replace(sources, projects=None, folders=sources.folders if is_beside else None)
        self._all = sources if is_beside or view is View.DOCUMENTS else replace(sources, folders=None)
        """Without the documents of projects, which are found as files of the project."""

    async def known(self, call: Call) -> list[SearchSource]:
        """Return the sources there are."""
        found, _ = await self._others.find(call)
        return found

    async def names(self, call: Call) -> list[str]:
        """Return the names of the sources, with which the ids of their items begin."""
        return [source.name for source in await self.known(call)]

    async def search(self, call: Call, query: SearchQuery) -> FoundItems:
        """Return the items that answer a question, in the order of all sources together."""
        arguments, others = call.arguments, await self.known(call)
        if not others or arguments["kind"] == "code" or arguments["tests"] == "only" or arguments.get("project"):
            return NOTHING
        asked = SourceQuery(query, int(arguments["limit"]), arguments["path"], kind=arguments["kind"])
        found = await search_all(self._all, call, FederatedQuery(asked, is_quick=True))
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
        head = f"{item.title}  {web_address(item.url)}".rstrip()
        return f"{head}\n{read_lines(item_text(place.path, item.text), place, place.path, characters)}"

    async def find(
        self, call: Call, texts: Sequence[FindMatches], limit: int
    ) -> tuple[list[Occurrences], dict[str, SourceText]]:
        """Return the lines with some texts, and the items that have them."""
        found = [Occurrences(limit=limit) for _ in texts]
        sources, deadline = dict[str, SourceText](), time.monotonic() + FIND_SECONDS
        for source in await self.known(call):

            def look(locator: str, text: str, name: str = source.name) -> None:
                item_id, shown = id_of(name, locator), wrapped(text)
                for matches, occurrences in zip(texts, found, strict=True):
                    search_text(item_id, shown, matches, deadline, occurrences)
                if any(item_id in occurrences.counts for occurrences in found):
                    sources[item_id] = item_text(item_id, text)

            try:
                await source.each_text(look)
            except (TimeoutError, ItemNotFound):
                for occurrences in found:
                    occurrences.is_complete = False
        return found, sources
