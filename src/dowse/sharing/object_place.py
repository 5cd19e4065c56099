"""The place of a shared index: a folder or a bucket, whose small objects are written under a condition."""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from dowse.errors import Failed
from dowse.platform import SHARED_MODE, Lock, disk_errors, write_atomically

LOCK_SECONDS = 10.0
MAX_READ_BYTES = 1 << 20
"""The limit for objects that are read into memory. They have a few kilobytes."""


class TaggedObject(NamedTuple):
    """The content of an object, and a tag that is another one after every change."""

    data: bytes
    tag: str


class ObjectPlace(Protocol):
    """A folder or a bucket with a prefix. A key has slashes between its parts."""

    @property
    def name(self) -> str:
        """The place as the user named it."""
        ...

    @property
    def options(self) -> Mapping[str, str]:
        """How LanceDB reaches the place: the endpoint and the credentials that are in force now."""
        ...

    def read(self, key: str) -> TaggedObject | None:
        """Return a small object; None if there is none. Raise Failed for one larger than MAX_READ_BYTES."""
        ...

    def write(self, key: str, data: bytes, *, replaces: str | None) -> str | None:
        """Write an object if it still has the tag `replaces`, or if there is none where that is None.

        Return the new tag; None if the condition does not hold.
        """
        ...

    def upload(self, file: Path, key: str) -> None:
        """Write an object that nobody else writes."""
        ...

    def download(self, key: str, file: Path, max_bytes: int) -> None:
        """Write an object into a file; raise Failed for a larger one."""
        ...

    def remove(self, key: str) -> None:
        """Remove an object, if it is there."""
        ...

    def keys(self, folder: str) -> list[str]:
        """Return the keys in a folder."""
        ...


class FolderPlace:
    """A folder that several machines mount, or one machine uses. Others read it: files have the rights of the umask."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = str(folder)
        self.options: Mapping[str, str] = {}

    def read(self, key: str) -> TaggedObject | None:
        with self._errors("read"):
            try:
                with (self._folder / key).open("rb") as file:
                    data = require_small(self.name, key, file.read(MAX_READ_BYTES + 1))
            except FileNotFoundError:
                return None
        return TaggedObject(data, hashlib.sha256(data).hexdigest())

    def write(self, key: str, data: bytes, *, replaces: str | None) -> str | None:
        """Write a file if it still has the tag `replaces`. A lock keeps others from writing meanwhile."""
        with self._errors("written"):
            return self._write(key, data, replaces)

    def _write(self, key: str, data: bytes, replaces: str | None) -> str | None:
        _make_folder(self._folder)
        with Lock(self._folder / "write.lock", SHARED_MODE).held(LOCK_SECONDS):
            found = self.read(key)
            if (found.tag if found else None) != replaces:
                return None
            write_atomically(self._folder / key, data, mode=SHARED_MODE)
        return hashlib.sha256(data).hexdigest()

    def upload(self, file: Path, key: str) -> None:
        target = self._folder / key
        with self._errors("written"):
            _make_folder(target.parent)
            with disk_errors(target):
                shutil.copyfile(file, target)

    def download(self, key: str, file: Path, max_bytes: int) -> None:
        with self._errors("read"):
            try:
                source = (self._folder / key).open("rb")
            except FileNotFoundError as error:
                raise Failed(f"{self.name} is incomplete: {key} is missing. Publish the commit again.") from error
            with source, disk_errors(file), file.open("wb") as target:
                require_at_most(self.name, key, os.fstat(source.fileno()).st_size, max_bytes)
                shutil.copyfileobj(source, target)

    def remove(self, key: str) -> None:
        with self._errors("written"):
            (self._folder / key).unlink(missing_ok=True)

    def keys(self, folder: str) -> list[str]:
        with self._errors("read"):
            return [f"{folder}/{file.name}" for file in (self._folder / folder).glob("*")]

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        """Turn the errors of a folder that is away or broken into Failed."""
        try:
            yield
        except OSError as error:
            raise Failed(f"{self.name} cannot be {what}: {error.strerror}.") from error


def _make_folder(folder: Path) -> None:
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)


def require_small(place: str, key: str, data: bytes) -> bytes:
    """Return the data of an object; raise Failed if there is more than may be read into memory."""
    require_at_most(place, key, len(data), MAX_READ_BYTES)
    return data


def require_at_most(place: str, key: str, size: int, max_bytes: int) -> None:
    """Raise Failed if an object is larger than a limit."""
    if size > max_bytes:
        raise Failed(f"{place}/{key} is not used: it has more than {max_bytes:,} bytes.")
