"""`dowse search`: the definitions that answer, every occurrence of a text, or commits."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from dowse.cli.common_arguments import json_option, parse_root
from dowse.cli.output import CommandReply, SafeText, escape, progress_bar, say, show, show_warnings, using
from dowse.cli.result_output import content_notes, coverage_notes, filters_note, show_definitions, show_occurrences
from dowse.errors import ProjectNotDetected, UsageError
from dowse.indexes.early_parsing import warm_up_parser
from dowse.mcp.replies import CHARACTERS_PER_TOKEN
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.api.folder_target import FolderTarget
    from dowse.api.search_targets import Found
    from dowse.cli.output import SearchTarget
    from dowse.indexes.index import ProjectIndex
    from dowse.searching.history.history_search import CommitHit


def search_commits(
    target: "FolderTarget", query: str, *, wait: bool, as_json: bool, authors: bool, **how: Any
) -> int | CommandReply:
    """Search the history of a project and print the commits."""
    from dowse.searching.history.history_search import HistoryOptions
    from dowse.surfaces.project.history_replies import READ_AHEAD_SECONDS, history_reply

    options = HistoryOptions(how["limit"] or 10, how["glob"], how["since"], how["until"])
    [answer] = target.history(query, options, seconds=READ_AHEAD_SECONDS if wait else None).values()
    exit_code, budget = 0 if answer.hits else 1, how["budget"] * CHARACTERS_PER_TOKEN
    if as_json:
        reply = history_reply([(str, answer)], options.limit, budget, (), has_authors=authors)
        return CommandReply({**reply, "searchTimeMs": round(answer.seconds * 1000, 1)}, exit_code)
    left = budget
    for number, hit in enumerate(answer.hits):
        lines = list(_format_commit(hit, has_author=authors))
        left -= sum(len(part) + 1 for line in lines for part in line)
        if left < 0 and number:
            say("the output was cut; raise --budget to see more")
            break
        for line in [[], *lines] if number else lines:
            show(*line)
    if not answer.hits:
        say("nothing found")
    more = "" if answer.coverage.is_complete or wait else "; search again, or with --wait, for the others"
    say(f"searched: {answer.coverage.text}{more}")
    for note in answer.coverage.notes():
        say(note)
    return exit_code


def _format_commit(hit: "CommitHit", *, has_author: bool) -> Iterator[list[str]]:
    from dowse.cli.result_output import format_flags
    from dowse.surfaces.project.history_replies import SHORT_NAME

    author = [SafeText("  "), escape(hit.author, dim=True)] if has_author and hit.author else []
    date = hit.date or "no date"
    name = escape(hit.name[:SHORT_NAME], fg="yellow")
    yield [
        name,
        SafeText("  "),
        escape(date, dim=True),
        *author,
        SafeText("  "),
        escape(hit.subject, bold=True),
        *format_flags(hit.flags),
    ]
    for line in hit.lines:
        yield [f"     {line}"]
    more = hit.file_count - len(hit.files)
    if hit.files:
        at_least = "at least " * hit.has_uncounted_files
        others = f" and {at_least}{pluralize(more, 'other file')}" * (more > 0)
        yield [escape(f"     {', '.join(hit.files)}{others}", dim=True)]
    if hit.symbols:
        yield [escape(f"     in {', '.join(hit.symbols)}", dim=True)]


MAX_PAGE = 1000
_OPTION_NAMES = {
    "exact": "--exact", "is_pattern": "--regex", "offset": "--offset", "seconds": "--seconds", "mode": "--mode",
    "alpha": "--alpha", "detail": "--detail", "language": "--language", "kinds": "--code or --docs",
    "guesses": "--name",
}  # fmt: skip
"""The options that have no effect on a search of the history."""


@click.command()
@click.argument("words", metavar="QUERY... [DIR|ADDRESS]...", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_PAGE),
    default=None,
    help="Maximum number of definitions (default 5), of results with --json or --history (10), or of matches with "
    "--exact or --regex (100).",
)
@click.option(
    "--path",
    "glob",
    metavar="PATH",
    help="Only this file or folder, at any depth, or files whose path matches a pattern such as 'src/**/*.py'.",
)
@click.option("--language", metavar="NAME", help="Only files in this language, such as python or py.")
@click.option("--code", "kinds", flag_value="code", multiple=True, help="Only code.")
@click.option("--docs", "kinds", flag_value="docs", multiple=True, help="Only documentation.")
@click.option(
    "--budget",
    metavar="TOKENS",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="Maximum length of the output (with --json or --history).",
)
@click.option("--exact", is_flag=True, help="Print every exact occurrence of QUERY.")
@click.option("--regex", "is_pattern", is_flag=True, help="Print every match of the regular expression QUERY.")
@click.option(
    "--offset", type=click.IntRange(0), default=0, help="Skip this many results (with --json, --exact or --regex)."
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
    help="With --json, what each result shows: one line, the lines that answer, or a whole function or section.",
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
def search(
    words: tuple[str, ...], *, exact: bool, is_pattern: bool, in_history: bool, in_dependencies: bool,
    package: str | None, store: str | None, projects: tuple[str, ...], **how: Any,
) -> int | CommandReply:  # fmt: skip
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
    _require_options_that_count(is_exact=exact, is_pattern=is_pattern, in_history=in_history)
    query, roots = _split_words(words)
    root = roots[0] if roots else None
    if len(roots) > 1 and (in_history or in_dependencies):
        raise UsageError("--history and --deps take one DIR.")
    kinds = set(how.pop("kinds"))
    how["kind"] = kinds.pop() if len(kinds) == 1 else None
    if store or projects:
        if roots or in_history or in_dependencies or not store:
            raise UsageError("--store PLACE is searched in place of DIR, without history; --project needs it.")
        from dowse.api.search_targets import PlaceTarget

        return _answer(PlaceTarget(store, projects), query, is_exact=exact, is_pattern=is_pattern, **how)
    if not in_history:
        warm_up_parser(root)
    from dowse.indexes.project_lookup import open_each

    try:
        found = open_each(roots)
    except ProjectNotDetected as error:
        if not roots and len(words) > 1:
            raise ProjectNotDetected(f"{words[-1]} is not a folder. {error}") from error
        raise
    from dowse.api.folder_target import FolderTarget

    if in_history:
        with using(target := FolderTarget(found)):
            return search_commits(target, query, **how)
    if in_dependencies:
        from dowse.api.search_targets import PackageTarget

        show_warnings(found[0].warnings)
        packages = PackageTarget(root or found[0].root, package, waits=how["wait"])
        return _answer(packages, query, is_exact=False, is_pattern=False, **how)
    waits = bool(exact or is_pattern or how["wait"])
    folders = FolderTarget(found, waits=waits)
    return _answer(folders, query, *(found if waits else ()), is_exact=exact, is_pattern=is_pattern, **how)


def _answer(
    target: "SearchTarget", query: str, *locked: "ProjectIndex", is_exact: bool, is_pattern: bool, as_json: bool,
    **how: Any,
) -> int | CommandReply:  # fmt: skip
    """Search a target and print the answer."""
    with using(target, *locked):
        if is_exact or is_pattern:
            return _find_all(target, query, is_pattern=is_pattern, as_json=as_json, **how)
        return _make_reply(target, query, **how) if as_json else _search(target, query, **how)


def _split_words(words: tuple[str, ...]) -> tuple[str, list[Path]]:
    """Return the query and the folders.

    Words without quotes are a query up to those at the end that are folders or addresses. After quoted words, all are.
    """
    spaced = [at for at, word in enumerate(words[:-1]) if len(word.split()) > 1 and (at == 0 or not _is_root(word))]
    quoted = max(spaced, default=-1)
    end = quoted + 1 or len(words)
    while quoted < 0 and end > 1 and _is_root(words[end - 1]):
        end -= 1
    query = _as_unicode(" ".join(words[:end]))
    if not query.strip():
        raise UsageError("The query is empty. Say what to look for.")
    return query, [parse_root(word) for word in words[end:]]


def _is_root(word: str) -> bool:
    return word.startswith((".", "/", "~")) or "://" in word or os.path.isdir(word)  # noqa: PTH112 - takes any text


def _require_options_that_count(*, is_exact: bool, is_pattern: bool, in_history: bool) -> None:
    """Refuse options that would have no effect together."""
    if is_exact and is_pattern:
        raise click.UsageError("--exact and --regex exclude each other")
    context, lists_matches = click.get_current_context(), is_exact or is_pattern
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    as_json, in_packages = context.params["as_json"], "in_dependencies" in given
    if in_packages and (lists_matches or in_history):
        raise click.UsageError("--deps excludes --exact, --regex and --history")
    how = "--exact" if is_exact else "--regex"
    for names, is_idle, why in (
        ({"package"}, not in_packages, "needs --deps"),
        (_OPTION_NAMES.keys(), in_history, "has no effect with --history"),
        ({"since", "until", "authors"}, not in_history, "needs --history"),
        ({"budget", "detail"}, not (as_json or in_history), "needs --json"),
        ({"offset"}, not (as_json or lists_matches or in_history), "needs --json, --exact or --regex"),
        ({"guesses"}, as_json or lists_matches, "has no effect with --json, --exact or --regex"),
        ({"seconds"}, not lists_matches, "needs --exact or --regex"),
        ({"mode", "alpha", "detail"}, lists_matches, f"has no effect with {how}"),
    ):
        if is_idle and (idle := sorted(given & names)):
            raise click.UsageError(f"{_OPTION_NAMES.get(idle[0], f'--{idle[0]}')} {why}")


def _search(target: "SearchTarget", query: str, **how: Any) -> int:
    from dowse.indexes.project_search import definition_options
    from dowse.searching.query_terms import parse_search_query

    options = replace(
        definition_options(how["limit"], how["kind"], how["glob"], how["language"]),
        mode=how["mode"], alpha=how["alpha"],
    )  # fmt: skip
    with progress_bar(f"Indexing {target.name}", is_expected=False) as progress:
        found = target.search(parse_search_query(query, how["guesses"]), options, progress)
    text = found.definitions().text
    show_definitions(text, found.answer.terms)
    for note in _make_notes(found):
        say(note)
    return 0 if text else 1


def _make_reply(target: "SearchTarget", query: str, *, offset: int, **how: Any) -> CommandReply:
    """Return what the tools search_code and search_docs reply."""
    from dowse.mcp.replies import coverage_warnings
    from dowse.searching.query_terms import parse_search_query
    from dowse.searching.search import SearchOptions
    from dowse.surfaces.project.project_replies import ProjectAnswer, search_reply

    limit = how["limit"] or 10
    options = SearchOptions(
        offset + limit, how["kind"], how["glob"], how["language"], how["mode"], how["alpha"], detail=how["detail"]
    )
    with progress_bar(f"Indexing {target.name}", is_expected=False) as progress:
        found = target.search(parse_search_query(query), options, progress)
    answer, warnings = found.answer, [*target.warnings, *coverage_warnings(found.coverage), *found.notes]
    project = ProjectAnswer(answer, found.coverage, found.show, warnings, (), options.detail)
    reply = search_reply([project], offset, limit, how["budget"] * CHARACTERS_PER_TOKEN)
    return CommandReply({**reply, "searchTimeMs": round(answer.seconds * 1000, 1)}, 0 if answer.hits[offset:] else 1)


def _find_all(
    target: "SearchTarget", query: str, *, is_pattern: bool, as_json: bool, offset: int, **how: Any
) -> int | CommandReply:
    from dowse.indexes.project_search import ExactQuery
    from dowse.searching.search import SearchOptions

    options = SearchOptions(how["limit"] or 100, how["kind"], how["glob"], how["language"])
    text_query = ExactQuery(query, options, how["seconds"], is_pattern, offset)
    with progress_bar(f"Indexing {target.name}", is_expected=False) as progress:
        found, coverage = target.find(text_query, progress)
    exit_code = 0 if found.total else 1
    if as_json:
        from dowse.mcp.replies import coverage_warnings
        from dowse.surfaces.project.project_replies import occurrences_reply

        budget, warnings = how["budget"] * CHARACTERS_PER_TOKEN, [*target.warnings, *coverage_warnings(coverage)]
        return CommandReply(
            occurrences_reply([(str, found, coverage)], offset, options.limit, budget, warnings), exit_code
        )
    show_occurrences(found, query, is_pattern=is_pattern)
    complete = "yes" if found.is_complete and coverage.is_complete else "no"
    lines = f"{pluralize(found.lines, 'line')} of " if found.lines < found.total else ""
    say(f"{pluralize(found.total, 'occurrence')} in {lines}{pluralize(found.files, 'file')}, complete: {complete}")
    end = offset + len(found.found)
    more = [f"more with --offset {end}"] if found.found and end < found.lines else []
    for note in [*more, *coverage_notes(coverage)]:
        say(note)
    return exit_code


def _as_unicode(text: str) -> str:
    """Return a query with bytes that are not UTF-8 replaced, as they are when a file is read."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _make_notes(found: "Found") -> list[str]:
    answer, notes = found.answer, []
    if not answer.hits:
        notes.append("nothing found")
    if answer.hits_without_filters:
        notes.append(filters_note(answer.hits_without_filters, "hit"))
    if answer.corrected:
        notes.append(
            "corrected: " + ", ".join(f"{known} instead of {word}" for word, known in answer.corrected.items())
        )
    if answer.outdated:
        notes.append(f"left out because they changed during the search: {', '.join(answer.outdated[:5])}")
    notes += content_notes(replace(hit, path=found.show(hit.path)) for hit in answer.hits)
    return [*notes, *([] if found.notes_say_coverage else coverage_notes(found.coverage)), *found.notes]
