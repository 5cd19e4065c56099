"""`dowse install` and `dowse uninstall`: add dowse to the configuration of assistants, and remove it again."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import folder_argument, json_option, prints_json
from dowse.cli.output import CommandReply, SafeText, escape, say, show
from dowse.errors import DowseError, UsageError
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.cli.assistants.config_change import ConfigChange
    from dowse.cli.assistants.known_assistants import Assistant


def _shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        json_option,
        click.option("--dry-run", is_flag=True, help="Show the changes only."),
        click.option("--yes", is_flag=True, help="Do not ask before writing."),
        click.option(
            "--user/--project", "is_for_user", default=True,
            help="Your own configuration (default), or the project's, which others share.",
        ),
        click.option(
            "--agent", "names", metavar="NAME", multiple=True,
            help="Only this assistant; may be repeated. Default: all found.",
        ),
        folder_argument,
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@_shared_options
def install(folder: Path | None, *, names: tuple[str, ...], is_for_user: bool, **how: bool) -> CommandReply:
    """Add dowse to the assistants on this machine.

    Find the assistants, show the change of each configuration file, make it after a yes, and
    start the server once as the assistant will start it. A copy of the file as it was stays
    beside it, and dowse uninstall restores it. The server serves DIR, or the project in which
    the assistant works; assistants without a current project need DIR. Cursor and VS Code also
    get a link that makes the same change with one click.

    Exit code 1: no assistant was found, or a file was left alone. Exit code 3: a file could not
    be written, or the server did not start.
    """
    from dowse.cli.assistants.config_change import plan_install
    from dowse.cli.assistants.start_command import SERVE, own_command

    project = None if is_for_user else folder or Path.cwd()
    command = own_command(is_shared=not is_for_user)
    changes = []
    for assistant, file in _targets(names, project):
        arguments = [*command[1:], *SERVE, *_served(assistant, folder, is_for_user=is_for_user)]
        if assistant.needs_folder and is_for_user and folder is None:
            changes.append(_without_folder(assistant, file, is_named=bool(names)))
        else:
            changes.append(plan_install(assistant, file, command[0], arguments))
    return _carry_out(changes, folder or Path.cwd(), **how)


@click.command()
@_shared_options
def uninstall(folder: Path | None, *, names: tuple[str, ...], is_for_user: bool, **how: bool) -> CommandReply:
    """Remove dowse from the assistants on this machine.

    A file that nobody has changed since dowse install becomes what it was, byte by byte. From any
    other file only the entry of dowse is removed. The indexes stay; dowse forget removes them.

    Exit code 1: dowse is in none of the files, or a file was left alone.
    """
    from dowse.cli.assistants.config_change import plan_removal

    project = None if is_for_user else folder or Path.cwd()
    changes = [plan_removal(assistant, file) for assistant, file in _targets(names, project, is_removal=True)]
    return _carry_out(changes, Path.cwd(), **how, is_removal=True)


def _targets(
    names: tuple[str, ...], project: Path | None, *, is_removal: bool = False
) -> "list[tuple[Assistant, Path]]":
    """Return the assistants that are meant, each with its file."""
    from dowse.cli.assistants.known_assistants import Places, known_assistants

    known, places = known_assistants(), Places.of_this_user()
    for name in names:
        if name not in known:
            raise UsageError(f"dowse does not know an assistant {name}. It knows {', '.join(sorted(known))}.")
        if project and not known[name].project:
            raise UsageError(f"{known[name].title} has no configuration of a project. Leave out --project.")
    chosen = [known[name] for name in names] or [
        assistant for assistant in known.values() if is_removal or assistant.is_on_this_machine(places)
    ]
    if project:
        return [(assistant, project / assistant.project) for assistant in chosen if assistant.project]
    return [(assistant, assistant.user_file(places)) for assistant in chosen]


def _served(assistant: "Assistant", named: Path | None, *, is_for_user: bool) -> list[str]:
    if not is_for_user:
        return [assistant.workspace] if assistant.workspace else []
    return [str(named)] if named else []


def _without_folder(assistant: "Assistant", file: Path, *, is_named: bool) -> "ConfigChange":
    from dowse.cli.assistants.config_change import ConfigChange

    problem = f"{assistant.title} has no current project: name the folder to serve, dowse install DIR --agent {assistant.name}."
    if is_named:
        raise UsageError(problem)
    return ConfigChange(assistant, file, "skipped", problem=problem)


def _carry_out(
    changes: "list[ConfigChange]", folder: Path, *, yes: bool, dry_run: bool, is_removal: bool = False
) -> CommandReply:
    """Show the changes, make them after a yes, and say what came of each."""
    planned = [change for change in changes if change.is_change]
    if not prints_json():
        _show_plan(changes, is_removal=is_removal)
    if planned and not (dry_run or yes):
        _ask(len(planned))
    failures: dict[str, str] = {}
    checks: dict[str, str] = {}
    if not dry_run:
        failures = {change.assistant.name: problem for change in planned if (problem := _apply(change))}
        if not is_removal:
            checks = _check([one for one in changes if one.entry and one.assistant.name not in failures], folder)
    exit_code = 1 if not (planned if is_removal else changes) or any(change.problem for change in changes) else 0
    reply = {
        "assistants": [_row(one, failures.get(one.assistant.name), checks.get(one.assistant.name)) for one in changes],
        "written": not dry_run and bool(planned),
    }
    lines, notes = ([], []) if dry_run else _outcome(planned, failures, checks, is_removal=is_removal)
    return CommandReply(reply, lines, notes, 3 if failures or any(checks.values()) else exit_code)


def _apply(change: "ConfigChange") -> str:
    """Make a change; return why the file could not be written, or an empty text."""
    from dowse.cli.assistants.config_change import apply_change

    try:
        apply_change(change)
    except (DowseError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return f"{change.file} was left alone: {reason or error}."
    return ""


def _row(change: "ConfigChange", failure: str | None, check: str | None) -> dict[str, Any]:
    """Return a change, and what came of it, as JSON; `check` is what is wrong with the server, None if none was started."""
    return {
        "name": change.assistant.name,
        "title": change.assistant.title,
        "file": str(change.file),
        "action": "skipped" if failure else change.action,
        "link": change.link or None,
        "diff": "\n".join(change.difference()) if change.is_change else None,
        "serverStarts": None if check is None else not check,
        "problem": change.problem or failure or check or None,
    }


def _show_plan(changes: "list[ConfigChange]", *, is_removal: bool) -> None:
    if not changes:
        say("dowse: no assistant was found on this machine. Name one with --agent; docs/clients.md lists them.")
    for change in changes:
        if change.problem:
            say(f"dowse: {change.assistant.title}: {change.problem}")
        elif change.is_change:
            show(escape(change.assistant.title, bold=True), f": {change.file}")
            for line in change.difference():
                show(_coloured(line))
            if change.link:
                show(f"  or with one click: {change.link}")
        elif not is_removal:
            show(f"{change.assistant.title}: {change.file} has dowse already")
    if is_removal and not any(change.is_change or change.problem for change in changes):
        say("dowse: there is nothing to remove.")


def _coloured(line: str) -> SafeText:
    colour = {"+": "green", "-": "red"}.get(line[:1]) if not line.startswith(("+++", "---")) else None
    return escape("  " + line, keeps_tabs=True, **({"fg": colour} if colour else {}))


def _ask(count: int) -> None:
    if prints_json() or not sys.stdin.isatty():
        raise UsageError("Nothing was written. Add --yes to make these changes, or --dry-run to see them.")
    if not click.confirm(f"Make {pluralize(count, 'change')}?", err=True):
        raise click.Abort


def _check(changes: "list[ConfigChange]", folder: Path) -> dict[str, str]:
    """Start the server of each entry, the same command line once; return what is wrong with it for each assistant."""
    from dowse.cli.assistants.server_check import check_server

    seen: dict[tuple[str, ...], str] = {}
    found: dict[str, str] = {}
    for change in changes:
        assistant = change.assistant
        words = [
            str(folder) if word == assistant.workspace else word for word in assistant.command_of(change.entry or {})
        ]
        command = (shutil.which(words[0]) or words[0], *words[1:])
        if command not in seen:
            seen[command] = check_server(list(command), folder)
        found[assistant.name] = seen[command]
    return found


def _outcome(
    planned: "list[ConfigChange]", failures: dict[str, str], checks: dict[str, str], *, is_removal: bool
) -> tuple[list[str], list[str]]:
    """Return the lines about changes that were made, and the notes about those that were not or do not work."""
    from dowse.cli.assistants.config_change import backup_of

    lines, notes = [], []
    for change in planned:
        name, title = change.assistant.name, change.assistant.title
        if failures.get(name):
            notes.append(f"dowse: {title}: {failures[name]}")
        elif checks.get(name):
            notes.append(f"dowse: {title}: the server does not start this way: {checks[name]}")
        elif is_removal:
            lines.append(f"{title}: dowse was removed from {change.file}")
        else:
            backup = backup_of(change)
            kept = f"; {backup} is the file as it was" if backup else ""
            lines.append(f"{title}: {change.action}, and the server starts{kept}")
    if lines and not is_removal:
        lines.append("Start the assistant again to use dowse.")
    return lines, notes
