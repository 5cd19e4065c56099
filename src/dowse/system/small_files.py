"""Reading of settings and other small files, which never reads more than a limit and never waits for a pipe."""

import errno
import os
from pathlib import Path

from dowse.system.platform import open_beneath, read_at_most

_MEGABYTE = 1024 * 1024


def read_small_file(file: Path, max_bytes: int, *, follows_links: bool = False) -> bytes:
    """Return the content of a regular file.

    Raise OSError: EFBIG for a file with more than `max_bytes`, ELOOP for a symlink unless `follows_links`,
    EINVAL for anything else that is not a regular file.
    """
    real = Path(os.path.realpath(file)) if follows_links else file
    with open_beneath(real.parent, real.name) as descriptor:
        return _require_small(read_at_most(descriptor, max_bytes + 1), file, max_bytes)


def read_named_file(file: Path, max_bytes: int) -> bytes:
    """Return the content of a file that the user named, which may be a symlink or a pipe; EFBIG as above."""
    with file.open("rb") as stream:
        return _require_small(stream.read(max_bytes + 1), file, max_bytes)


def _require_small(data: bytes, file: Path, max_bytes: int) -> bytes:
    if len(data) > max_bytes:
        limit = f"{max_bytes // _MEGABYTE} MB" if max_bytes >= _MEGABYTE else f"{max_bytes // 1024} KB"
        raise OSError(errno.EFBIG, f"it is larger than {limit}", str(file))
    return data
