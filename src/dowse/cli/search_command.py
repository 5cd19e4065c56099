"""`dowse search`: ranked hits with their passages, every occurrence of a text, or commits."""

import contextlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from dowse.cli.common_arguments import json_option, parse_folder
from dowse.cli.output import CommandReply, pluralize, progress_bar, say, say_if_locked, show_warnings
from dowse.cli.result_output import coverage_as_json, coverage_notes, filters_note, show_hits, show_occurrences
from dowse.errors import UsageError
from dowse.indexes.early_parsing import warm_up_parser

if TYPE_CHECKING:
    from dowse.indexes.index import ProjectIndex
    from dowse.searching.exact_search import Occurrence, Occurrences
    from dowse.searching.passages import Passage
    from dowse.searching.search import Answer, SearchHit
    from dowse.types import Coverage

MAX_PAGE = 1000
_OPTION_NAMES = {
    "exact": "--exact", "is_pattern": "--regex", "offset": "--offset", "seconds": "--seconds", "mode": "--mode",
    "alpha": "--alpha", "detail": "--detail", "language": "--language", "kind": "--code or --docs",
}  # fmt: skip
"""The options that have no effect on a search of the history."""


@click.command()
@click.argument("query")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_PAGE),
    default=None,
    help="Maximum number of hits (default 10; with --exact or --regex 100).",
)
@click.option("--path", "glob", metavar="GLOB", help="Only files whose path matches, such as 'src/**/*.py'.")
@click.option("--language", metavar="NAME", help="Only files in this language, such as python.")
@click.option("--code", "kind", flag_value="code", help="Only code.")
@click.option("--docs", "kind", flag_value="docs", help="Only documentation.")
@click.option(
    "--budget",
    metavar="TOKENS",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="Maximum length of the output.",
)
@click.option("--exact", is_flag=True, help="Print every exact occurrence of QUERY.")
@click.option("--regex", "is_pattern", is_flag=True, help="Print every match of the regular expression QUERY.")
@click.option(
    "--offset", type=click.IntRange(0), default=0, help="Skip this many occurrences (with --exact or --regex)."
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 600),
    default=10.0,
    show_default=True,
    help="Time limit in seconds (with --exact or --regex).",
)
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "vector", "lexical"]),
    default="hybrid",
    show_default=True,
    help="hybrid: by words and meaning; vector: by meaning; lexical: by words.",
)
@click.option("--alpha", type=click.FloatRange(0, 1), default=None, help="Weight of meaning in a hybrid search.")
@click.option(
    "--detail",
    type=click.Choice(["outline", "passages", "full"]),
    default="passages",
    show_default=True,
    help="outline: one line of each hit; full: whole functions and sections. Both say why it was found.",
)
@click.option("--history", "in_history", is_flag=True, help="Search the commits of the repository.")
@click.option("--since", metavar="DATE", help="Only commits since a day, month or year, such as 2025-05.")
@click.option("--until", metavar="DATE", help="Only commits until a day, month or year.")
@click.option("--authors", is_flag=True, help="Show the authors of commits.")
@click.option("--wait", is_flag=True, help="Finish indexing, or reading the history, before the search.")
@json_option
def search(
    query: str, folder: str | None, *, exact: bool, is_pattern: bool, in_history: bool, **how: Any
) -> int | CommandReply:
    """Search the files in DIR for QUERY.

    DIR defaults to the project around the working directory. QUERY is words, names or a question:
    +word is required, -word is excluded, "some words" is a phrase. Write -- before a QUERY that
    begins with a dash.

    If the project has no index, indexing starts in the background, and files that are not
    indexed yet are searched by words alone. The output says how many.

    With --history, commits are found by their message, the paths and the symbols that they change.

    Exit code 1: nothing was found.
    """
    _require_options_that_count(is_exact=exact, is_pattern=is_pattern, in_history=in_history)
    query = _as_unicode(query)
    if not query:
        raise UsageError("The query is empty. Say what to look for.")
    root = parse_folder(folder)
    if not in_history:
        warm_up_parser(root)
    from dowse.indexes.project_lookup import open_or_find

    project = open_or_find(root)
    show_warnings(project.warnings)
    shown = len(project.warnings)
    if in_history:
        from dowse.cli.history_output import search_commits

        with contextlib.closing(project):
            return search_commits(project, query, **how)
    if exact or is_pattern or how["wait"]:
        say_if_locked(project)
    try:
        if exact or is_pattern:
            return _find_all(project, query, is_pattern=is_pattern, **how)
        return _search(project, query, **how)
    finally:
        show_warnings(project.warnings[shown:])
        project.close()


def _require_options_that_count(*, is_exact: bool, is_pattern: bool, in_history: bool) -> None:
    """Refuse options that would have no effect together."""
    if is_exact and is_pattern:
        raise click.UsageError("--exact and --regex exclude each other")
    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if in_history:
        if idle := sorted(given & _OPTION_NAMES.keys()):
            raise click.UsageError(f"{_OPTION_NAMES[idle[0]]} has no effect with --history")
        return
    if idle := sorted(given & {"since", "until", "authors"}):
        raise click.UsageError(f"--{idle[0]} needs --history")
    if not (is_exact or is_pattern):
        if idle := sorted(given & {"offset", "seconds"}):
            raise click.UsageError(f"--{idle[0]} needs --exact or --regex")
    elif idle := sorted(given & {"mode", "alpha", "detail"}):
        raise click.UsageError(f"--{idle[0]} has no effect with {'--exact' if is_exact else '--regex'}")


def _search(project: "ProjectIndex", query: str, *, wait: bool, as_json: bool, **how: Any) -> int | CommandReply:
    from dowse.indexes.project_search import search as search_project
    from dowse.indexes.query_vectors import InProcessEncoder
    from dowse.searching.search import SearchOptions

    options = SearchOptions(
        how["limit"] or 10, how["kind"], how["glob"], how["language"], how["budget"], how["mode"], how["alpha"],
        detail=how["detail"],
    )  # fmt: skip
    encoder = InProcessEncoder(project.settings)
    if options.mode != "lexical":
        encoder.open_early(project)
    with progress_bar(f"Indexing {project.root.name}", is_expected=False) as progress:
        answer, coverage = search_project(project, query, options, waits=wait, progress=progress, encoder=encoder)
    exit_code = 0 if answer.hits else 1
    if as_json:
        return CommandReply(_answer_as_json(answer, coverage), exit_code)
    show_hits(answer, options.detail)
    for note in _make_notes(answer, coverage):
        say(note)
    return exit_code


def _find_all(
    project: "ProjectIndex", query: str, *, is_pattern: bool, as_json: bool, **how: Any
) -> int | CommandReply:
    from dowse.indexes.project_search import find_all
    from dowse.searching.search import SearchOptions

    options = SearchOptions(how["limit"] or 100, how["kind"], how["glob"], how["language"], how["budget"])
    page = {"offset": how["offset"], "seconds": how["seconds"]}
    with progress_bar(f"Indexing {project.root.name}", is_expected=False) as progress:
        found, coverage = find_all(project, query, options, is_pattern=is_pattern, progress=progress, **page)
    exit_code = 0 if found.total else 1
    end = found.offset + len(found.found)
    next_offset = end if found.found and end < found.total else None
    if as_json:
        return CommandReply(_occurrences_as_json(found, coverage, next_offset), exit_code)
    show_occurrences(found, query, is_pattern=is_pattern)
    complete = "yes" if found.is_complete else "no"
    say(f"{pluralize(found.total, 'occurrence')} in {pluralize(found.files, 'file')}, complete: {complete}")
    for note in [*([f"more with --offset {next_offset}"] if next_offset else []), *coverage_notes(coverage)]:
        say(note)
    return exit_code


def _as_unicode(text: str) -> str:
    """Return a query with bytes that are not UTF-8 replaced, as they are when a file is read."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _make_notes(answer: "Answer", coverage: "Coverage") -> list[str]:
    notes = []
    if not answer.hits:
        notes.append("nothing found")
    if answer.hits_without_filters:
        notes.append(filters_note(answer.hits_without_filters, "hit"))
    if answer.corrected:
        notes.append(
            "corrected: " + ", ".join(f"{known} instead of {word}" for word, known in answer.corrected.items())
        )
    if answer.is_cut:
        notes.append("the output was cut; raise --budget to see more")
    if answer.outdated:
        notes.append(f"left out because they changed during the search: {', '.join(answer.outdated[:5])}")
    return [*notes, *coverage_notes(coverage)]


def _answer_as_json(answer: "Answer", coverage: "Coverage") -> dict[str, Any]:
    return {
        "query_parsed": answer.query.as_json(),
        "results": [_hit_as_json(hit) for hit in answer.hits],
        "totalResults": len(answer.hits),
        **({"withoutFilters": answer.hits_without_filters} if answer.hits_without_filters else {}),
        "corrected": dict(answer.corrected),
        "cut": answer.is_cut,
        "outdated": list(answer.outdated),
        "searchedBy": dict(answer.methods),
        "without": answer.skipped_method or None,
        "coverage": coverage_as_json(coverage),
        "searchTimeMs": round(answer.seconds * 1000, 1),
    }


def _hit_as_json(hit: "SearchHit") -> dict[str, Any]:
    from dowse.searching.explain import strongest_signals

    return {
        "path": hit.path,
        "score": hit.relevance,
        "startLine": hit.passages[0].start_line if hit.passages else 1,
        "endLine": hit.passages[0].end_line if hit.passages else 1,
        "language": hit.language,
        "kind": hit.kind,
        "title": hit.title,
        "passages": [_match_as_json(passage) for passage in hit.all_passages],
        **({"sameIn": list(hit.same_in)} if hit.same_in else {}),
        "why": strongest_signals(hit.signals),
        **({"direct": True} if hit.is_direct else {}),
    }


def _occurrences_as_json(found: "Occurrences", coverage: "Coverage", next_offset: int | None) -> dict[str, Any]:
    return {
        "occurrences": [_match_as_json(occurrence) for occurrence in found.found],
        "total": found.total,
        "files": found.files,
        "complete": found.is_complete,
        "nextOffset": next_offset,
        "coverage": coverage_as_json(coverage),
        "searchTimeMs": round(found.seconds * 1000, 1),
    }


def _match_as_json(match: "Passage | Occurrence") -> dict[str, Any]:
    """Return a match, with masked secrets and content warnings only if there are any."""
    optional = ("masked", "flags", "flagged_lines", "numbers", "signature", "whole")
    return {key: value for key, value in asdict(match).items() if value or key not in optional}
