"""The layout of the storage root: one folder per indexed project, the JSON files in it, and how long its locks are waited for."""

import contextlib
import hashlib
import json
import os
import shutil
import stat
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from dowse import __version__
from dowse.errors import SettingsError
from dowse.settings import read_json
from dowse.system.platform import storage_root, write_atomically
from dowse.types import Kind, Totals, View

_VIEW_NAMES = {View.PROJECT: "project", View.DOCUMENTS: "documents"}

_USED_FILE = "last-used"
"""An empty file in the folder of an index; its time says when the index was last used."""
_USE_INTERVAL_SECONDS = 3600
"""The resolution of the time of the last use, so that an index in frequent use is not touched each time."""
_FILE_SUFFIXES = (".json", ".lock", ".matrix", ".sqlite", ".sqlite-shm", ".sqlite-wal")
"""How the names of the files of an index end. Its folders have no suffix."""
_FORGOTTEN = ".forgotten-"
"""Part of the name of a folder that is about to be removed."""

RootState = Literal["present", "missing", "unreachable"]
IndexKind = Literal["indexes", "archives"]
INDEX_KINDS: tuple[IndexKind, ...] = ("indexes", "archives")
"""The folders with the indexes of roots: a root may be a project or folder of documents, and an archive as well."""

_FINGERPRINTS: dict[Kind, str] = {"code": "fingerprints.json", "docs": "docs-fingerprints.json"}


@dataclass(frozen=True, slots=True)
class Project:
    """An index as its `metadata.json` describes it."""

    folder: Path
    root: Path
    metadata: dict[str, Any]

    @property
    def is_archive(self) -> bool:
        """Whether it is the index of an archive."""
        return self.folder.parent.name == "archives"

    @property
    def views(self) -> View:
        """The views that the index has. Metadata without names is about a project."""
        names = self.metadata.get("views")
        if not isinstance(names, list):
            return View.PROJECT
        return View(sum(view for view, name in _VIEW_NAMES.items() if name in names)) or View.PROJECT

    @property
    def exists(self) -> bool:
        """Whether the root still exists."""
        return self.root_state == "present"

    @property
    def root_state(self) -> RootState:
        """Whether the root exists, was removed, or cannot be reached now, for example because its disk is not mounted."""
        return _find_root_state(self.root, self.last_used)

    @property
    def last_used(self) -> float:
        """When the index was last searched or updated, to the hour."""
        return last_used(self.folder)

    @property
    def files(self) -> int:
        """Number of files in the index of a project, according to the metadata; of documents where there is no project."""
        return self._number("stats", "totalFiles") + self._number("docsStats", "totalDocs")

    @property
    def documents(self) -> int | None:
        """Number of documents, according to the metadata; None if they are not indexed."""
        if not self.views & View.DOCUMENTS:
            return None
        return self._number("documentsStats", "totalDocuments") if self.views & View.PROJECT else self.files

    @property
    def chunks(self) -> int:
        """Number of chunks in the index, according to the metadata."""
        return self._number("stats", "totalChunks") + self._number("docsStats", "totalDocChunks")

    @property
    def size_bytes(self) -> int:
        """Size of the index on disk."""
        return folder_size(self.folder)

    def _number(self, part: str, key: str) -> int:
        value = self.metadata.get(part)
        number = value.get(key) if isinstance(value, dict) else None
        return number if isinstance(number, int) else 0


def _find_root_state(root: Path, used: float) -> RootState:
    try:
        return "present" if stat.S_ISDIR(os.stat(root).st_mode) else "missing"  # noqa: PTH116 - Path.is_dir raises
    except FileNotFoundError:
        pass
    except OSError:  # no permission, or a network disk that does not answer
        return "unreachable"
    try:
        above = root.parent.stat()
        has_others = any(root.parent.iterdir())
    except OSError:
        return "unreachable"
    # The folder below which a disk is mounted is empty without it, and was last changed before the disk was used.
    return "missing" if has_others or above.st_mtime > used else "unreachable"


def folder_size(folder: Path) -> int:
    """Return the size on disk of everything in a folder."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # another process may remove files meanwhile
                total += os.lstat(f"{path}/{name}").st_size
    return total


def mark_used(folder: Path) -> None:
    """Record that an index is used now, at most once an hour. Where nothing can be written, nothing is recorded."""
    file = folder / _USED_FILE
    with contextlib.suppress(OSError):
        if not file.exists() or time.time() - file.stat().st_mtime >= _USE_INTERVAL_SECONDS:
            file.touch(mode=0o600)


def last_used(folder: Path) -> float:
    """Return when the index in a folder was last used, to the hour."""
    times = [0.0]
    for file in (folder / _USED_FILE, folder / "metadata.json"):
        with contextlib.suppress(OSError):
            times.append(file.stat().st_mtime)
    return max(times)


def nearest_indexed(folder: Path) -> Path | None:
    """Return the nearest folder at or above one that has an index."""
    candidates = (folder, *folder.resolve().parents)
    return next((one for one in candidates if (index_folder(one) / "catalog.sqlite").exists()), None)


def index_folder(root: Path, kind: IndexKind = "indexes") -> Path:
    """Return the folder of the index of a root, whether or not it exists. A root may be an archive as well."""
    digest = hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()
    indexes = storage_root() / kind
    short = indexes / digest[:16]
    return short if short.is_dir() else indexes / digest[:32]


def move_obstacles_aside(folder: Path) -> list[str]:
    """Rename what stands in the place of a file of an index and is none; return a message for each.

    It may be a folder, or a link that leads nowhere. The index then lacks that file, which every part of it survives.
    """
    messages = []
    with contextlib.suppress(OSError):  # there is no index yet, or it cannot be changed
        for entry in [Path(entry.path) for entry in os.scandir(folder) if not _is_file(entry)]:
            if entry.suffix in _FILE_SUFFIXES:
                backup = entry.with_name(f"{entry.name}.bak")
                shutil.rmtree(backup, ignore_errors=True)  # a folder that was set aside before
                entry.replace(backup)
                messages.append(f"{entry.name} was not a file. It was set aside as {backup.name} and is made anew.")
    return messages


def _is_file(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False


def notes_folder() -> Path:
    """Return the folder of the named indexes that are kept on disk."""
    return storage_root() / "notes"


def vector_cache_file() -> Path:
    """Return the file that caches the vectors of all projects; another format gets another name."""
    return storage_root() / "vectors-2.sqlite"


def global_settings_file() -> Path:
    """Return the file with the settings for all projects."""
    return storage_root() / "config.json"


def list_projects() -> list[Project]:
    """Return all indexed projects, folders of documents and archives, sorted by path."""
    folders = (folder for kind in INDEX_KINDS for folder in (storage_root() / kind).glob("*"))
    found = (read_project(folder) for folder in folders if folder.is_dir() and _FORGOTTEN not in folder.name)
    return sorted((project for project in found if project), key=lambda project: (project.root, project.is_archive))


def set_forgotten(folder: Path) -> None:
    """Take the folder of an index away in one step, so that no process finds half of it."""
    folder.rename(folder.with_name(f"{folder.name}{_FORGOTTEN}{os.urandom(4).hex()}"))


def remove_forgotten_folders() -> None:
    """Remove the folders that were taken away, also by processes that were killed."""
    for kind in INDEX_KINDS:
        for folder in (storage_root() / kind).glob(f"*{_FORGOTTEN}*"):
            shutil.rmtree(folder, ignore_errors=True)


def read_project(folder: Path) -> Project | None:
    """Return the project whose index is in a folder; None when its metadata is missing or invalid."""
    try:
        metadata = read_json(folder / "metadata.json")
        return Project(folder, Path(metadata["projectPath"]), metadata)
    except (SettingsError, KeyError, TypeError, ValueError):
        return None


def write_metadata(
    folder: Path, root: Path, totals: dict[View, dict[Kind, Totals]], size_bytes: int, *, is_full: bool
) -> None:
    """Write `metadata.json`; `is_full` means that everything was indexed, not only what changed.

    `totals` has the counts of each view that the index has.
    """
    before = read_project(folder)
    known = before.metadata if before else {}
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    metadata = known | {
        "version": __version__,
        "projectPath": str(root),
        "createdAt": known.get("createdAt", now),
        "lastFullIndex": now if is_full else known.get("lastFullIndex"),
        "lastIncrementalUpdate": now,
        **index_stats(totals.get(View.PROJECT) or totals[View.DOCUMENTS], size_bytes),
        "lastDocsIndex": now if is_full else known.get("lastDocsIndex"),
    }
    metadata.pop("views", None)
    if View.DOCUMENTS in totals:
        metadata["views"] = [name for view, name in _VIEW_NAMES.items() if view in totals]
    if len(totals) > 1:
        documents = totals[View.DOCUMENTS].values()
        metadata["documentsStats"] = {
            "totalDocuments": sum(counted.documents for counted in documents),
            "totalDocumentChunks": sum(counted.chunks for counted in documents),
        }
    write_json(folder / "metadata.json", metadata)


def index_stats(totals: dict[Kind, Totals], size_bytes: int) -> dict[str, dict[str, int]]:
    """Return the counts of `metadata.json`. The size is divided by chunks, since both kinds are in one store."""
    code, docs = totals["code"], totals["docs"]
    docs_bytes = size_bytes * docs.chunks // max(1, code.chunks + docs.chunks)
    return {
        "stats": {
            "totalFiles": code.documents,
            "totalChunks": code.chunks,
            "storageSizeBytes": size_bytes - docs_bytes,
        },
        "docsStats": {
            "totalDocs": docs.documents,
            "totalDocChunks": docs.chunks,
            "docsStorageSizeBytes": docs_bytes,
        },
    }


def write_fingerprints(folder: Path, hashes: dict[Kind, dict[str, str]]) -> None:
    """Write the maps from path to SHA-256, one for code and one for docs."""
    for kind, name in _FINGERPRINTS.items():
        write_atomically(folder / name, _to_json_bytes(hashes[kind]), is_durable=False)  # made again from the catalog


def has_fingerprints(folder: Path, hashes: dict[Kind, dict[str, str]] | None = None) -> bool:
    """Return whether the maps exist and, if hashes are given, contain exactly those."""
    for kind, name in _FINGERPRINTS.items():
        try:
            data = (folder / name).read_bytes()
        except OSError:
            return False
        if hashes is not None and data != _to_json_bytes(hashes[kind]):
            return False
    return True


def write_json(file: Path, value: Any) -> None:
    """Replace a JSON file atomically."""
    write_atomically(file, _to_json_bytes(value))


def _to_json_bytes(value: Any) -> bytes:
    # ASCII only, because a path on disk need not be valid Unicode.
    return (json.dumps(value, indent=2) + "\n").encode()


WRITE_WAIT_SECONDS = 60.0
"""How long a writer waits for another one's batch; a batch takes about a second."""
READ_WAIT_SECONDS = 0.3
"""How long a search waits to bring derived files up to date before it uses them as they are."""
