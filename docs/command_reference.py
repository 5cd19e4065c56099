"""The pages of the commands and of the errors; docs/reference.py writes them."""

import copy
from collections.abc import Iterator

import click

from dowse.cli.command_list import dowse
from dowse.errors import DowseError

WIDTH = 100
COMMANDS_START = """\
# Commands

This page is the output of `--help`, of every command.
`python docs/reference.py` writes it.
Every command except `serve` takes `--json`; results are on stdout, messages on stderr.
`--json` prints the reply of the tool that does the same, key for key; [tools.md](tools.md) explains the keys.

| command | tool |
|---|---|
| `dowse search --code`, `--docs` | `search_code`, `search_docs`; without either, a reply of the same form about both |
| `dowse search --exact`, `--regex` | `find_text` |
| `dowse search --history` | `search_history` |
| `dowse refs`, `dowse related`, `dowse why` | `find_references`, `related_files`, `explain` |
| `dowse status`, `dowse projects` | `get_index_status`, `list_projects` |
| `dowse index`, `dowse forget` | `create_index`, `delete_index` |
| `dowse docs search`, `read` | `search_documents`, `read_document` |
| `dowse archive search` | `searchLocalArchives` |
| `dowse notes search`, `add`, `create`, `list` | `search_index`, `search_add_document`, `search_create_index`, `search_list_indexes` |
| `dowse notes show NAME DOC_ID`, `remove NAME` | `search_get_document`, `search_delete_index` |
"""
ERRORS_START = """\
# Errors

A command that fails prints one line on stderr: what is wrong, where, and what to do.
With `--json` it also prints `{"error": {"code": …, "message": …}}`.
`python docs/reference.py` writes this page.

## Exit codes

| exit code | meaning |
|---:|---|
| 0 | done |
| 1 | the answer is no: nothing found, a check failed |
| 2 | wrong usage |
| 3 | could not be done |
| 130 | interrupted |

## Codes

| code | exit code | meaning |
|---|---:|---|
"""
ERRORS_END = """
`UNEXPECTED` (exit code 3) is an error that dowse did not foresee: please report it with `dowse doctor --report`.
`INTERRUPTED` (exit code 130) follows Ctrl-C; the work done so far is kept.

The errors of the tools have texts for the user and for the developer: [Tools](tools.md#errors) lists them.
"""


def commands_page() -> str:
    """Return the help of every command."""
    return COMMANDS_START + "".join(_sections(dowse, None))


def _sections(command: click.Command, parent: click.Context | None) -> Iterator[str]:
    name = "dowse" if parent is None else command.name
    command = copy.copy(command)
    vars(command)["_help_option"] = None  # click keeps the option of whoever asked first, with or without -h
    context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH)
    context.help_option_names = ["-h", "--help"]
    level = "##" if parent is None or parent.parent is None else "###"
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    yield f"\n{level} {context.command_path.replace(' [DIR]', '')}\n\n```text\n{text}\n```\n"
    if isinstance(command, click.Group):
        for found in sorted(command.list_commands(context)):
            inner = command.get_command(context, found)
            if inner is not None and not inner.hidden:
                yield from _sections(inner, context)


def errors_page() -> str:
    """Return the codes of all errors that a command can end with."""
    codes: dict[tuple[str, int], list[str]] = {}
    for error in _tree(DowseError):
        codes.setdefault((error.code, error.exit_code), []).append(_meaning(error))
    rows = [
        f"| `{code}` | {number} | {'; '.join(dict.fromkeys(words))} |\n"
        for (code, number), words in sorted(codes.items())
    ]
    return ERRORS_START + "".join(rows) + ERRORS_END


def _meaning(error: type[DowseError]) -> str:
    words = (error.__doc__ or "").split("\n")[0].rstrip(".")
    return words[:1].lower() + words[1:]


def _tree(error: type[DowseError]) -> Iterator[type[DowseError]]:
    if error is not DowseError:
        yield error
    for inner in error.__subclasses__():
        yield from _tree(inner)
