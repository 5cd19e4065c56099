"""The search of `dowse search --history`, and the commits that it finds as text."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.cli.output import CommandReply, SafeText, escape, pluralize, say, show
from dowse.errors import NotWritable
from dowse.mcp.reply_budget import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from dowse.history.history_search import CommitHit
    from dowse.indexes.index import ProjectIndex


def search_commits(
    project: "ProjectIndex", query: str, *, wait: bool, as_json: bool, authors: bool, **how: Any
) -> int | CommandReply:
    """Search the history of a project and print the commits."""
    from dowse.history.history_search import READ_SECONDS, HistoryOptions, search_history
    from dowse.history.project_history import open_history
    from dowse.surfaces.project.history_replies import READ_AHEAD_SECONDS, history_reply

    options = HistoryOptions(how["limit"] or 10, how["glob"], how["since"], how["until"])
    with _storage(project) as folder, open_history(project.root, folder, project.settings) as history:
        answer = search_history(history, query, options, READ_AHEAD_SECONDS if wait else READ_SECONDS)
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


@contextlib.contextmanager
def _storage(project: "ProjectIndex") -> Iterator[Path]:
    """Give a block the folder of the index, which is made if there is none yet, as by other searches.

    Until it is there, or where nothing can be written, the folder is one that is removed afterwards.
    """
    from dowse.history.git_objects import find_repository
    from dowse.indexes.project_search import update_if_quick

    if not project.has_catalog and project.settings.read_history:
        find_repository(project.root)  # raises NoHistory before anything is made
        with contextlib.suppress(NotWritable):
            update_if_quick(project, "", waits=False)
    if project.has_catalog:
        yield project.folder
        return
    with tempfile.TemporaryDirectory(prefix="dowse-history-") as folder:
        yield Path(folder)


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
