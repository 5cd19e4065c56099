"""What the commands show of a place: its projects, and the hits of a search."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dowse.cli.output import CommandReply, pluralize, say, show, show_warnings
from dowse.cli.result_output import content_notes, show_definitions, show_occurrences
from dowse.mcp.reply_budget import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from dowse.places.place_store import PlaceStore


@contextlib.contextmanager
def _opened(location: str, projects: tuple[str, ...] = ()) -> "Iterator[PlaceStore]":
    from dowse.places.place_store import PlaceStore
    from dowse.places.place_table import SharedPlace

    store = PlaceStore(SharedPlace(location), projects)
    show_warnings(store.warnings)
    with contextlib.closing(store):
        yield store


def show_place(location: str, *, as_json: bool) -> int | CommandReply:
    """List the projects of a place."""
    from dowse.surfaces.organisation.place_surface import projects_reply

    with _opened(location) as store:
        if as_json:
            return CommandReply(projects_reply(store, sys.maxsize))
        for project in store.projects():
            counts = f"{pluralize(project.files, 'file')}, {pluralize(project.chunks, 'chunk')}"
            show(f"{project.name}  {counts}, commit {project.commit[:12]}, published {project.published}")
        if not store.projects():
            say(f"Nothing has been published to {location}.")
    return 0


def search_published(
    location: str, query: str, projects: tuple[str, ...], *, is_exact: bool, is_pattern: bool, as_json: bool, **how: Any
) -> int | CommandReply:
    """Search a place, and show what was found as a search of a folder does."""
    with _opened(location, projects) as store:
        if is_exact or is_pattern:
            return _show_occurrences(store, query, is_pattern=is_pattern, as_json=as_json, **how)
        return _show_hits(store, query, as_json=as_json, **how)


def _show_hits(store: "PlaceStore", query: str, *, as_json: bool, offset: int, **how: Any) -> int | CommandReply:
    from dowse.answers.definition_search import definition_options, describe_definitions
    from dowse.searching.query_terms import parse_search_query
    from dowse.searching.search import SearchOptions
    from dowse.surfaces.organisation.place_search import coverage_of, search_place
    from dowse.surfaces.project.project_replies import ProjectAnswer, search_reply

    parsed = parse_search_query(query, how["guesses"])
    if as_json:
        limit = how["limit"] or 10
        options = SearchOptions(
            offset + limit, how["kind"], how["glob"], how["language"], how["mode"], how["alpha"], detail=how["detail"]
        )
        answer = search_place(store, parsed, options)
        found = ProjectAnswer(answer, coverage_of(store), str, store.warnings, (), options.detail)
        reply = search_reply([found], offset, limit, how["budget"] * CHARACTERS_PER_TOKEN)
        return CommandReply(
            {**reply, "searchTimeMs": round(answer.seconds * 1000, 1)}, 0 if answer.hits[offset:] else 1
        )
    options = definition_options(how["limit"], how["kind"], how["glob"], how["language"])
    answer = search_place(store, parsed, replace(options, mode=how["mode"], alpha=how["alpha"]))
    text = describe_definitions(None, answer).text
    show_definitions(text, answer.terms)
    for note in [*([] if answer.hits else ["nothing found"]), *content_notes(answer.hits)]:
        say(note)
    return 0 if text else 1


def _show_occurrences(
    store: "PlaceStore", query: str, *, is_pattern: bool, as_json: bool, offset: int, **how: Any
) -> int | CommandReply:
    from dowse.indexes.project_search import ExactQuery
    from dowse.searching.search import SearchOptions
    from dowse.surfaces.organisation.place_search import coverage_of, find_text
    from dowse.surfaces.project.text_replies import occurrences_reply

    options = SearchOptions(how["limit"] or 100, how["kind"], how["glob"], how["language"])
    found = find_text(store, ExactQuery(query, options, how["seconds"], is_pattern, offset))
    if as_json:
        budget = how["budget"] * CHARACTERS_PER_TOKEN
        reply = occurrences_reply([(str, found, coverage_of(store))], offset, options.limit, budget, store.warnings)
        return CommandReply(reply, 0 if found.total else 1)
    show_occurrences(found, query, is_pattern=is_pattern)
    complete = "yes" if found.is_complete else "no"
    say(f"{pluralize(found.total, 'occurrence')} in {pluralize(found.files, 'file')}, complete: {complete}")
    end = offset + len(found.found)
    if found.found and end < found.lines:
        say(f"more with --offset {end}")
    return 0 if found.total else 1
