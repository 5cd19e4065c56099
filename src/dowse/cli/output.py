"""Output of commands: results on stdout, messages and progress on stderr, with control characters escaped."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from dowse.errors import Failed
from dowse.system.platform import Lock
from dowse.types import Progress
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.api.folder_target import FolderTarget
    from dowse.api.search_targets import PackageTarget, PlaceTarget
    from dowse.archives.archive_types import ArchiveReport
    from dowse.indexes.encoding_progress import EncodingProgress
    from dowse.indexes.index import IndexReport, ProjectIndex

    SearchTarget = FolderTarget | PlaceTarget | PackageTarget

_UNSAFE_CHARACTERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)
"""Control, direction and zero-width characters, and lone surrogates: invisible, or interpreted by a terminal."""

INTERRUPTED = 130
"""The exit code that a shell expects from a command interrupted with Ctrl-C."""
MAX_UNPARSED = 20
"""The number of files that were read as plain text and are listed; the rest is counted."""
BAR_DELAY_SECONDS = 0.5
"""Shorter work gets no progress bar."""


class SafeText(str):
    """Text that is safe to print on a terminal."""

    __slots__ = ()


def escape(text: str, *, keeps_tabs: bool = False, **style: Any) -> SafeText:
    """Return text with unsafe characters escaped, and with the style if one is given."""
    safe = _UNSAFE_CHARACTERS.sub(
        lambda found: found[0] if keeps_tabs and found[0] == "\t" else repr(found[0])[1:-1], text
    )
    return SafeText(click.style(safe, **style) if style and safe else safe)


@dataclass(frozen=True, slots=True)
class CommandReply:
    """The answer of a command: the value that it prints with --json, and what it prints without."""

    value: dict[str, Any] | Callable[[], dict[str, Any]]
    """The value, or a function that makes it."""
    lines: Iterable[str | tuple[str, ...]] = ()
    """The lines on stdout, each whole or in parts; parts that are not `SafeText` are escaped."""
    notes: Iterable[str] = ()
    """The lines on stderr."""
    exit_code: int = 0

    def show_text(self) -> None:
        """Print the lines and the notes."""
        for line in self.lines:
            show(*((line,) if isinstance(line, str) else line))
        for note in self.notes:
            say(note)


def show(*parts: str) -> None:
    """Print one line to stdout; parts that are not `SafeText` are escaped."""
    _write(parts, err=False)


def say(*parts: str) -> None:
    """Print one line to stderr; parts that are not `SafeText` are escaped."""
    _write(parts, err=True)


def format_json(value: dict[str, Any]) -> SafeText:
    """Return an object as JSON with unsafe characters escaped; non-ASCII ones too, unless stdout is UTF-8."""
    text = json.dumps(value, indent=2, ensure_ascii=not _is_stdout_utf8())
    return SafeText(
        _UNSAFE_CHARACTERS.sub(lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], text)
    )


def show_warnings(warnings: Sequence[str]) -> None:
    """Print warnings to stderr."""
    for warning in warnings:
        say(f"dowse: warning: {warning}")


@contextmanager
def using(target: "SearchTarget | ProjectIndex", name: str, *locked: "ProjectIndex") -> Iterator[Progress]:
    """Use something in a block, which is given the progress bar of its indexing, and close it.

    Print its warnings before and after, and say which locks are waited for.
    """
    show_warnings(target.warnings)
    shown = len(target.warnings)
    for index in locked:
        say_if_locked(index)
    try:
        with progress_bar(f"Indexing {name}") as progress:
            yield progress
    finally:
        show_warnings(target.warnings[shown:])
        target.close()


def say_if_locked(project: "ProjectIndex") -> None:
    """Print which process holds the lock of an index, before a wait that may be long."""
    if project.is_being_updated():
        say(f"dowse: waiting for {Lock(project.folder / 'index.lock').owner()} to finish indexing {project.root}")


def confirm(question: str) -> bool:
    """Ask a question on stderr, and return whether the answer is yes."""
    click.echo(f"{question} [y/N]: ", nl=False, err=True)
    answer = sys.stdin.readline()
    if not answer:  # Ctrl-D leaves the cursor after the question
        say()
    return answer.strip().lower() in ("y", "yes")


def format_changes(report: "IndexReport | ArchiveReport") -> str:
    """Return what a run of indexing has changed."""
    counts = {"added": report.added, "updated": report.updated, "removed": report.removed}
    return ", ".join(
        [*(f"{count:,} {what}" for what, count in counts.items() if count), f"{report.unchanged:,} unchanged"]
    )


def format_unparsed(unparsed: dict[str, str]) -> list[str]:
    """Return a line for each file that was read as plain text, and one for those that are not listed."""
    lines = [f"read as plain text: {path} {problem}" for path, problem in islice(unparsed.items(), MAX_UNPARSED)]
    more = len(unparsed) - len(lines)
    return [*lines, f"read as plain text: {pluralize(more, 'more file')}"] if more else lines


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """Show a progress bar on a terminal, after half a second of work."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda *_: None
        return
    bar: Any = None
    worked_since = 0.0

    def advance(done: int, total: int) -> None:
        nonlocal bar, worked_since
        worked_since = worked_since or time.monotonic()
        if bar is None and time.monotonic() - worked_since >= BAR_DELAY_SECONDS:
            bar = click.progressbar(label=escape(label), length=0, show_pos=True, width=0, file=sys.stderr)
            bar.render_progress()
        if bar is not None:
            bar.length = total
            bar.update(done - bar.pos)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.render_finish()
            click.echo("\x1b[A\x1b[2K", err=True, nl=False)  # the finished bar does not stay on the screen


def _write(parts: tuple[str, ...], *, err: bool) -> None:
    text = "".join(part if isinstance(part, SafeText) else escape(part) for part in parts)
    try:
        click.echo(text, err=err, color=None if _has_colours() else False)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failed(f"The output cannot be written: {error.strerror or error}.") from error


def _has_colours() -> bool:
    """Return whether a terminal may get colours: not one that knows none, nor for a user who wants none (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _is_stdout_utf8() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"


def format_encoding(encoding: "EncodingProgress") -> str:
    """Return the progress of encoding as one line."""
    encoder = encoding.encoder
    progress = f"{encoding.done:,} of {encoding.total:,} chunks encoded by {encoder}"
    if encoding.serving:
        progress += f", {encoding.serving} is used meanwhile"
    texts = {
        "complete": f"{'the only chunk' if encoding.total == 1 else f'all {encoding.total:,} chunks'} encoded by {encoder}",
        "working": f"{progress}, the rest is being encoded",
        "waiting": f"{progress}; a server encodes the rest in the background, or run dowse index --wait",
        "off": 'off ("encoder" is "none")',
        "failed": f"{progress}; failed: {encoding.problem}",
    }
    return f"meaning: {texts[encoding.state]}"
