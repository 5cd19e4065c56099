"""The `dowse` command and its subcommands, each imported on first use."""

from importlib import import_module

import click

from dowse.errors import SettingsError
from dowse.platform import storage_root

COMMANDS = {
    "serve": "dowse.cli.serve_command:serve",
    "open": "dowse.cli.open_command:open_page",
    "site": "dowse.cli.site_command:site",
    "index": "dowse.cli.index_command:index",
    "publish": "dowse.cli.publish_command:publish",
    "docs": "dowse.cli.docs_command:docs",
    "search": "dowse.cli.search_command:search",
    "refs": "dowse.cli.refs_command:refs",
    "related": "dowse.cli.related_command:related",
    "status": "dowse.cli.projects_command:status",
    "projects": "dowse.cli.projects_command:projects",
    "forget": "dowse.cli.projects_command:forget",
    "why": "dowse.cli.why_command:why",
    "doctor": "dowse.cli.doctor_command:doctor",
    "archive": "dowse.cli.archive_command:archive",
    "notes": "dowse.cli.notes_command:notes",
    "install": "dowse.cli.install_command:install",
    "uninstall": "dowse.cli.install_command:uninstall",
    "eval": "dowse.cli.eval_command:evaluate_command",
    "completions": "dowse.cli.completions_command:completions",
}


def _print_versions(context: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given:
        from dowse.cli.versions import version_lines

        click.echo("\n".join(version_lines()))
        context.exit()


class _LazyGroup(click.Group):
    """A group that imports a subcommand on first use, so that none slows the others down."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 the answer is no (nothing found, a check failed), 2 wrong usage, "
    "3 could not be done, 130 interrupted.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_versions,
    help="Show the version and exit.",
)
def dowse() -> None:
    """Search code and documents on this machine, offline, for you and your assistant.

    Indexes are stored in ~/.mcp/search, or in the folder that DOWSE_HOME names. Every command
    except serve takes --json.
    """
    try:
        storage_root()
    except RuntimeError as error:  # `~` cannot be expanded: no home folder, or an unknown user
        raise SettingsError("The home folder cannot be found. Set DOWSE_HOME to a folder for the indexes.") from error
