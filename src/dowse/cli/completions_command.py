"""`dowse completions`: the script that completes commands, options and paths in a shell."""

from typing import Any

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

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
    if shell in SHELLS:
        completion = _completion(shell, group)
        _complete_paths(group, completion.get_completion_args()[0])
        if found := completion.complete():
            show(SafeText(found))


def _completion(shell: str, group: click.Group) -> ShellComplete:
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - every shell of SHELLS has one
    return kind(group, {}, "dowse", VARIABLE)


class _PathName(click.types.StringParamType):
    """Text that names a file or folder: the shell itself completes it."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return [CompletionItem(incomplete, type=self._kind)]


def _complete_paths(command: click.Command, words: list[str]) -> None:
    """Let the shell complete what is called DIR, FILE or PATH, in the command that is typed and the groups above it."""
    for param in command.params:
        name = str(param.metavar or param.name).upper()
        kind = "file" if any(word in name for word in ("FILE", "PATH", "SRC")) else "dir" if "DIR" in name else ""
        if param.type is click.STRING and kind:
            param.type = _PathName(kind)
    if isinstance(command, click.Group):
        context: Any = click.Context(command)
        for word in set(command.list_commands(context)).intersection(words):
            if found := command.get_command(context, word):
                _complete_paths(found, words)
