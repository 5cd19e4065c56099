"""Commits as git prints them: their messages, the files they change, and the symbols they change."""

import contextlib
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from dowse.errors import Failed
from dowse.searching.history.git_objects import GitObjects
from dowse.searching.written_symbols import defined_names

MAX_MESSAGE_BYTES = 20_000
"""The rest of a longer message is not kept."""
MAX_RECORD_BYTES = 8_000_000
"""The rest of what git prints about one commit is passed over: it moves or generates files."""
MAX_FILES = 1000
"""Further files of one commit are counted and not kept."""
MAX_SYMBOLS = 100
"""Further symbols that one commit changes are not kept."""
MAX_NAME_CHARACTERS = 100

ReadingMode = Literal["-M", "-M100%", "-s"]
READING_MODES: tuple[ReadingMode, ...] = ("-M", "-M100%", "-s")
"""Options of git, each of which needs fewer objects: contents of renamed files that changed as well, lists of files,
and only the commits. A partial clone lacks some."""

_RAW = ("diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--always", "--no-color")
_MESSAGES = ("log", "--no-walk=unsorted", "--stdin", "-s", "-z", "--no-color", "--no-show-signature")
PATCH = (
    "diff-tree", "--root", "-r", "-z", "--raw", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "-M",
)  # fmt: skip
"""What makes git print the changed files one by one, and then their changes."""
_CHANGED_LINE = re.compile(rb"^(?:@@ [^@\n]{3,60} @@ ?|[+-](?![+-]))([^\n]{1,400})", re.MULTILINE)
_DEFINING = re.compile(
    r"\b(?:class|def|defmacro|defmodule|defp|enum|extension|fn|func|function|impl|interface|macro|module|namespace|"
    r"newtype|object|proc|protocol|record|struct|sub|trait|type|typedef|union)\b"
)
_MARK_BYTES = 16


def moment_of(seconds: int) -> datetime | None:
    """Return the time of a commit; None if it is none that a calendar has."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """A commit as it is in the repository, with the paths below the root."""

    name: str
    time: int
    """Seconds since 1970; 0 if the commit has no date that can be read."""
    author: str
    message: str
    files: tuple[str, ...]
    renames: tuple[tuple[str, str], ...]
    """The old and the new name of each renamed file."""
    file_count: int
    """How many files it changes, of which `files` has the first; -1 if they are not known."""
    is_cut: bool = False
    """Whether it changes more files: those that were passed over are not counted."""


def read_commits(
    git: GitObjects, names: Sequence[str], seconds: float, how: ReadingMode = "-M"
) -> Iterator[CommitRecord]:
    """Yield commits in the order of their names; raise Failed at one that cannot be read in this way."""
    mark = secrets.token_hex(_MARK_BYTES)
    shape = f"--format=%x00{mark}%x00%H%x00%ct%x00%an%x00%B%x00"
    lead = git.repository.lead
    limit = ("--", lead.rstrip("/")) if lead else ()
    separator = f"\0{mark}\0".encode()
    command = [*_MESSAGES, shape] if how == "-s" else [*_RAW, how, shape, *limit]
    for record in _split_records(git, command, names, separator, seconds):
        if (found := _parse_commit(record, lead, has_files=how != "-s")) is not None:
            yield found


def read_symbols(git: GitObjects, names: Sequence[str], seconds: float) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield the name of each commit with the symbols that it changes, by the path of their file below the root."""
    mark, lead = secrets.token_hex(_MARK_BYTES), git.repository.lead
    limit = ("--", lead.rstrip("/")) if lead else ()
    separator = f"{mark} ".encode()
    command = [*PATCH, "--stdin", "-U0", "--always", f"--format={mark} %H", *limit]
    for record in _split_records(git, command, names, separator, seconds):
        name, _, printed = record.partition(b"\0")
        yield name.decode("ascii", "replace").strip(), _changed_symbols(printed, lead)


class CommitList(NamedTuple):
    """The commits that a new tip leads to, newest first, and those that it does not lead to any more."""

    new: list[str]
    gone: list[str]
    problem: str = ""
    """Why older commits are not listed."""


def list_commits(git: GitObjects, tip: str, without: str | None, limit: int) -> CommitList:
    """Return the commits that can be reached from a tip, at most `limit`.

    With another commit, return only those that cannot be reached from it, and those that can only be reached from it.
    """
    lead = git.repository.lead
    # Merges of a part of the repository are mostly about its other parts.
    below = ("--full-history", "--no-merges", "--", lead.rstrip("/")) if lead else ()
    revisions = ("--left-right", f"{without}...{tip}") if without else (tip,)
    output, problem = bytearray(), ""
    try:
        for chunk in git.stream("rev-list", f"--max-count={limit}", *revisions, *below):
            output += chunk
    except Failed as error:
        if without or not output:
            raise
        problem = str(error)
    lines = output.decode("ascii", "replace").split("\n")
    new = [line.removeprefix(">") for line in lines if line and not line.startswith("<")]
    return CommitList(new, [line[1:] for line in lines if line.startswith("<")], problem)


def _split_records(
    git: GitObjects, arguments: Sequence[str], names: Sequence[str], separator: bytes, seconds: float
) -> Iterator[bytes]:
    """Yield what follows each separator, up to a limit. The last one is left out if git failed in it."""
    buffer, is_begun, searched = bytearray(), False, 0
    with contextlib.closing(git.stream(*arguments, lines=names, seconds=seconds)) as chunks:
        for chunk in chunks:
            buffer += chunk
            while (at := buffer.find(separator, searched)) >= 0:
                if is_begun:
                    yield bytes(buffer[:at])
                is_begun = True
                del buffer[: at + len(separator)]
                searched = 0
            if len(buffer) > MAX_RECORD_BYTES + len(chunk):
                # Keep the beginning, and the end in which a separator may have begun.
                del buffer[MAX_RECORD_BYTES : len(buffer) - len(separator)]
            searched = max(0, len(buffer) - len(separator))
    if is_begun:
        yield bytes(buffer)


def _parse_commit(record: bytes, lead: str, *, has_files: bool) -> CommitRecord | None:
    fields = record.split(b"\0", 4)
    if len(fields) < 4:
        return None
    name, date, author, message = fields[:4]
    files, renames, count = _parse_raw(fields[4] if len(fields) > 4 else b"", lead)
    return CommitRecord(
        name.decode("ascii", "replace"),
        _parse_time(date),
        author[:200].decode(errors="replace"),
        message[:MAX_MESSAGE_BYTES].decode(errors="replace").replace("\r\n", "\n").strip(),
        tuple(files),
        tuple(renames),
        count if has_files else -1,
        is_cut=len(record) >= MAX_RECORD_BYTES,
    )


def _parse_raw(raw: bytes, lead: str) -> tuple[list[str], list[tuple[str, str]], int]:
    files: list[str] = []
    renames: list[tuple[str, str]] = []
    count = 0
    for count, (status, old, new) in enumerate(_raw_changes(raw), 1):
        path = _path_below(new, lead) if count <= MAX_FILES else None
        if path:
            files.append(path)
            if status == b"R" and (before := _path_below(old, lead)):
                renames.append((before, path))
    return files, renames, count


def _raw_changes(raw: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield how each file is changed, and its name before and now."""
    fields = iter(raw.split(b"\0"))
    for field in fields:
        head = field.strip()
        if head.startswith(b":"):
            status, old = head.rpartition(b" ")[2][:1], next(fields, b"")
            yield status, old, next(fields, b"") if status in b"RC" else old


class FilePatch(NamedTuple):
    """The names of a changed file before and now, None for one outside of the root, and its hunks as git prints them."""

    old: str | None
    new: str | None
    hunks: bytes


def split_patch(printed: bytes, lead: str) -> Iterator[FilePatch]:
    """Yield the changes of each file of a commit."""
    raw, _, patch = printed.partition(b"\0\0diff --git ")
    # A file that becomes a link is removed and made again.
    names = [(old, new) for status, old, new in _raw_changes(raw) for _ in range(2 if status == b"T" else 1)]
    for (old, new), section in zip(names, re.split(rb"^diff --git ", patch, flags=re.MULTILINE), strict=False):
        _, at, hunks = section.partition(b"\n@@ ")
        yield FilePatch(_path_below(old, lead), _path_below(new, lead), b"@@ " + hunks if at else b"")


def _path_below(raw: bytes, lead: str) -> str | None:
    """Return a path relative to the root; None for one outside of it, or one that is no text."""
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        return None
    return path[len(lead) :] if path.startswith(lead) and len(path) > len(lead) else None


def _parse_time(date: bytes) -> int:
    try:
        seconds = int(date)
    except ValueError:
        return 0
    return seconds if abs(seconds) < 1 << 62 else 0


def _changed_symbols(printed: bytes, lead: str) -> dict[str, list[str]]:
    """Return the names of functions and classes that a commit changes or changes something in, by file."""
    found: dict[str, dict[str, None]] = {}
    count = 0
    for patch in split_patch(printed, lead):
        names = found.setdefault(patch.new or patch.old or "", {})
        for line in _CHANGED_LINE.finditer(patch.hunks):
            text = line[1].decode(errors="replace")
            if count < MAX_SYMBOLS and _DEFINING.search(text):
                new = {name: None for name in defined_names(text.strip()) if 1 < len(name) <= MAX_NAME_CHARACTERS}
                count += len(new.keys() - names.keys())
                names |= new
    return {path: list(names) for path, names in found.items() if path and names}
