"""Folders, sites, archives and notes, searched at once by the federation."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from dowse.api.results import Hit, Results, Status
from dowse.errors import ItemNotFound, NoSuchDocument
from dowse.federation.federated_ranking import RankedItem
from dowse.federation.federated_search import FederatedResult, fetch_one, search_all, source_statuses
from dowse.federation.federation_types import SourceQuery
from dowse.federation.source_list import SourceList
from dowse.mcp.tools import Call
from dowse.searching.query_terms import SearchQuery
from dowse.text.analysis import terms_of
from dowse.types import Kind


class AllSources:
    """The sources of a server, asked by a program. All work on them runs on one thread, which has their event loop."""

    def __init__(self, roots: Sequence[Path], sites: Sequence[str], *, archives: bool, notes: bool) -> None:
        self._loop = asyncio.Runner()
        self._list = SourceList(Path.cwd(), indexes_projects=True)
        if roots:
            from dowse.keeping.served_index import Service

            self._list.projects = Service(list(roots))
        if sites:
            from dowse.surfaces.sites.sites_surface import open_sites

            self._list.sites = open_sites(sites)
        if archives:
            from dowse.archives.archive_locations import find_locations
            from dowse.surfaces.archives.archive_surface import ArchiveSurface

            locations = find_locations()
            locations.require_any()
            self._list.archives = ArchiveSurface(locations)
        if notes:
            from dowse.surfaces.notes.notes_surface import NotesSurface

            self._list.notes = NotesSurface(has_memory=False)

    def search(
        self, query: SearchQuery, limit: int, kind: Kind | None, path: str | None, language: str | None
    ) -> Results[Hit]:
        """Search all sources."""
        asked = SourceQuery(query, limit, path, language, kind=kind)
        found = self._loop.run(search_all(self._list, Call(), asked))
        is_complete = not found.problems and all(
            answer.coverage is None or answer.coverage.is_complete for answer in found.answers.values()
        )
        items = tuple(map(_hit, found.results[:limit]))
        terms = frozenset(term for word in query.positive for term in terms_of(word))
        return Results(items, query.text, len(items), is_complete, tuple(_notes(found)), terms)

    def read(self, item_id: str) -> str:
        """Return the whole text of an item by the id of its hit."""
        try:
            _, item = self._loop.run(fetch_one(self._list, Call(), item_id))
        except ItemNotFound as error:
            raise NoSuchDocument(f"{item_id} was not found: {error}.") from error
        return item.text

    def status(self) -> list[Status]:
        """Return the state of each source."""
        found = self._loop.run(source_statuses(self._list, Call()))
        return [
            Status(
                one.name, one.state, one.total,  # type: ignore[arg-type] # the words are the same
                one.counts.get("chunks", 0), last_updated=one.last_updated, problem=one.problem,
            )
            for one in found
        ]  # fmt: skip

    def close(self) -> None:
        """Stop everything."""
        for one in (self._list.projects, self._list.archives, self._list.notes):
            if one:
                one.close()
        self._loop.close()


def _hit(ranked: RankedItem) -> Hit:
    item, more = ranked.item, ranked.item.more
    lines = (more.get("startLine", 0), more.get("endLine", 0))
    return Hit(
        str(more.get("path") or item.title), lines, item.text, ".".join(item.around), score=ranked.score, id=item.id,
        source=item.source, url=item.url, masked=tuple(more.get("masked", ())), flags=tuple(more.get("flags", ())),
    )  # fmt: skip


def _notes(found: FederatedResult) -> list[str]:
    problems = {**found.problems, **found.left_out}
    notes = [f"{name}: {why}" for name, why in problems.items()]
    return notes + [f"{name}: {warning}" for name, answer in found.answers.items() for warning in answer.warnings]
