"""A change of one configuration file: its plan, its difference as text, and the way back.

A copy of the file as it was stays beside it. If the copy and the entry of dowse make the file as it is now, nobody has
changed it since, and removing dowse restores it byte by byte; else only the entry of dowse is removed.
"""

import contextlib
import difflib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse.cli.assistants.config_edits import entry_of, put_entry, remove_entry
from dowse.cli.assistants.known_assistants import SERVER_NAME, Assistant
from dowse.system.platform import make_private_folder, write_atomically
from dowse.system.small_files import read_small_file

MAX_CONFIG_BYTES = 16 * 1024 * 1024
"""Claude Code keeps its history in the same file as its servers; such files have megabytes."""
BACKUP_SUFFIX = ".before-dowse"


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """The planned change of one file. Its action is `added`, `updated`, `removed`, `unchanged`, or `skipped` with a problem."""

    assistant: Assistant
    file: Path
    action: str
    before: bytes | None = None
    after: bytes | None = None
    entry: dict[str, Any] | None = None
    problem: str = ""

    @property
    def is_change(self) -> bool:
        return self.action in ("added", "updated", "removed")

    @property
    def link(self) -> str:
        """A link that makes the same change, if the assistant has such links."""
        return self.assistant.install_link(self.entry) if self.entry else ""

    def difference(self) -> list[str]:
        """Return the change as lines of a unified diff."""
        old, new = ((data or b"").decode().splitlines() for data in (self.before, self.after))
        names = [str(self.file) if data is not None else os.devnull for data in (self.before, self.after)]
        return list(difflib.unified_diff(old, new, names[0], names[1], lineterm=""))


def plan_install(assistant: Assistant, file: Path, command: str, arguments: list[str]) -> ConfigChange:
    """Return the change that adds dowse to a file, or brings its entry up to date."""
    try:
        before = _read(file)
        text = (before or b"").decode()
        present = entry_of(file, text, assistant.path)
        if present and not _starts_dowse(assistant, present):
            raise ValueError(f"its entry {SERVER_NAME} starts another program; rename that entry")
        entry = {**(present or {}), **assistant.server_entry(command, arguments)}
        if entry == present:
            return ConfigChange(assistant, file, "unchanged", before, before, entry)
        after = put_entry(file, text, assistant.path, entry)
    except (OSError, ValueError, RecursionError) as error:
        return _skipped(assistant, file, error)
    return ConfigChange(assistant, file, "updated" if present else "added", before, after.encode(), entry)


def plan_removal(assistant: Assistant, file: Path) -> ConfigChange:
    """Return the change that removes dowse from a file: back to what it was, or without the entry of dowse."""
    try:
        before = _read(file)
        text = (before or b"").decode()
        present = entry_of(file, text, assistant.path)
        if present is None or not _starts_dowse(assistant, present):
            return ConfigChange(assistant, file, "unchanged", before, before)
        for original in (_original(assistant, file), None):  # a copy may be of a file that somebody deleted since
            if put_entry(file, original or "", assistant.path, present) == text:
                break
        else:
            original = remove_entry(file, text, assistant.path)
    except (OSError, ValueError, RecursionError) as error:
        return _skipped(assistant, file, error)
    return ConfigChange(assistant, file, "removed", before, None if original is None else original.encode())


def _original(assistant: Assistant, file: Path) -> str | None:
    """Return the copy of a file as it was before dowse; None if there is none."""
    try:
        text = read_small_file(_backup(_real(file)), MAX_CONFIG_BYTES).decode()
        return text if entry_of(file, text, assistant.path) is None else None
    except (OSError, ValueError, RecursionError):
        return None


def apply_change(change: ConfigChange) -> None:
    """Write a planned change, with a backup beside the file. Raise NotWritable or OSError and change nothing else."""
    file = _real(change.file)
    if change.action != "removed":
        make_private_folder(file.parent)
        if not _is_from_nothing(change) and (change.action == "added" or not _backup(file).exists()):
            _write(_backup(file), change.before, like=file)
        _write(file, change.after)
        return
    _write(file, change.after)
    if change.after is not None and _original(change.assistant, file) is not None:
        _backup(file).unlink()
    if change.after is None:
        with contextlib.suppress(OSError):  # up to the first folder that has something else in it
            for folder in change.assistant.own_folders(file):
                folder.rmdir()


def _is_from_nothing(change: ConfigChange) -> bool:
    """Return whether there was no file, or one as dowse makes it then."""
    if change.before is None:
        return True
    text = change.before.decode()
    entry = entry_of(change.file, text, change.assistant.path)
    return entry is not None and put_entry(change.file, "", change.assistant.path, entry) == text


def backup_of(change: ConfigChange) -> Path | None:
    """Return the copy of the file as it was before, if there is one."""
    backup = _backup(_real(change.file))
    return backup if backup.exists() and not _is_from_nothing(change) else None


def _starts_dowse(assistant: Assistant, entry: dict[str, Any]) -> bool:
    """Return whether an entry starts dowse: somebody may have called another server by this name."""
    try:
        words = assistant.command_of(entry)
    except (KeyError, TypeError, AttributeError):  # it has an address, or is written by hand
        return False
    return any(re.split(r"[/\\]", word)[-1].lower() in ("dowse", "dowse.exe") for word in words)


def _skipped(assistant: Assistant, file: Path, error: Exception) -> ConfigChange:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    if isinstance(error, RecursionError):
        reason = "it is nested too deeply"
    return ConfigChange(assistant, file, "skipped", problem=f"{file} was left alone: {reason or error}.")


def _read(file: Path) -> bytes | None:
    try:
        return read_small_file(file, MAX_CONFIG_BYTES, follows_links=True)
    except FileNotFoundError:
        return None


def _write(file: Path, data: bytes | None, like: Path | None = None) -> None:
    if data is None:
        file.unlink(missing_ok=True)
        return
    mode = None
    with contextlib.suppress(OSError):
        mode = (like or file).stat().st_mode & 0o777
    if mode is not None and not os.access(like or file, os.W_OK):
        raise PermissionError(13, "it is read-only", str(like or file))
    write_atomically(file, data)
    if mode is not None:
        file.chmod(mode)


def _real(file: Path) -> Path:
    return Path(os.path.realpath(file))


def _backup(file: Path) -> Path:
    return file.with_name(file.name + BACKUP_SUFFIX)
