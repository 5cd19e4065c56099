"""All named indexes of a process: those in its memory, and those on disk that all processes share."""

import contextlib
import json
import re
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from dowse.errors import DowseError, Failed, LimitReached, NotFound, UsageError
from dowse.notes import limits
from dowse.notes.named_index import IndexInfo, NamedIndex
from dowse.notes.notes_database import APPLICATION_ID, STEPS, DiskDatabase, MemoryDatabase
from dowse.notes.notes_tokens import NotesTokenizer, parse_tokenizer_config
from dowse.sqlite_database import run_steps
from dowse.store import storage_layout
from dowse.system.platform import Lock, disk_errors, make_private_folder, refusal_to_write, sync_folder

T = TypeVar("T")

BACKENDS = ("memory", "disk")
_NEW = ".new"
"""The ending of a file that is not complete yet."""
_MAX_SHOWN_CHARACTERS = 2 * limits.MAX_NAME_CHARACTERS
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{limits.MAX_NAME_CHARACTERS}}}")
_FILE = re.compile(r"index-((?:\+[a-z]|[a-z0-9_-])+)\.db")


class NotesRegistry:
    """The named indexes of a process. Safe to use from several threads. With memory, `default` always exists."""

    def __init__(self, *, has_memory: bool = True) -> None:
        self._lock = threading.RLock()
        self._memory: dict[str, NamedIndex] = {}
        self._disk: OrderedDict[str, tuple[tuple[int, int], NamedIndex]] = OrderedDict()
        """Open indexes with the identity of their files, the most recently used one last."""
        if has_memory:
            self._make_in_memory(limits.DEFAULT_INDEX, NotesTokenizer())

    def create(self, name: Any, backend: Any = "memory", config: Mapping[str, Any] | None = None) -> None:
        """Create an empty index."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise UsageError(
                f"{str(name)[:_MAX_SHOWN_CHARACTERS]!r} is not an index name. Use letters, digits, - and _, at most {limits.MAX_NAME_CHARACTERS}."
            )
        with self._lock:
            # A server could not reach a file of the default name: there, the name means the index in memory.
            if name == limits.DEFAULT_INDEX or name in self._memory or index_file(name).exists():
                raise UsageError(f"Index already exists: {name}")
            if backend not in BACKENDS:
                raise UsageError(f"Unknown backend: {str(backend)[:_MAX_SHOWN_CHARACTERS]}")
            tokenizer = parse_tokenizer_config(config)
            if backend == "disk":
                create_on_disk(name, tokenizer)
            else:
                _require_index_limit(len(self._memory))
                self._make_in_memory(name, tokenizer)

    def use(self, name: str, work: Callable[[NamedIndex], T]) -> T:
        """Call `work` with an index. What it adds to an index that is being deleted is deleted with it."""
        with self._lock:
            index = self._memory.get(name) or self._open_on_disk(name)
        return work(index)

    def delete(self, name: str) -> int:
        """Delete an index and return how many documents it had. The default index becomes an empty one."""
        documents = self.use(name, lambda index: index.info().documents)
        with self._lock:
            if self._memory.pop(name, None) is None:
                self._close_on_disk(name)
                delete_files(name)
            elif name == limits.DEFAULT_INDEX:
                self._make_in_memory(name, NotesTokenizer())
        return documents

    def names(self) -> "list[str]":
        """Return the sorted names of all indexes, without opening any."""
        with self._lock:
            return sorted({*self._memory, *names_on_disk()})

    def list(self) -> tuple[list[IndexInfo], list[str]]:
        """Return all indexes by name, and a message for each that cannot be opened."""
        found, problems = [], []
        for name in self.names():
            try:
                found.append(self.use(name, NamedIndex.info))
            except NotFound:
                continue
            except DowseError as error:
                problems.append(str(error))
        return found, problems

    def close(self) -> None:
        """Close all indexes. Those in memory are lost."""
        with self._lock:
            for index in (*self._memory.values(), *(index for _, index in self._disk.values())):
                index.close()
            self._memory.clear()
            self._disk.clear()

    def _open_on_disk(self, name: str) -> NamedIndex:
        """Return an open index on disk. Above the limit, the least recently used index is closed."""
        try:
            if not _NAME.fullmatch(name):
                raise FileNotFoundError
            stat = index_file(name).stat()
        except (FileNotFoundError, NotADirectoryError) as error:
            self._close_on_disk(name)
            raise NotFound(f"Index not found: {name[:_MAX_SHOWN_CHARACTERS]}") from error
        except OSError as error:
            self._close_on_disk(name)
            raise Failed(
                f"The index {index_file(name).name} cannot be read. Check the disk, the permissions of the storage root, "
                "and whether the file is a link that leads nowhere."
            ) from error
        identity = (stat.st_dev, stat.st_ino)
        known = self._disk.get(name)
        if known is None or known[0] != identity:
            self._close_on_disk(name)
            self._disk[name] = known = (identity, open_on_disk(name))
        self._disk.move_to_end(name)
        if len(self._disk) > limits.MAX_OPEN_INDEXES:
            _, (_, oldest) = self._disk.popitem(last=False)
            oldest.close()  # a thread that is using it keeps its connection until it is done
        return known[1]

    def _close_on_disk(self, name: str) -> None:
        if known := self._disk.pop(name, None):
            known[1].close()

    def _make_in_memory(self, name: str, tokenizer: NotesTokenizer) -> None:
        database = MemoryDatabase(_make_facts(name, tokenizer), self._free_memory_bytes)
        self._memory[name] = NamedIndex(name, "memory", database)

    def _free_memory_bytes(self) -> int:
        """Return how many more bytes all memory indexes together may take."""
        taken = sum(index.database.size_bytes() for index in list(self._memory.values()))
        return limits.MAX_MEMORY_BYTES - taken


def index_file(name: str) -> Path:
    """Return the file of an index. Some file systems ignore case, so a capital is written as `+` and its letter."""
    spelled = re.sub("[A-Z]", lambda capital: f"+{capital[0].lower()}", name)
    return storage_layout.notes_folder() / f"index-{spelled}.db"


def names_on_disk() -> list[str]:
    """Return the sorted names of the indexes on disk."""
    folder = storage_layout.notes_folder()
    files = [_FILE.fullmatch(file.name) for file in folder.iterdir()] if folder.is_dir() else []
    return sorted(re.sub(r"\+(.)", lambda found: found[1].upper(), file[1]) for file in files if file)


def create_on_disk(name: str, tokenizer: NotesTokenizer) -> None:
    """Create the file of a new index. It appears under its name only once it is complete."""
    file = index_file(name)
    make_private_folder(file.parent)
    new = file.with_name(f".{file.name}{_NEW}")
    with disk_errors(file), lock_files():
        if file.exists():
            raise UsageError(f"Index already exists: {name}")
        _require_index_limit(len(names_on_disk()))
        # Other processes may have been killed while they created or deleted an index.
        for leftover in (*file.parent.glob(f".index-*{_NEW}*"), *_sidecar_files(file)):
            leftover.unlink(missing_ok=True)
        try:
            with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
                connection.execute("PRAGMA page_size = 8192")
                connection.execute("PRAGMA journal_mode = WAL")
                run_steps(connection, STEPS, APPLICATION_ID, **_make_facts(name, tokenizer))
                # Closing would do it, too, but would not say that it failed.
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise refusal_to_write(file) or Failed(f"The index {name} cannot be created ({error}).") from error
        new.rename(file)
        sync_folder(file.parent)


def open_on_disk(name: str) -> NamedIndex:
    """Open an index that has a file."""
    return NamedIndex(name, "disk", DiskDatabase(index_file(name), lock_files))


def delete_files(name: str) -> None:
    """Delete the files of an index. A process that has it open sees that at its next use."""
    file = index_file(name)
    with disk_errors(file), lock_files():
        for path in (file, *_sidecar_files(file)):
            path.unlink(missing_ok=True)
        sync_folder(file.parent)


@contextlib.contextmanager
def lock_files() -> Iterator[None]:
    """Hold the lock for creating, opening and deleting files: SQLite finds its sidecar files by name."""
    with Lock(storage_layout.notes_folder() / ".lock").held(limits.BUSY_SECONDS):
        yield


def _sidecar_files(file: Path) -> list[Path]:
    return [file.with_name(f"{file.name}{ending}") for ending in ("-wal", "-shm", "-journal")]


def _make_facts(name: str, tokenizer: NotesTokenizer) -> dict[str, str]:
    return {
        "name": name,
        "tokenizer": json.dumps(asdict(tokenizer)),
        "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }


def _require_index_limit(count: int) -> None:
    if count >= limits.MAX_INDEXES:
        raise LimitReached(f"There are {count} indexes, which is the maximum. Delete one that is not needed.")
