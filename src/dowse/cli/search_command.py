"""`dowse search`: the definitions that answer, every occurrence of a text, or commits."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from dowse.cli.common_arguments import (
    FILE_TEXT,
    FOLDER_TEXT,
    json_option,
    parse_query,
    parse_root,
    prints_json,
    value_option,
)
from dowse.cli.output import CommandReply, escape, show_warnings, using
from dowse.cli.result_output import (
    content_notes,
    correction_notes,
    coverage_notes,
    definition_lines,
    filters_note,
    format_flags,
    occurrence_lines,
)
from dowse.errors import ProjectNotDetected, UsageError
from dowse.indexes.early_parsing import warm_up_parser
from dowse.mcp.replies import CHARACTERS_PER_TOKEN
from dowse.types import Progress
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.api.folder_target import FolderTarget
    from dowse.api.search_targets import Found
    from dowse.cli.output import SearchTarget
    from dowse.indexes.index import ProjectIndex
    from dowse.searching.history.history_search import CommitHit

MAX_PAGE = 1000
IDLE_IN_HISTORY = {
    "exact", "is_pattern", "offset", "seconds", "mode", "alpha", "detail", "language", "kinds", "guesses",
}  # fmt: skip
"""The options that have no effect on a search of the history."""


@click.command()
@click.argument("words", metavar="QUERY... [DIR|ADDRESS]...", nargs=-1, required=True, type=FOLDER_TEXT)
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_PAGE),
    help="Maximum number of definitions (default 5), of results with "
    "--json or --history (10), or of matches with --exact or --regex (100).",
)
@click.option(
    "--path",
    "glob",
    metavar="PATH",
    type=FILE_TEXT,
    help="Only this file or folder, at any depth, or files whose path matches a pattern such as 'src/**/*.py'.",
)
@click.option("--language", metavar="NAME", help="Only files in this language, such as python or py.")
@click.option("--code", "kinds", flag_value="code", multiple=True, help="Only code.")
@click.option("--docs", "kinds", flag_value="docs", multiple=True, help="Only documentation.")
@value_option("--budget", click.IntRange(1), 20_000, "Maximum length of the output (with --json).", metavar="TOKENS")
@click.option("--exact", is_flag=True, help="Print every exact occurrence of QUERY.")
@click.option("--regex", "is_pattern", is_flag=True, help="Print every match of the regular expression QUERY.")
@click.option(
    "--offset", type=click.IntRange(0), default=0, help="Skip this many results (with --json, --exact or --regex)."
)
@value_option("--seconds", click.FloatRange(0.1, 600), 10.0, "Time limit in seconds (with --exact or --regex).")
@value_option(
    "--mode",
    ("hybrid", "vector", "lexical"),
    "hybrid",
    "hybrid: by words and meaning; vector: by meaning; lexical: by words.",
)
@click.option("--alpha", type=click.FloatRange(0, 1), help="Weight of meaning in a hybrid search.")
@value_option(
    "--detail",
    ("outline", "passages", "full"),
    "passages",
    "With --json, what each result shows: one line, the lines that answer, or a whole function or section.",
)
@click.option(
    "--name",
    "guesses",
    metavar="NAME",
    multiple=True,
    help="A guess of what the code calls it; may be given several times.",
)
@click.option("--deps", "in_dependencies", is_flag=True, help="Search the packages that the project uses (dowse deps).")
@click.option("--package", metavar="NAME", help="With --deps, only this package, such as httpx.")
@click.option("--history", "in_history", is_flag=True, help="Search the commits of the repository.")
@click.option("--since", metavar="DATE", help="Only commits since a day, month or year, such as 2025-05.")
@click.option("--until", metavar="DATE", help="Only commits until a day, month or year.")
@click.option("--authors", is_flag=True, help="Show the authors of commits.")
@click.option("--store", metavar="PLACE", help="Search what is published in this folder or address, not DIR.")
@click.option(
    "--project", "projects", metavar="NAME", multiple=True, help="Of --store, only this project. May be repeated."
)
@click.option("--wait", is_flag=True, help="Finish indexing, or reading the history, before the search.")
@json_option
def search(words: tuple[str, ...], **how: Any) -> CommandReply:
    """Search the files in DIR for QUERY.

    DIR defaults to the project around the working directory. QUERY is words, names or a question:
    +word is required, -word is excluded, "some words" is a phrase. path:src -path:tests lang:py
    and kind:docs limit the files. Write -- before a QUERY that begins with a dash.

    Several DIR are ranked together, and paths begin with their names. Of a QUERY without quotes,
    the words at the end that are folders are DIR. ADDRESS is that of a git repository, such as
    https://host/owner/name or ssh://git@host/owner/name@branch: git clones one commit of it into
    the storage root, and later searches fetch the newest one.

    The functions, classes and sections that answer are printed whole, with their callers and the
    constants that they use; other places by their first line. With --json, the reply of the tools
    search_code and search_docs is printed.

    If the project has no index, indexing starts in the background, and files that are not
    indexed yet are searched by words alone. The output says how many.

    With --history, commits are found by their message, the paths and the symbols that they change.

    With --deps, the installed packages that the project declares are searched, at their versions.

    Exit code 1: nothing was found.
    """
    _require_options_that_count(how)
    query, roots = _split_words(words)
    root = roots[0] if roots else None
    if len(roots) > 1 and (how["in_history"] or how["in_dependencies"]):
        raise UsageError("--history and --deps take one DIR.")
    kinds = set(how["kinds"])
    how["kind"] = kinds.pop() if len(kinds) == 1 else None
    if how["store"] or how["projects"]:
        if roots or how["in_history"] or how["in_dependencies"] or not how["store"]:
            raise UsageError("--store PLACE is searched in place of DIR, without history; --project needs it.")
        from dowse.api.search_targets import PlaceTarget

        return _answer(PlaceTarget(how["store"], how["projects"]), query, how)
    if not how["in_history"]:
        warm_up_parser(root)
    from dowse.indexes.project_lookup import open_each

    try:
        found = open_each(roots)
    except ProjectNotDetected as error:
        if not roots and len(words) > 1:
            raise ProjectNotDetected(f"{words[-1]} is not a folder. {error}") from error
        raise
    from dowse.api.folder_target import FolderTarget

    if how["in_history"]:
        with using(target := FolderTarget(found), target.name):
            return _search_commits(target, query, how)
    if how["in_dependencies"]:
        from dowse.api.search_targets import PackageTarget

        show_warnings(found[0].warnings)
        return _answer(PackageTarget(root or found[0].root, how["package"], waits=how["wait"]), query, how)
    waits = bool(how["exact"] or how["is_pattern"] or how["wait"])
    return _answer(FolderTarget(found, waits=waits), query, how, *(found if waits else ()))


def _answer(target: "SearchTarget", query: str, how: dict[str, Any], *locked: "ProjectIndex") -> CommandReply:
    """Search a target and return the answer."""
    with using(target, target.name, *locked) as progress:
        if how["exact"] or how["is_pattern"]:
            return _find_all(target, query, how, progress)
        if prints_json():
            return _search_results(target, query, how, progress)
        return _search_definitions(target, query, how, progress)


def _split_words(words: tuple[str, ...]) -> tuple[str, list[Path]]:
    """Return the query and the folders.

    Words without quotes are a query up to those at the end that are folders or addresses. After quoted words, all are.
    """
    spaced = [at for at, word in enumerate(words[:-1]) if len(word.split()) > 1 and (at == 0 or not _is_root(word))]
    quoted = max(spaced, default=-1)
    end = quoted + 1 or len(words)
    while quoted < 0 and end > 1 and _is_root(words[end - 1]):
        end -= 1
    return parse_query(" ".join(words[:end])), [parse_root(word) for word in words[end:]]


def _is_root(word: str) -> bool:
    return word.startswith((".", "/", "~")) or "://" in word or os.path.isdir(word)  # noqa: PTH112 - takes any text


def _require_options_that_count(how: dict[str, Any]) -> None:
    """Refuse options that would have no effect together."""
    if how["exact"] and how["is_pattern"]:
        raise click.UsageError("--exact and --regex exclude each other")
    context, as_json, in_history = click.get_current_context(), prints_json(), how["in_history"]
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    lists_matches = how["exact"] or how["is_pattern"]
    if how["in_dependencies"] and (lists_matches or in_history):
        raise click.UsageError("--deps excludes --exact, --regex and --history")
    which = "--exact" if how["exact"] else "--regex"
    for names, is_idle, why in (
        ({"package"}, not how["in_dependencies"], "needs --deps"),
        (IDLE_IN_HISTORY, in_history, "has no effect with --history"),
        ({"since", "until", "authors"}, not in_history, "needs --history"),
        ({"budget", "detail"}, not as_json, "needs --json"),
        ({"offset"}, not (as_json or lists_matches or in_history), "needs --json, --exact or --regex"),
        ({"guesses"}, as_json or lists_matches, "has no effect with --json, --exact or --regex"),
        ({"seconds"}, not lists_matches, "needs --exact or --regex"),
        ({"mode", "alpha", "detail"}, lists_matches, f"has no effect with {which}"),
    ):
        if is_idle and (idle := sorted(given & names)):
            options = [name for param in context.command.params if param.name == idle[0] for name in param.opts]
            raise click.UsageError(f"{' or '.join(options)} {why}")


def _search_definitions(target: "SearchTarget", query: str, how: dict[str, Any], progress: Progress) -> CommandReply:
    """Return the definitions that answer as text."""
    from dowse.indexes.project_search import definition_options
    from dowse.searching.query_terms import parse_search_query

    options = definition_options(how["limit"], how["kind"], how["glob"], how["language"])
    options = replace(options, mode=how["mode"], alpha=how["alpha"])
    found = target.search(parse_search_query(query, how["guesses"]), options, progress)
    text = found.definitions().text
    return CommandReply({}, definition_lines(text, found.answer.terms), _make_notes(found), 0 if text else 1)


def _search_results(target: "SearchTarget", query: str, how: dict[str, Any], progress: Progress) -> CommandReply:
    """Return what the tools search_code and search_docs reply."""
    from dowse.mcp.replies import coverage_warnings
    from dowse.searching.query_terms import parse_search_query
    from dowse.searching.search import SearchOptions
    from dowse.surfaces.project.project_replies import ProjectAnswer, search_reply

    offset, limit = how["offset"], how["limit"] or 10
    options = SearchOptions(
        offset + limit, how["kind"], how["glob"], how["language"], how["mode"], how["alpha"], detail=how["detail"]
    )
    found = target.search(parse_search_query(query), options, progress)
    answer, warnings = found.answer, [*target.warnings, *coverage_warnings(found.coverage), *found.notes]
    project = ProjectAnswer(answer, found.coverage, found.show, warnings, (), options.detail)
    reply = search_reply([project], offset, limit, how["budget"] * CHARACTERS_PER_TOKEN)
    timed = {**reply, "searchTimeMs": round(answer.seconds * 1000, 1)}
    return CommandReply(timed, exit_code=0 if answer.hits[offset:] else 1)


def _find_all(target: "SearchTarget", query: str, how: dict[str, Any], progress: Progress) -> CommandReply:
    """Return every occurrence of a text or pattern."""
    from dowse.indexes.project_search import ExactQuery
    from dowse.mcp.replies import coverage_warnings
    from dowse.searching.search import SearchOptions
    from dowse.surfaces.project.project_replies import occurrences_reply

    offset, is_pattern = how["offset"], how["is_pattern"]
    options = SearchOptions(how["limit"] or 100, how["kind"], how["glob"], how["language"])
    found, coverage = target.find(ExactQuery(query, options, how["seconds"], is_pattern, offset), progress)
    budget, warnings = how["budget"] * CHARACTERS_PER_TOKEN, [*target.warnings, *coverage_warnings(coverage)]
    reply = occurrences_reply([(str, found, coverage)], offset, options.limit, budget, warnings)
    complete = "yes" if found.is_complete and coverage.is_complete else "no"
    lines = f"{pluralize(found.lines, 'line')} of " if found.lines < found.total else ""
    count = f"{pluralize(found.total, 'occurrence')} in {lines}{pluralize(found.files, 'file')}, complete: {complete}"
    end = offset + len(found.found)
    more = [f"more with --offset {end}"] if found.found and end < found.lines else []
    notes = [count, *more, *coverage_notes(coverage)]
    return CommandReply(
        reply, occurrence_lines(found, query, is_pattern=is_pattern), notes, exit_code=0 if found.total else 1
    )


def _make_notes(found: "Found") -> list[str]:
    answer, notes = found.answer, []
    if not answer.hits:
        notes.append("nothing found")
    if answer.hits_without_filters:
        notes.append(filters_note(answer.hits_without_filters, "hit"))
    notes += correction_notes(answer.corrected)
    if answer.outdated:
        notes.append(f"left out because they changed during the search: {', '.join(answer.outdated[:5])}")
    notes += content_notes(replace(hit, path=found.show(hit.path)) for hit in answer.hits)
    return [*notes, *([] if found.notes_say_coverage else coverage_notes(found.coverage)), *found.notes]


def _search_commits(target: "FolderTarget", query: str, how: dict[str, Any]) -> CommandReply:
    """Return the commits that answer."""
    from dowse.searching.history.history_search import HistoryOptions
    from dowse.surfaces.project.history_replies import READ_AHEAD_SECONDS, history_reply

    options = HistoryOptions(how["limit"] or 10, how["glob"], how["since"], how["until"])
    [answer] = target.history(query, options, seconds=READ_AHEAD_SECONDS if how["wait"] else None).values()
    budget = how["budget"] * CHARACTERS_PER_TOKEN
    reply = history_reply([(str, answer)], options.limit, budget, (), has_authors=how["authors"])
    timed = {**reply, "searchTimeMs": round(answer.seconds * 1000, 1)}
    more = "" if answer.coverage.is_complete or how["wait"] else "; search again, or with --wait, for the others"
    notes = [f"searched: {answer.coverage.text}{more}", *answer.coverage.notes()]
    if not answer.hits:
        return CommandReply(timed, (), ["nothing found", *notes], 1)
    return CommandReply(timed, _commit_lines(answer.hits, has_authors=how["authors"]), notes)


def _commit_lines(hits: "Sequence[CommitHit]", *, has_authors: bool) -> Iterator[str | tuple[str, ...]]:
    from dowse.surfaces.project.history_replies import SHORT_NAME

    for number, hit in enumerate(hits):
        if number:
            yield ""
        name, date = escape(hit.name[:SHORT_NAME], fg="yellow"), escape(hit.date or "no date", dim=True)
        author = ("  ", escape(hit.author, dim=True)) if has_authors and hit.author else ()
        yield name, "  ", date, *author, "  ", escape(hit.subject, bold=True), *format_flags(hit.flags)
        yield from (f"     {line}" for line in hit.lines)
        more = hit.file_count - len(hit.files)
        if hit.files:
            at_least = "at least " * hit.has_uncounted_files
            others = f" and {at_least}{pluralize(more, 'other file')}" * (more > 0)
            yield escape(f"     {', '.join(hit.files)}{others}", dim=True)
        if hit.symbols:
            yield escape(f"     in {', '.join(hit.symbols)}", dim=True)
