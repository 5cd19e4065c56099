"""The `dowse` command: finds the subcommand, runs it, and turns whatever goes wrong into one line."""

import os
import sys
from importlib import import_module
from typing import Any

import click

from dowse import __version__
from dowse.cli.output import show_error
from dowse.errors import DowseError, Failed
from dowse.system import interrupt_on_terminate

INTERRUPTED = 130
"""What a shell expects of a command that Ctrl-C ended."""

_COMMANDS = {
    "index": "dowse.cli.index:index",
    "search": "dowse.cli.search:search",
    "status": "dowse.cli.projects:status",
    "projects": "dowse.cli.projects:projects",
    "forget": "dowse.cli.projects:forget",
    "why": "dowse.cli.why:why",
    "doctor": "dowse.cli.doctor:doctor",
}


class _Commands(click.Group):
    """Imports a subcommand when it is asked for, so that none slows the others down."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 could not be done.",
)
@click.version_option(__version__, prog_name="dowse")
def dowse() -> None:
    """Search code and documents on this machine, offline, for you and your assistant.

    Indexes live below ~/.mcp/search (DOWSE_HOME moves them). Every command takes --json.
    """


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in arguments
    interrupt_on_terminate()
    try:
        result: Any = dowse.main(arguments, prog_name="dowse", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except DowseError as error:
        return show_error(error.code, str(error), error.exit_code, as_json=as_json)
    except click.ClickException as error:
        return show_error("INVALID_ARGUMENT", _usage_message(error), 2, as_json=as_json)
    except (KeyboardInterrupt, click.Abort):
        return show_error("INTERRUPTED", "Interrupted; what was done is kept.", INTERRUPTED, as_json=as_json)
    except BrokenPipeError:
        # The reader of our output has seen enough; say nothing more, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return show_error("FAILED", f"{error.strerror or error}{where}.", Failed.exit_code, as_json=as_json)
    except Exception as error:
        if os.environ.get("DOWSE_DEBUG"):
            raise
        message = f"Unexpected {type(error).__name__}: {error}. Set DOWSE_DEBUG=1 for details and report it."
        return show_error("UNEXPECTED", message, Failed.exit_code, as_json=as_json)


def _usage_message(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "dowse"
    return f"{message}. See: {command} --help"
