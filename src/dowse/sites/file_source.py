"""An index in a file on this machine."""

import os
from pathlib import Path
from typing import BinaryIO

from dowse.errors import Failed, UsageError
from dowse.sites.index_model import MAX_INDEX_BYTES
from dowse.sites.index_source import FetchedIndex

_MAX_READS = 3
"""Times that a file is read again because it was written meanwhile."""


class FileIndexSource:
    """A file on this machine."""

    is_remote = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.name

    def fetch(self, mark: str | None) -> FetchedIndex | None:
        """The file as it is, not while it is being written if that can be helped."""
        try:
            for _ in range(_MAX_READS):
                with self._path.open("rb") as file:
                    before = _revision_of(os.fstat(file.fileno()))
                    if before == mark:
                        return None
                    data = bytearray(min(os.fstat(file.fileno()).st_size, MAX_INDEX_BYTES) + 1)
                    del data[_read_into(file, data) :]
                    after = _revision_of(os.fstat(file.fileno()))
                if before == after:
                    break
            return FetchedIndex(data, after)
        except OSError as error:
            raise Failed(f"{self.name} cannot be read ({error.strerror}).") from error

    def has_changed(self, mark: str) -> bool:
        """Whether the file is another one than it was; one that is gone has changed."""
        try:
            return _revision_of(self._path.stat()) != mark
        except OSError:
            return True


def _read_into(file: BinaryIO, data: bytearray) -> int:
    """Read until the file ends or there is no more room; how many bytes came."""
    with memoryview(data) as room:
        got = 0
        while got < len(room) and (more := file.readinto(room[got:])):  # type: ignore[attr-defined]  # not in the protocol
            got += more
    return got


def index_path(text: str) -> Path:
    """Return the path of an index file that a user typed; UsageError where there is no such file."""
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


def _revision_of(stat: os.stat_result) -> str:
    return f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ino}-{stat.st_ctime_ns}"
