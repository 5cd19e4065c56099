"""A change of one configuration file: its plan, its difference as text, and the way back.

A record in the storage root says what each file was before. As long as nobody has changed the file since,
removing dowse restores it byte by byte; else only the entry of dowse is removed.
"""

import contextlib
import difflib
import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse.cli.assistants.config_edits import entry_of, put_entry, remove_entry
from dowse.cli.assistants.known_assistants import SERVER_NAME, Assistant
from dowse.system.platform import make_private_folder, storage_root, write_atomically
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
        if before is None:
            return ConfigChange(assistant, file, "unchanged")
        record = _records().get(str(_real(file)))
        if record and record["after"] == _hash(before):
            original, is_known = _original(file, record)
            if is_known:
                return ConfigChange(assistant, file, "removed", before, original)
        text = before.decode()
        present = entry_of(file, text, assistant.path)
        if present is None or not _starts_dowse(assistant, present):
            return ConfigChange(assistant, file, "unchanged", before, before)
        after = remove_entry(file, text, assistant.path)
    except (OSError, ValueError, RecursionError) as error:
        return _skipped(assistant, file, error)
    return ConfigChange(assistant, file, "removed", before, after.encode())


def apply_change(change: ConfigChange) -> None:
    """Write a planned change, with a backup beside the file. Raise NotWritable or OSError and change nothing else."""
    file = _real(change.file)
    records = _records()
    if change.action == "removed":
        _write(file, change.after)
        if record := records.pop(str(file), None):
            with contextlib.suppress(OSError):
                _backup(file).unlink()
            if change.after is None:
                _remove_empty_folders(record["folders"])
    else:
        folders = [str(folder) for folder in file.parents if not folder.exists()]
        make_private_folder(file.parent)
        earlier = records.get(str(file))
        if record := _new_record(change, earlier, folders):
            records[str(file)] = record
        if change.before is not None and (change.action == "added" or earlier is None):
            _write(_backup(file), change.before, like=file)
        _write(file, change.after)
    _write_records(records)


def _new_record(change: ConfigChange, earlier: dict[str, Any] | None, folders: list[str]) -> dict[str, Any] | None:
    """Return what to remember of a file. An entry that dowse did not write itself leaves nothing to go back to."""
    after = _hash(change.after or b"")
    if earlier and change.before is not None and earlier["after"] == _hash(change.before):
        return {**earlier, "after": after}
    if change.action != "added":
        return None
    return {"before": None if change.before is None else _hash(change.before), "after": after, "folders": folders}


def backup_of(file: Path) -> Path | None:
    """Return the copy of a file as it was before, if there is one."""
    backup = _backup(_real(file))
    return backup if backup.exists() else None


def _starts_dowse(assistant: Assistant, entry: dict[str, Any]) -> bool:
    """Return whether an entry starts dowse: somebody may have called another server by this name."""
    try:
        words = assistant.command_of(entry)
    except (KeyError, TypeError, AttributeError):  # it has an address, or is written by hand
        return False
    return any(re.split(r"[/\\]", word)[-1].lower() in ("dowse", "dowse.exe") for word in words)


def _original(file: Path, record: dict[str, Any]) -> tuple[bytes | None, bool]:
    if record["before"] is None:
        return None, True
    try:
        data = read_small_file(_backup(_real(file)), MAX_CONFIG_BYTES)
    except OSError:
        return None, False
    return data, _hash(data) == record["before"]


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


def _remove_empty_folders(folders: list[str]) -> None:
    for folder in folders:  # the innermost first
        with contextlib.suppress(OSError):
            Path(folder).rmdir()


def _real(file: Path) -> Path:
    return Path(os.path.realpath(file))


def _backup(file: Path) -> Path:
    return file.with_name(file.name + BACKUP_SUFFIX)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _record_file() -> Path:
    return storage_root() / "installed.json"


def _records() -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(read_small_file(_record_file(), MAX_CONFIG_BYTES))["files"]
        known = {"before", "after", "folders"}
        return {name: record for name, record in found.items() if known <= record.keys()}
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):  # it is damaged, or not there
        return {}


def _write_records(records: dict[str, Any]) -> None:
    make_private_folder(storage_root())
    write_atomically(_record_file(), json.dumps({"version": 1, "files": records}, indent=2).encode())
