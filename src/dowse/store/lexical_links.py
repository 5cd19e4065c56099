"""A temporary folder of links to a lexical index, where its own folder cannot be written.

Tantivy opens a lock file for writing before it reads an index. The links are needed only while it opens the files.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import NotWritable
from dowse.platform import writing_error

_LOCK_FILE = ".tantivy-meta.lock"
_LOCK_PREFIX = ".tantivy-"
_TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - a folder of its own is made there
"""Tried after the folders that the environment names. Never the working directory, which is a user's project."""


def can_lock(folder: Path) -> bool:
    """Return whether Tantivy can open its lock file; true as well where something else is wrong with it."""
    try:
        os.close(os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        return writing_error(error, folder) is None
    return True


@contextlib.contextmanager
def linked_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder with links to the files of an index."""
    links = _make_links(folder)
    try:
        yield links
    finally:
        shutil.rmtree(links, ignore_errors=True)


def _make_links(folder: Path) -> Path:
    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    for place in filter(None, (*named, *_TEMPORARY_FOLDERS)):
        try:
            links = Path(tempfile.mkdtemp(prefix="dowse-", dir=place))
        except OSError:
            continue
        try:
            for file in folder.resolve().iterdir():
                if not file.name.startswith(_LOCK_PREFIX):
                    (links / file.name).symlink_to(file)
        except OSError:
            shutil.rmtree(links, ignore_errors=True)
            continue
        return links
    raise NotWritable(
        "The index is on storage that cannot be written, and reading it there needs a folder for temporary files. "
        "Set TMPDIR to a folder that can be written."
    )
