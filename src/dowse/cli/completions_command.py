"""`dowse completions`: the script that completes commands, options and paths in a shell."""

import os
from typing import Any

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class, get_completion_class

from dowse.cli.common_arguments import json_option
from dowse.cli.output import CommandReply, SafeText, show_text

SHELLS = ("bash", "zsh", "fish", "powershell")
VARIABLE = "_DOWSE_COMPLETE"
"""The variable that the script of a shell sets when it asks dowse for completions."""

_POWERSHELL_SCRIPT = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = $commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition }
    $env:COMP_WORDS = ($words | ForEach-Object { $_.Extent.Text.Trim("'", '"') }) -join "`n"
    $env:COMP_WORD = $wordToComplete.Trim("'", '"')
    $env:%(complete_var)s = "powershell_complete"
    try {
        %(prog_name)s | ForEach-Object {
            $kind, $value, $help = $_ -split "`t", 3
            if ($kind -eq "plain") {
                $text = if ($help) { $help } else { $value }
                [System.Management.Automation.CompletionResult]::new($value, $value, "ParameterValue", $text)
            } else {
                [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
            }
        }
    } finally {
        Remove-Item Env:COMP_WORDS
        Remove-Item Env:COMP_WORD
        Remove-Item Env:%(complete_var)s
    }
}
"""


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
@json_option
def completions(shell: str, *, as_json: bool) -> int | CommandReply:
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
    if as_json:
        return CommandReply({"shell": shell, "script": script})
    show_text(SafeText(script.strip("\n")))
    return 0


def answer_shell(group: click.Group, request: str) -> None:
    """Print the completions that the script of a shell asks for, such as `bash_complete`."""
    shell = request.removesuffix("_complete")
    if shell in SHELLS:
        completion = _completion(shell, group)
        words, incomplete = completion.get_completion_args()
        _complete_paths(group, words)
        for item in completion.get_completions(words, incomplete):
            show_text(SafeText(completion.format_completion(item)))


def _completion(shell: str, group: click.Group) -> ShellComplete:
    add_completion_class(_PowerShellComplete)
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - every shell of SHELLS has one
    return kind(group, {}, "dowse", VARIABLE)


class _PowerShellComplete(ShellComplete):
    """The completion of PowerShell, which click does not have."""

    name = "powershell"
    source_template = _POWERSHELL_SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, without the name of the program, and the word that is incomplete."""
        return os.environ.get("COMP_WORDS", "").split("\n")[1:], os.environ.get("COMP_WORD", "")

    def format_completion(self, item: CompletionItem) -> str:
        """Return an item as one line: its kind, its value and its help."""
        return f"{item.type}\t{item.value}\t{' '.join((item.help or '').split())}"


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
        if param.type is click.STRING and (kind := _path_kind(name)):
            param.type = _PathName(kind)
    if isinstance(command, click.Group):
        context: Any = click.Context(command)
        for word in set(command.list_commands(context)).intersection(words):
            if found := command.get_command(context, word):
                _complete_paths(found, words)


def _path_kind(name: str) -> str | None:
    if any(word in name for word in ("FILE", "PATH", "SRC")):
        return "file"
    return "dir" if "DIR" in name else None
