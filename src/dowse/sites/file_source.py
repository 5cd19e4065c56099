"""An index in a file on this machine."""

import os
from pathlib import Path

from dowse.errors import Failed, UsageError
from dowse.platform import open_beneath
from dowse.sites.index_model import MAX_INDEX_BYTES
from dowse.sites.index_source import FetchedIndex

_MAX_READS = 3
"""Maximum number of times a file is read, when it changes while it is read."""


class FileIndexSource:
    """An index file on this machine."""

    is_remote = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.name

    def fetch(self, revision: str | None) -> FetchedIndex | None:
        """Return the content of the file; None if its revision is unchanged.

        Read the file again if it changes while it is read.
        """
        try:
            for _ in range(_MAX_READS):
                real = Path(os.path.realpath(self._path))
                with open_beneath(real.parent, real.name) as descriptor, open(descriptor, "rb", closefd=False) as file:
                    before = _revision_of(os.fstat(file.fileno()))
                    if before == revision:
                        return None
                    data = bytearray(file.read(MAX_INDEX_BYTES + 1))
                    after = _revision_of(os.fstat(file.fileno()))
                if before == after:
                    break
            return FetchedIndex(data, after)
        except OSError as error:
            raise Failed(f"{self.name} cannot be read ({error.strerror}).") from error

    def has_changed(self, revision: str) -> bool:
        """Return whether the file has changed; a file that no longer exists has."""
        try:
            return _revision_of(self._path.stat()) != revision
        except OSError:
            return True


def index_path(text: str) -> Path:
    """Return the path of an index file that a user typed; UsageError where there is no such file."""
    if not text or "\0" in text:
        raise UsageError(f"{text!r} is not a path.")
    try:
        path = Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise UsageError(
            f"{text} cannot be found: there is no user of this name. Write ./{text} if it is a file name."
        ) from error
    if path.is_dir():
        raise UsageError(
            f"{text} is a folder. Name the index file in it, or build one: dowse site build {text} -o FILE"
        )
    if not path.exists():
        raise UsageError(f"{text} does not exist. Build it with: dowse site build SRC -o {text}")
    return path


def _revision_of(stat: os.stat_result) -> str:
    return f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ino}-{stat.st_ctime_ns}"
