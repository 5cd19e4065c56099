"""All named indexes that a process can reach: those in its memory, and those on the disk that all processes share."""

import contextlib
import json
import re
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from dowse.errors import DowseError, LimitReached, NotFound, SnapshotGone, UsageError
from dowse.notes.limits import (
    BUSY_SECONDS,
    DEFAULT_INDEX,
    MAX_INDEXES,
    MAX_MEMORY_BYTES,
    MAX_NAME,
    RESTING_INDEXES,
)
from dowse.notes.named_index import IndexInfo, NamedIndex
from dowse.notes.notes_database import DiskDatabase, MemoryDatabase, make_tables
from dowse.notes.notes_tokens import NotesTokenizer, tokenizer_of
from dowse.platform import Lock, disk_errors, make_private_folder, sync_folder
from dowse.store import storage_layout

Got = TypeVar("Got")

BACKENDS = ("memory", "disk")
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME}}}")
_FILE = re.compile(r"index-([a-z0-9_-]+?)(?:\+([0-9a-f]+))?\.db")


class NotesRegistry:
    """Named indexes; `default` is always there, in memory. Any thread may call it."""

    def __init__(self, *, has_memory: bool = True) -> None:
        self._lock = threading.RLock()
        self._memory: dict[str, NamedIndex] = {}
        self._disk: OrderedDict[str, tuple[tuple[int, int], NamedIndex]] = OrderedDict()
        """Open indexes and which file each is, the one that was asked last at the end."""
        if has_memory:
            self._make_in_memory(DEFAULT_INDEX, NotesTokenizer())

    def create(self, name: Any, backend: Any = "memory", config: Mapping[str, Any] | None = None) -> None:
        """Make a new, empty index."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise UsageError(
                f"An index name is made of letters, digits, - and _, at most {MAX_NAME}: not {_shown(name)}."
            )
        with self._lock:
            # A file of that name would be found by no server: there it is the one in memory.
            if name == DEFAULT_INDEX or name in self._memory or self._is_on_disk(name):
                raise UsageError(f"Index already exists: {name}")
            if backend not in BACKENDS:
                raise UsageError(f"Unknown backend: {_shown(backend).strip(chr(39))}")
            tokenizer = tokenizer_of(config)
            if backend == "disk":
                make_on_disk(name, tokenizer)
            else:
                _require_few(len(self._memory))
                self._make_in_memory(name, tokenizer)

    def use(self, name: str, work: Callable[[NamedIndex], Got]) -> Got:
        """Do something with an index; one that was deleted and made again meanwhile is opened again."""
        with suppress(SnapshotGone):
            return work(self._named(name))
        try:
            return work(self._named(name))
        except SnapshotGone as error:
            raise NotFound(f"Index not found: {name}") from error

    def delete(self, name: str) -> int:
        """Delete an index; how many documents it had. In place of the default one there is an empty one."""
        documents = self.use(name, lambda index: index.info().documents)
        with self._lock:
            index = self._memory.pop(name, None)
            if name == DEFAULT_INDEX:
                self._make_in_memory(name, NotesTokenizer())
        if index is not None:
            index.mark_deleted()
            return documents
        self.use(name, NamedIndex.mark_deleted)
        with self._lock:
            self._forget(name)
        delete_files(name)
        return documents

    def names(self) -> "list[str]":
        """The names of all indexes, in order; none of them is opened for it."""
        with self._lock:
            return sorted({*self._memory, *names_on_disk()})

    def list(self) -> tuple[list[IndexInfo], list[str]]:
        """All indexes by name, and what is wrong with those that cannot be opened."""
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
        """Close all; those in memory are gone."""
        with self._lock:
            for index in (*self._memory.values(), *(index for _, index in self._disk.values())):
                index.close()
            self._memory.clear()
            self._disk.clear()

    def _is_on_disk(self, name: str) -> bool:
        try:
            self.use(name, NamedIndex.info)
        except NotFound:
            return False
        except DowseError:
            return True  # it cannot be used, and is there
        return True

    def _named(self, name: str) -> NamedIndex:
        with self._lock:
            return self._memory.get(name) or self._on_disk(name)

    def _on_disk(self, name: str) -> NamedIndex:
        """An index on the disk, open; of the many that were, those not asked for longest rest."""
        try:
            if not _NAME.fullmatch(name):
                raise FileNotFoundError
            seen = file_of(name).stat()
        except OSError as error:
            self._forget(name)
            raise NotFound(f"Index not found: {_shortened(name)}") from error
        identity = (seen.st_dev, seen.st_ino)
        known = self._disk.get(name)
        if known is None or known[0] != identity:
            self._forget(name)
            self._disk[name] = known = (identity, open_on_disk(name))
        self._disk.move_to_end(name)
        if len(self._disk) > RESTING_INDEXES:
            _, (_, oldest) = self._disk.popitem(last=False)
            oldest.close()  # who is busy with it keeps his connection until he is done
        return known[1]

    def _forget(self, name: str) -> None:
        if known := self._disk.pop(name, None):
            known[1].close()

    def _make_in_memory(self, name: str, tokenizer: NotesTokenizer) -> None:
        database = MemoryDatabase(_facts(name, tokenizer), self._room)
        self._memory[name] = NamedIndex(name, "memory", database)

    def _room(self) -> int:
        """Bytes that all memory indexes together may still take."""
        taken = sum(index.database.size_bytes() for index in list(self._memory.values()))
        return MAX_MEMORY_BYTES - taken


def file_of(name: str) -> Path:
    """The file of an index. Names differ in case, files on some systems do not: capitals are counted in the end."""
    capitals = sum(1 << place for place, letter in enumerate(name) if letter.isupper())
    return storage_layout.notes_folder() / f"index-{name.lower()}{f'+{capitals:x}' if capitals else ''}.db"


def names_on_disk() -> list[str]:
    """The indexes that have a file."""
    folder = storage_layout.notes_folder()
    files = [_FILE.fullmatch(file.name) for file in folder.iterdir()] if folder.is_dir() else []
    return sorted(_name_in(found[1], int(found[2] or "0", 16)) for found in files if found)


def _name_in(lowered: str, capitals: int) -> str:
    return "".join(letter.upper() if capitals >> place & 1 else letter for place, letter in enumerate(lowered))


def make_on_disk(name: str, tokenizer: NotesTokenizer) -> None:
    """Make the file of a new index, whole before anybody can see it."""
    file = file_of(name)
    make_private_folder(file.parent)
    new = file.with_name(f".{file.name}.new")
    with disk_errors(file), guarded():
        if file.exists() and not _is_marked(file):
            raise UsageError(f"Index already exists: {name}")
        _require_few(len(names_on_disk()))
        for left in (new, *_beside(new), file, *_beside(file)):  # of one that was killed while it made or deleted it
            left.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
            connection.execute("PRAGMA page_size = 8192")
            connection.execute("PRAGMA journal_mode = WAL")
            make_tables(connection, _facts(name, tokenizer))
        new.rename(file)
        sync_folder(file.parent)


def open_on_disk(name: str) -> NamedIndex:
    """Open an index that has a file."""
    return NamedIndex(name, "disk", DiskDatabase(file_of(name), guarded))


def delete_files(name: str) -> None:
    """Delete the files of an index that is marked as deleted: all who have it open know by then."""
    file = file_of(name)
    with guarded():
        if not _is_marked(file):  # somebody made a new one meanwhile
            return
        for each in (file, *_beside(file)):
            each.unlink(missing_ok=True)
        sync_folder(file.parent)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """While files are made, opened or deleted, no other process does so: SQLite knows its files by their names."""
    with Lock(storage_layout.notes_folder() / ".lock").held(BUSY_SECONDS):
        yield


def _is_marked(file: Path) -> bool:
    """Whether a file is of an index that was deleted."""
    if not file.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(str(file))}?mode=rw", uri=True)) as connection:
            return bool(connection.execute("SELECT is_deleted FROM state").fetchone()[0])
    except sqlite3.Error:
        return False


def _beside(file: Path) -> list[Path]:
    return [file.with_name(f"{file.name}{ending}") for ending in ("-wal", "-shm", "-journal")]


def _facts(name: str, tokenizer: NotesTokenizer) -> dict[str, str]:
    return {
        "name": name,
        "tokenizer": json.dumps(tokenizer.as_json()),
        "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }


def _require_few(count: int) -> None:
    if count >= MAX_INDEXES:
        raise LimitReached(f"There are {count} indexes, which are the most. Delete one that is not needed.")


def _shown(value: object) -> str:
    return repr(_shortened(value) if isinstance(value, str) else str(value)[:MAX_NAME])


def _shortened(name: str) -> str:
    return name if len(name) <= 2 * MAX_NAME else name[: 2 * MAX_NAME] + "…"
