"""The output of `dowse search --deps`: definitions of packages, as text or as JSON."""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from dowse.answers.definition_search import definition_options
from dowse.answers.package_answers import describe_packages
from dowse.cli.output import CommandReply, progress_bar, say
from dowse.cli.result_output import content_notes, show_definitions
from dowse.dependencies.package_search import Dependencies, PackageAnswer
from dowse.mcp.reply_budget import CHARACTERS_PER_TOKEN
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.surfaces.project.project_replies import ProjectAnswer, search_reply
from dowse.types import Coverage


def search_packages(root: Path, text: str, package: str | None, **how: Any) -> int | CommandReply:
    """Search the dependencies of a project, and print what was found."""
    query = parse_search_query(text, how["guesses"])
    with contextlib.closing(Dependencies(root.resolve())) as dependencies:
        if how["wait"]:
            with progress_bar("Indexing packages", is_expected=False) as progress:
                dependencies.index_packages(package, progress)
        if how["as_json"]:
            return _make_reply(lambda options: dependencies.search(query, options, package), **how)
        options = replace(
            definition_options(how["limit"], how["kind"], how["glob"], how["language"]),
            mode=how["mode"], alpha=how["alpha"],
        )  # fmt: skip
        found = dependencies.search(query, options, package)
    described = describe_packages(found).text
    show_definitions(described, found.answer.terms)
    for note in [*([] if described else ["nothing found"]), *content_notes(_shown_hits(found)), *found.notes]:
        say(note)
    return 0 if described else 1


def _shown_hits(found: PackageAnswer) -> list[Any]:
    return [replace(hit, path=found.show(hit.path)) for hit in found.answer.hits]


def _make_reply(ask: Any, *, offset: int, **how: Any) -> CommandReply:
    limit = how["limit"] or 10
    options = SearchOptions(
        offset + limit, how["kind"], how["glob"], how["language"], how["mode"], how["alpha"], detail=how["detail"]
    )
    found: PackageAnswer = ask(options)
    searched = found.answer.searched
    coverage = Coverage(
        searched.indexed, searched.indexed + searched.direct + searched.unread, is_indexing=bool(searched.direct),
        is_whole=not searched.direct, direct=searched.direct,
    )  # fmt: skip
    reply = search_reply(
        [ProjectAnswer(found.answer, coverage, found.show, list(found.notes), (), options.detail)], offset, limit,
        how["budget"] * CHARACTERS_PER_TOKEN,
    )  # fmt: skip
    found_any = bool(found.answer.hits[offset:])
    return CommandReply({**reply, "searchTimeMs": round(found.answer.seconds * 1000, 1)}, 0 if found_any else 1)
