"""What commands print: JSON or lines on stdout, progress and errors on stderr."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from dowse.errors import UsageError
from dowse.types import Progress

json_option: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of text."
)


def show_json(value: dict[str, Any]) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=not _speaks_unicode()))


def show_error(code: str, message: str, exit_code: int, *, as_json: bool) -> int:
    """Say in one line what went wrong; the exit code."""
    line = " ".join(message.split())
    if as_json:
        show_json({"error": {"code": code, "message": line}})
    click.echo(f"dowse: {line}", err=True)
    return exit_code


def show_warnings(warnings: list[str] | tuple[str, ...]) -> None:
    """Say what the user should know although the command goes on."""
    for warning in warnings:
        click.echo(f"dowse: warning: {warning}", err=True)


def named_folder(folder: str | None) -> Path | None:
    """A folder named on the command line; it has to be there."""
    if folder is None:
        return None
    path = Path(folder).expanduser()
    if "\0" in folder or not path.is_dir():
        raise UsageError(f"{folder!r} is not a folder.")
    return path


def styled(text: str, **style: Any) -> str:
    """Text of a project as a terminal may show it: no escape codes of its own, ours where there is colour."""
    return click.style("".join(map(_printable, text)) if not text.isprintable() else text, **style)


def _printable(character: str) -> str:
    return character if character.isprintable() or character == "\t" else repr(character)[1:-1]


def counted(count: int, noun: str) -> str:
    """`1 file`, `2,345 files`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def as_size(size_bytes: int) -> str:
    """`640 B`, `12 KB`, `45 MB`."""
    size = float(size_bytes)
    for unit in ("B", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if size >= 10 or unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    # rich.progress costs 0.17 s to import; only someone who watches pays for it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _speaks_unicode() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
