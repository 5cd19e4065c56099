"""Arguments that many commands share: paths, and the option --json."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from dowse.errors import UsageError

json_option: Callable[[Any], Any] = click.option(
    "--json", is_flag=True, expose_value=False, help="Print one JSON object instead of text."
)


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether --json is given, even on a command line that is otherwise invalid."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return "--json" in arguments[:end]


def prints_json() -> bool:
    """Return whether the command that runs prints JSON."""
    return click.get_current_context().obj is True


def value_option(name: str, kind: Any, default: Any, about: str, **more: Any) -> Callable[[Any], Any]:
    """Return an option that takes a value of some kind, or one of some words, and shows its default."""
    kind = click.Choice(kind) if isinstance(kind, tuple) else kind
    return click.option(name, *more.pop("names", ()), type=kind, default=default, show_default=True, help=about, **more)


def count_option(name: str, most: int, default: int, about: str) -> Callable[[Any], Any]:
    """Return an option that takes a number from 1 to a maximum."""
    return value_option(name, click.IntRange(1, most), default, about)


def parse_query(text: str) -> str:
    """Return a query with bytes that are not UTF-8 replaced, as they are when a file is read."""
    if not text.strip():
        raise UsageError("The query is empty. Say what to look for.")
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def parse_path(text: str) -> Path:
    """Return a path as an absolute one, without following symlinks."""
    if not text or "\0" in text:
        raise UsageError(f"{text!r} is not a path of a file or folder.")
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise UsageError(
            f"{text} cannot be found: there is no such user. If a file or folder has this name, write ./{text}."
        ) from error


def parse_folder(text: str) -> Path:
    """Return a folder named on the command line. Raise a UsageError if it does not exist."""
    path = parse_path(text)
    if not path.is_dir():
        raise UsageError(f"{text} is not a folder.")
    return path


def parse_root(text: str) -> Path:
    """Return a folder named on the command line, or that of the clone of a repository whose address is named."""
    if "://" not in text:
        return parse_folder(text)
    from dowse.cli.output import progress_bar, show_warnings
    from dowse.indexes.cloned_repositories import clone_or_fetch, parse_address

    address = parse_address(text)
    with progress_bar(f"Fetching {address.url}"):
        root, warning = clone_or_fetch(address)
    show_warnings([warning] if warning else [])
    return root


class _PathType(click.types.StringParamType):
    """A file or folder, which the shell itself completes."""

    def __init__(self, kind: str, parse: Callable[[str], Any] = str) -> None:
        self.name, self._parse = kind, parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        return self._parse(value) if isinstance(value, str) else value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return [CompletionItem(incomplete, type=self.name)]


FILE, FOLDER = _PathType("file", parse_path), _PathType("dir", parse_folder)
"""The path of a file, which need not exist, and that of a folder that exists."""
FILE_TEXT, FOLDER_TEXT = _PathType("file"), _PathType("dir")
"""A text that may name a file or folder."""

folder_argument = click.argument("folder", metavar="[DIR]", required=False, type=FOLDER)
