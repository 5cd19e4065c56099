"""The `dowse` command and its subcommands, each imported on first use."""

from importlib import import_module

import click

from dowse.errors import SettingsError
from dowse.system.platform import storage_root

GROUPS = {
    "Search": {
        "search": ("search_command:search", 'dowse search "when is delivery free" shop'),
        "deps": ("deps_command:deps", "dowse deps shop"),
        "refs": ("refs_command:refs", "dowse refs shipping_cost shop"),
        "related": ("refs_command:related", "dowse related src/shipping.py"),
        "open": ("serve_command:open_page", "dowse open shop"),
    },
    "Assistants": {
        "install": ("install_command:install", "dowse install shop --agent claude-code"),
        "uninstall": ("install_command:uninstall", "dowse uninstall shop --agent claude-code"),
        "serve": ("serve_command:serve", "dowse serve shop --tools assistant"),
    },
    "Indexes": {
        "index": ("index_command:index", "dowse index shop --wait"),
        "status": ("projects_command:status", "dowse status shop"),
        "projects": ("projects_command:projects", "dowse projects"),
        "forget": ("projects_command:forget", "dowse forget shop"),
        "publish": ("publish_command:publish", "dowse publish shop /srv/indexes"),
    },
    "Other things to search": {
        "docs": ("docs_command:docs", 'dowse docs search "when is delivery free" handbook'),
        "site": ("site_command:site", "dowse site build public -o index.json"),
        "archive": ("archive_command:archive", 'dowse archive search "sparse attention"'),
        "notes": ("notes_command:notes", 'dowse notes add decisions prices "Prices are in cents."'),
    },
    "When something is wrong": {
        "why": ("why_command:why", "dowse why src/shipping.py"),
        "doctor": ("doctor_command:doctor", "dowse doctor shop"),
        "eval": ("eval_command:evaluate_command", "dowse eval shop"),
        "completions": ("completions_command:completions", "dowse completions bash"),
    },
}
"""The commands in groups: where each is, and an example of it."""
COMMANDS = {name: found for group in GROUPS.values() for name, found in group.items()}


def _print_versions(context: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given:
        from dowse.cli.doctor_command import version_lines

        click.echo("\n".join(version_lines()))
        context.exit()


class _LazyGroup(click.Group):
    """A group that imports a subcommand on first use, so that none slows the others down."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        place, example = COMMANDS[cmd_name]
        module, _, name = place.partition(":")
        command: click.Command = getattr(import_module(f"dowse.cli.{module}"), name)
        command.epilog = f"Example: {example}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; say which one may be meant if there is none of that name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib  # rarely needed

            near = difflib.get_close_matches(args[0], COMMANDS)
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"No such command '{args[0]}'.{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in their groups, the most used first."""
        for title, commands in GROUPS.items():
            found = {name: self.get_command(ctx, name) for name in commands}
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(60)) for name, one in found.items() if one])


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
