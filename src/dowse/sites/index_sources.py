"""Where an index is kept, and how it is fetched from there: a file, an https:// address, a bucket."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from dowse.errors import Failed, UsageError
from dowse.sites.index_model import MAX_BYTES

REMOTE_SECONDS = 60.0
"""How long what was fetched from elsewhere is believed before it is asked whether it changed."""
_READ_AGAIN = 3
"""Times that a file is read anew which was written meanwhile."""


@dataclass(frozen=True, slots=True)
class FetchedIndex:
    """The bytes of an index, and the mark by which its keeper knows this state of it."""

    data: bytearray
    mark: str


class IndexSource(Protocol):
    """Keeps an index."""

    @property
    def name(self) -> str:
        """How messages name it, without anything that is secret or only true on this machine."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether asking it takes time."""
        ...

    def fetch(self, mark: str | None) -> FetchedIndex | None:
        """The index; None where it is still as it was at that mark. Failed says why it cannot be had."""
        ...

    def has_changed(self, mark: str) -> bool:
        """Whether it is worth fetching; only asked of what is not remote."""
        ...


class FileIndexSource:
    """A file on this machine."""

    is_remote = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.name

    def fetch(self, mark: str | None) -> FetchedIndex | None:
        """The file as it is, not while it is being written if that can be helped."""
        try:
            for _ in range(_READ_AGAIN):
                with self._path.open("rb") as file:
                    before = _mark(os.fstat(file.fileno()))
                    if before == mark:
                        return None
                    data = bytearray(min(os.fstat(file.fileno()).st_size, MAX_BYTES) + 1)
                    del data[_read_into(file, data) :]
                    after = _mark(os.fstat(file.fileno()))
                if before == after:
                    break
            return FetchedIndex(data, after)
        except OSError as error:
            raise Failed(f"{self.name} cannot be read ({error.strerror}).") from error

    def has_changed(self, mark: str) -> bool:
        """Whether the file is another one than it was; one that is gone has changed."""
        try:
            return _mark(self._path.stat()) != mark
        except OSError:
            return True


def _read_into(file: BinaryIO, data: bytearray) -> int:
    """Read until the file ends or there is no more room; how many bytes came."""
    with memoryview(data) as room:
        got = 0
        while got < len(room) and (more := file.readinto(room[got:])):  # type: ignore[attr-defined]  # not in the protocol
            got += more
    return got


def keeper_of(place: str) -> IndexSource:
    """The keeper of a place as it is typed: a path, or an address that begins with https:// or s3://."""
    scheme, colon, _ = place.partition("://")
    if not colon:
        return FileIndexSource(_path(place))
    if scheme.lower() == "https":
        from dowse.sites.https_source import HttpsIndexSource

        return HttpsIndexSource(place)
    if scheme.lower() == "s3":
        from dowse.sites.s3_source import S3IndexSource

        return S3IndexSource(place)
    raise UsageError(f"{place[:100]} cannot be fetched: an index is a file, or at https:// or s3://.")


def _path(text: str) -> Path:
    if not text or "\0" in text:
        raise UsageError(f"{text!r} is not a path.")
    try:
        path = Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise UsageError(
            f"{text} cannot be found: there is no such user. Write ./{text} for a name like this."
        ) from error
    if path.is_dir():
        raise UsageError(f"{text} is a folder. Name the index file in it, or make one: dowse site build {text} -o FILE")
    if not path.exists():
        raise UsageError(f"{text} is not there. Make one with: dowse site build SRC -o {text}")
    return path


def _mark(stat: os.stat_result) -> str:
    return f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ino}-{stat.st_ctime_ns}"
