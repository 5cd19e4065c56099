"""The place of a shared index: a folder or a bucket, whose small objects are written under a condition."""

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from dowse.errors import Failed
from dowse.platform import Lock, disk_errors, make_private_folder, write_atomically

LOCK_SECONDS = 10.0


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
        """Return an object; None if there is none."""
        ...

    def write(self, key: str, data: bytes, *, replaces: str | None) -> str | None:
        """Write an object if it still has the tag `replaces`, or if there is none where that is None.

        Return the new tag; None if the condition does not hold.
        """
        ...

    def upload(self, file: Path, key: str) -> None:
        """Write an object that nobody else writes."""
        ...

    def download(self, key: str, file: Path) -> None:
        """Write an object into a file."""
        ...

    def remove(self, key: str) -> None:
        """Remove an object, if it is there."""
        ...

    def keys(self, folder: str) -> list[str]:
        """Return the keys in a folder."""
        ...


class FolderPlace:
    """A folder that several machines mount, or one machine uses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = str(folder)
        self.options: Mapping[str, str] = {}

    def read(self, key: str) -> TaggedObject | None:
        """Return a file; None if there is none."""
        try:
            data = (self._folder / key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Failed(f"{self.name} cannot be read: {error.strerror}.") from error
        return TaggedObject(data, hashlib.sha256(data).hexdigest())

    def write(self, key: str, data: bytes, *, replaces: str | None) -> str | None:
        """Write a file if it still has the tag `replaces`. A lock keeps others from writing meanwhile."""
        make_private_folder(self._folder)
        with Lock(self._folder / "write.lock").held(LOCK_SECONDS):
            found = self.read(key)
            if (found.tag if found else None) != replaces:
                return None
            write_atomically(self._folder / key, data)
        return hashlib.sha256(data).hexdigest()

    def upload(self, file: Path, key: str) -> None:
        """Copy a file to the place."""
        target = self._folder / key
        make_private_folder(target.parent)
        with disk_errors(target):
            shutil.copyfile(file, target)

    def download(self, key: str, file: Path) -> None:
        """Copy a file from the place."""
        try:
            shutil.copyfile(self._folder / key, file)
        except FileNotFoundError as error:
            raise Failed(f"{self.name} is incomplete: {key} is missing. Publish the commit again.") from error

    def remove(self, key: str) -> None:
        """Remove a file, if it is there."""
        (self._folder / key).unlink(missing_ok=True)

    def keys(self, folder: str) -> list[str]:
        """Return the files in a folder."""
        return [f"{folder}/{file.name}" for file in (self._folder / folder).glob("*")]
