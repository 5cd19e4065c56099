"""The limit of the storage root: the least recently used indexes make room, because files can build them again."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import DowseError
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import open_log
from dowse.indexes.index_status import STORAGE_FACT, format_size
from dowse.platform import Lock, storage_root
from dowse.settings import load_settings
from dowse.store import storage_layout


@dataclass(frozen=True, slots=True)
class StorageUse:
    """The size of the storage root, and its limit."""

    folder: Path
    size_bytes: int
    limit_bytes: int


def storage_use() -> StorageUse:
    """Return how much the storage root takes. The global settings alone limit it."""
    settings, _ = load_settings(storage_layout.global_settings_file())
    return StorageUse(storage_root(), storage_layout.folder_size(storage_root()), settings.storage_limit_bytes)


@dataclass(frozen=True, slots=True)
class _Evictable:
    """Something that can be built again: an index, or the vector cache if there is no folder."""

    name: str
    size_bytes: int
    used: float
    remedy: str
    folder: Path | None = None


def enforce_storage_limit(index: ProjectIndex) -> list[str]:
    """Bring the storage root below its limit; return what was removed, or why too little could be, as users read it.

    Named indexes, the databases of archives and settings are never removed, nor the given index, nor one that a process
    uses or that was used within the hour. The messages are in the log and the status of the given index, too.
    """
    use, messages = storage_use(), list[str]()
    size, limit = use.size_bytes, use.limit_bytes
    if size > limit:
        for candidate in sorted(_find_evictable(index.folder), key=lambda candidate: candidate.used):
            message = _describe_removal(candidate, limit)
            if size > limit and _remove(candidate, message):
                size -= candidate.size_bytes
                messages.append(message)
        if size > limit:
            messages.append(_describe_excess(size, limit))
    for message in messages:
        open_log(index.folder).warning(message)
    with contextlib.suppress(DowseError):  # nothing can be written; the caller shows the messages
        if (index.whole.fact(STORAGE_FACT) or "") != (text := "\n".join(messages)):
            index.whole.set_fact(STORAGE_FACT, text or None)
    return messages


def _find_evictable(own: Path) -> Iterator[_Evictable]:
    for project in storage_layout.list_projects():
        folder = storage_layout.index_folder(project.root)
        if folder != own:
            remedy = f"dowse index {project.root} builds it again."
            yield _Evictable(f"index of {project.root}", project.size_bytes, project.last_used, remedy, folder)
    with contextlib.suppress(OSError):  # another process has just removed it
        if stats := [file.stat() for file in _cache_files()]:
            size, used = sum(stat.st_size for stat in stats), max(stat.st_mtime for stat in stats)
            yield _Evictable("vector cache", size, used, "Vectors are computed again when they are needed.")


def _remove(candidate: _Evictable, message: str) -> bool:
    """Remove something unless it is in use, and return whether it was removed."""
    if time.time() - candidate.used < storage_layout.USE_INTERVAL_SECONDS:
        return False
    try:
        if candidate.folder is None:
            for file in _cache_files():
                file.unlink()
            return True
        if any(Lock(file).is_taken() for file in candidate.folder.rglob("*.lock")):
            return False
        with Lock(candidate.folder / "index.lock").held(0):
            storage_layout.evict_index(candidate.folder, message)
    except (DowseError, OSError):
        return False
    return True


def _cache_files() -> list[Path]:
    """Return the files of the vector cache, the database last: without its log it is older, but whole."""
    database = storage_layout.vector_cache_file()
    files = (database.with_name(f"{database.name}{suffix}") for suffix in ("-wal", "-shm", ""))
    return [file for file in files if file.exists()]


def _describe_removal(candidate: _Evictable, limit: int) -> str:
    day = time.strftime("%Y-%m-%d", time.localtime(candidate.used))
    return (
        f"The {candidate.name} was removed ({format_size(candidate.size_bytes)}, last used on {day}), because the storage "
        f"exceeded storageLimitMB ({limit // 1024**2}). {candidate.remedy}"
    )


def _describe_excess(size: int, limit: int) -> str:
    return (
        f"The storage in {storage_root()} takes {format_size(size)}, more than storageLimitMB ({limit // 1024**2}), and the "
        f"rest is in use or cannot be built again. Remove indexes with dowse forget, or raise storageLimitMB in "
        f"{storage_layout.global_settings_file()}."
    )
