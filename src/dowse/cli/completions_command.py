"""`dowse completions`: the script that completes commands, options and paths in a shell."""

import click
from click.shell_completion import ShellComplete, get_completion_class

from dowse.cli.common_arguments import json_option
from dowse.cli.output import CommandReply, SafeText, show

SHELLS = ("bash", "zsh", "fish", "powershell")
VARIABLE = "_DOWSE_COMPLETE"
"""The variable that the script of a shell sets when it asks dowse for completions."""


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
@json_option
def completions(shell: str) -> CommandReply:
    """Print the completion script of SHELL.

    It completes commands, options and paths. Put one line into the file that the shell reads first:

    \b
    bash        ~/.bashrc       eval "$(dowse completions bash)"
    zsh         ~/.zshrc        eval "$(dowse completions zsh)"
    fish        config.fish     dowse completions fish | source
    powershell  $PROFILE        dowse completions powershell | Out-String | iex

    bash has to be 4.4 or newer. In zsh, the line comes after compinit.
    """
    from dowse.cli.command_list import dowse

    completion = _completion(shell, dowse)
    script = completion.source_template % completion.source_vars()
    return CommandReply({"shell": shell, "script": script}, [SafeText(script.strip("\n"))])


def answer_shell(group: click.Group, request: str) -> None:
    """Print the completions that the script of a shell asks for, such as `bash_complete`."""
    shell = request.removesuffix("_complete")
    if shell in SHELLS and (found := _completion(shell, group).complete()):
        show(SafeText(found))


def _completion(shell: str, group: click.Group) -> ShellComplete:
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - every shell of SHELLS has one
    return kind(group, {}, "dowse", VARIABLE)
