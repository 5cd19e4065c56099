"""`dowse install` and `dowse uninstall`: add dowse to the configuration of assistants, and remove it again."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import json_option, parse_folder
from dowse.cli.output import CommandReply, SafeText, escape, say, show
from dowse.errors import DowseError, UsageError
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.cli.assistants.config_change import ConfigChange
    from dowse.cli.assistants.known_assistants import Assistant

_agent_option: Callable[[Any], Any] = click.option(
    "--agent", "names", metavar="NAME", multiple=True, help="Only this assistant; may be repeated. Default: all found."
)
_scope_option: Callable[[Any], Any] = click.option(
    "--user/--project", "is_for_user", default=True,
    help="Your own configuration (default), or the project's, which others share.",
)  # fmt: skip
_yes_option: Callable[[Any], Any] = click.option("--yes", is_flag=True, help="Do not ask before writing.")
_dry_run_option: Callable[[Any], Any] = click.option("--dry-run", is_flag=True, help="Show the changes only.")


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@_agent_option
@_scope_option
@_yes_option
@_dry_run_option
@json_option
def install(
    folder: str | None, *, names: tuple[str, ...], is_for_user: bool, yes: bool, dry_run: bool, as_json: bool
) -> int | CommandReply:
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

    named = parse_folder(folder)
    project = None if is_for_user else named or Path.cwd()
    command = own_command(is_shared=not is_for_user)
    changes = []
    for assistant, file in _targets(names, project):
        arguments = [*command[1:], *SERVE, *_served(assistant, named, is_for_user=is_for_user)]
        if assistant.needs_folder and is_for_user and named is None:
            changes.append(_without_folder(assistant, file, is_named=bool(names)))
        else:
            changes.append(plan_install(assistant, file, command[0], arguments))
    return _carry_out(changes, named or Path.cwd(), yes=yes, dry_run=dry_run, as_json=as_json)


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@_agent_option
@_scope_option
@_yes_option
@_dry_run_option
@json_option
def uninstall(
    folder: str | None, *, names: tuple[str, ...], is_for_user: bool, yes: bool, dry_run: bool, as_json: bool
) -> int | CommandReply:
    """Remove dowse from the assistants on this machine.

    A file that nobody has changed since dowse install becomes what it was, byte by byte. From any
    other file only the entry of dowse is removed. The indexes stay; dowse forget removes them.

    Exit code 1: dowse is in none of the files, or a file was left alone.
    """
    from dowse.cli.assistants.config_change import plan_removal

    project = None if is_for_user else parse_folder(folder) or Path.cwd()
    changes = [plan_removal(assistant, file) for assistant, file in _targets(names, project, is_removal=True)]
    return _carry_out(changes, Path.cwd(), yes=yes, dry_run=dry_run, as_json=as_json, is_removal=True)


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


@dataclass(slots=True)
class _Outcome:
    """A planned change, and what came of it."""

    change: "ConfigChange"
    failure: str = ""
    """Why the file could not be written."""
    check: str | None = None
    """What is wrong with the server that the new entry starts; None if none was started."""

    @property
    def problem(self) -> str:
        return self.change.problem or self.failure or self.check or ""

    def apply(self) -> None:
        """Make the change."""
        from dowse.cli.assistants.config_change import apply_change

        try:
            apply_change(self.change)
        except (DowseError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            self.failure = f"{self.change.file} was left alone: {reason or error}."

    @property
    def as_json(self) -> dict[str, Any]:
        change = self.change
        return {
            "name": change.assistant.name,
            "title": change.assistant.title,
            "file": str(change.file),
            "action": "skipped" if self.failure else change.action,
            "diff": "\n".join(change.difference()) if change.is_change else None,
            "link": change.link or None,
            "serverStarts": None if self.check is None else not self.check,
            "problem": self.problem or None,
        }


def _carry_out(
    changes: "list[ConfigChange]", folder: Path, *, yes: bool, dry_run: bool, as_json: bool, is_removal: bool = False
) -> int | CommandReply:
    outcomes = list(map(_Outcome, changes))
    planned = [one for one in outcomes if one.change.is_change]
    if not as_json:
        _show_plan(changes, is_removal=is_removal)
    if planned and not dry_run and not yes:
        _ask(len(planned), as_json=as_json)
    if not dry_run:
        for one in planned:
            one.apply()
        if not is_removal:
            _check([one for one in outcomes if one.change.entry is not None and not one.failure], folder)
    did_nothing = not (planned if is_removal else changes)
    exit_code = 1 if did_nothing or any(change.problem for change in changes) else 0
    if any(one.failure or one.check for one in outcomes):
        exit_code = 3
    if as_json:
        reply = {"assistants": [one.as_json for one in outcomes], "written": not dry_run and bool(planned)}
        return CommandReply(reply, exit_code)
    if not dry_run:
        _show_outcome(planned, is_removal=is_removal)
    return exit_code


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


def _ask(count: int, *, as_json: bool) -> None:
    if as_json or not sys.stdin.isatty():
        raise UsageError("Nothing was written. Add --yes to make these changes, or --dry-run to see them.")
    if not click.confirm(f"Make {pluralize(count, 'change')}?", err=True):
        raise click.Abort


def _check(outcomes: list[_Outcome], folder: Path) -> None:
    """Start the server of each new entry, the same command line once."""
    from dowse.cli.assistants.server_check import check_server

    seen: dict[tuple[str, ...], str] = {}
    for one in outcomes:
        assistant, entry = one.change.assistant, one.change.entry or {}
        words = [word if word != assistant.workspace else str(folder) for word in assistant.command_of(entry)]
        command = (shutil.which(words[0]) or words[0], *words[1:])
        if command not in seen:
            seen[command] = check_server(list(command), folder)
        one.check = seen[command]


def _show_outcome(planned: list[_Outcome], *, is_removal: bool) -> None:
    from dowse.cli.assistants.config_change import backup_of

    for one in planned:
        change, title = one.change, one.change.assistant.title
        if one.failure:
            say(f"dowse: {title}: {one.failure}")
        elif is_removal:
            show(f"{title}: dowse was removed from {change.file}")
        elif one.check:
            say(f"dowse: {title}: the server does not start this way: {one.check}")
        else:
            backup = backup_of(change.file)
            kept = f"; {backup} is the file as it was" if backup else ""
            show(f"{title}: {change.action}, and the server starts{kept}")
    if not is_removal and any(not (one.failure or one.check) for one in planned):
        show("Start the assistant again to use dowse.")
