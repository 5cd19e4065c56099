"""What a person types after a command: paths, and whether JSON is wanted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dowse.errors import UsageError

json_option: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of text."
)


def asks_for_json(arguments: list[str]) -> bool:
    """Whether JSON is wanted, also of a command line that makes no sense otherwise."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return "--json" in arguments[:end]


def named_path(text: str) -> Path:
    """A path as it was typed, made absolute by the letter: symlinks in it are not followed."""
    if not text or "\0" in text:
        raise UsageError(f"{text!r} is not a path, neither of a file nor of a folder.")
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise UsageError(
            f"{text} cannot be found: there is no such user. Write ./{text} for a name like this."
        ) from error


def named_folder(text: str | None) -> Path | None:
    """A folder named on the command line; it has to be there."""
    if text is None:
        return None
    path = named_path(text)
    if not path.is_dir():
        raise UsageError(f"{text} is not a folder.")
    return path
