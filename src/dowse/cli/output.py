"""What commands print: lines on stdout, talk and progress on stderr, and nothing that a terminal would obey."""

import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from dowse.errors import Failed
from dowse.platform import Lock
from dowse.types import Progress

if TYPE_CHECKING:
    from dowse.indexes.index import ProjectIndex

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)
"""What a terminal obeys and what nobody sees: control, direction and zero-width characters, halves of pairs."""

_MOMENT_SECONDS = 0.5
"""Work that takes less is done before anyone could read a bar."""


@dataclass(frozen=True, slots=True)
class CommandReply:
    """What a command answers where JSON is wanted, and how it ends."""

    value: dict[str, Any]
    exit_code: int = 0


class SafeText(str):
    """Text that is safe to show as it is."""

    __slots__ = ()


def shown(text: str, *, keeps_tabs: bool = False, **style: Any) -> SafeText:
    """Text as a person may see it: what is not to be trusted escaped, in colour where a terminal has it."""
    safe = _UNSAFE.sub(lambda found: found[0] if keeps_tabs and found[0] == "\t" else repr(found[0])[1:-1], text)
    return SafeText(click.style(safe, **style) if style and safe else safe)


def show(*parts: str) -> None:
    """Print one line; what is not `SafeText` yet is made so."""
    _write(_joined(parts), err=False)


def say(*parts: str) -> None:
    """Print one line to whoever sits in front of it."""
    _write(_joined(parts), err=True)


def show_text(text: SafeText) -> None:
    """Print text of several lines."""
    _write(text, err=False)


def as_json_text(value: dict[str, Any]) -> SafeText:
    """A JSON object, readable where the stream can carry it, and as harmless in a terminal as a line."""
    text = json.dumps(value, indent=2, ensure_ascii=not _speaks_unicode())
    return SafeText(_UNSAFE.sub(lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], text))


def show_warnings(warnings: list[str] | tuple[str, ...]) -> None:
    """Say what the user should know although the command goes on."""
    for warning in warnings:
        say(f"dowse: warning: {warning}")


def say_if_waiting(project: "ProjectIndex") -> None:
    """Say whom we wait for, before a wait that may be long."""
    if project.is_being_updated():
        say(f"dowse: waiting for {Lock(project.folder / 'index.lock').owner()} to finish indexing {project.root}")


def counted(count: int, noun: str) -> str:
    """`1 file`, `2,345 files`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


@contextmanager
def progress_bar(label: str, *, is_expected: bool = True) -> Iterator[Progress]:
    """A bar on a terminal, nothing elsewhere; where no work is expected, only once there is more than a moment's."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    bar = _Bar(label)
    try:
        if is_expected:
            bar.start()
        yield bar.advance
    finally:
        bar.stop()


class _Bar:
    """A progress bar that costs nothing until it is seen."""

    def __init__(self, label: str) -> None:
        self._label = shown(label)
        self._bar: Any = None
        self._worked_since: float | None = None

    def start(self) -> None:
        # rich.progress costs 0.17 s to import; only someone who watches pays for it.
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        label = TextColumn("{task.description}", markup=False)
        columns = (label, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self._label, total=None)

    def advance(self, done: int, total: int) -> None:
        if self._bar is None:
            self._worked_since = self._worked_since or time.monotonic()
            if time.monotonic() - self._worked_since < _MOMENT_SECONDS:
                return
            self.start()
        self._bar.update(self._task, completed=done, total=total)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _joined(parts: tuple[str, ...]) -> str:
    return "".join(part if isinstance(part, SafeText) else shown(part) for part in parts)


def _write(text: str, *, err: bool) -> None:
    try:
        click.echo(text, err=err)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failed(f"The output cannot be written: {error.strerror or error}.") from error


def _speaks_unicode() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
