"""The search of `dowse search --history`, and the commits that it finds as text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dowse.cli.output import CommandReply, SafeText, escape, pluralize, say, show
from dowse.mcp.reply_budget import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from dowse.api.folder_target import FolderTarget
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
