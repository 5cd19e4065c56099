"""The tracked files of a commit, written into a folder with their secrets masked; the working tree is not read."""

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from dowse.errors import Failed
from dowse.screening.masking import screen_text
from dowse.searching.history.git_objects import GitObjects
from dowse.system.platform import IS_WINDOWS, disk_errors

MAX_LIST_BYTES = 500_000_000
FILE_MODES = ("100644", "100755")
"""Files. Links and submodules are left out, as in a working tree."""
_GIT_FOLDER = re.compile(r"(?ai:\.git|git~1)[. ]*(?::.*)?", re.DOTALL)
"""Names under which a file system that ignores case, or NTFS, finds the folder of git."""
_HFS_IGNORED = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
"""Characters that HFS+ ignores in names, as git lists them."""


class Blob(NamedTuple):
    """A file of a commit: the name of its content, its size and its path below the root."""

    name: str
    size: int
    path: str


def write_blobs(objects: GitObjects, blobs: Iterable[Blob], folder: Path) -> None:
    """Write files of the commit below a folder, masked."""
    for blob, data in _read_blobs(objects, list(blobs)):
        file = folder.joinpath(*blob.path.split("/"))
        with disk_errors(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(mask_file(blob.path, data))


def mask_file(path: str, data: bytes) -> bytes:
    """Return the content of a file with its secrets masked; lines stay lines."""
    encoding = "utf-8"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding = "latin-1"  # byte for byte
        text = data.decode(encoding)
    screened = screen_text(text, path=path)
    return screened.text.encode(encoding) if screened.masked else data


def list_blobs(objects: GitObjects) -> Iterator[Blob]:
    """Yield the files of the commit below the root."""
    repository = objects.repository
    where = [repository.lead.rstrip("/")] if repository.lead else []
    listed, is_cut = objects.output(
        "ls-tree", "-r", "-l", "-z", "--full-tree", repository.head, "--", *where, max_bytes=MAX_LIST_BYTES
    )
    if is_cut:
        raise Failed("The commit has too many files to be published.")
    for line in listed.split(b"\0"):
        fields, _, raw = line.partition(b"\t")
        with contextlib.suppress(UnicodeDecodeError, ValueError):  # a name that is no text is not indexed either
            mode, _, name, size = fields.decode().split()
            path = raw.decode().removeprefix(repository.lead)
            if mode in FILE_MODES and _is_inside(path) and can_be_written(path):
                yield Blob(name, int(size), path)


def can_be_written(path: str) -> bool:
    """Return whether a path with slashes names one file here: on Windows, `\\` and `:` lead to folders and drives."""
    return not (IS_WINDOWS and set(path) & set("\\:"))


def _is_inside(path: str) -> bool:
    """Return whether a path names a file below the root, and none in a folder of git, on any file system."""
    if any(part in ("", ".", "..") for part in path.split("/")):
        return False
    return not any(map(_GIT_FOLDER.fullmatch, re.split(r"[/\\]", path.translate(_HFS_IGNORED))))


def _read_blobs(objects: GitObjects, blobs: list[Blob]) -> Iterator[tuple[Blob, bytes]]:
    """Yield the content of each blob, as `git cat-file --batch` prints them one after the other."""
    found = bytearray()
    with contextlib.closing(objects.stream("cat-file", "--batch", lines=[blob.name for blob in blobs])) as chunks:
        for blob in blobs:
            while (end := found.find(b"\n")) < 0:
                found += _next(chunks)
            header = bytes(found[:end]).decode(errors="replace").split()
            if header[:2] != [blob.name, "blob"]:
                raise Failed(f"git cannot read {blob.path} of the commit: {' '.join(header[1:])[:100]}.")
            stop = end + 1 + int(header[2])
            while len(found) < stop + 1:
                found += _next(chunks)
            yield blob, bytes(found[end + 1 : stop])
            del found[: stop + 1]


def _next(chunks: Iterator[bytes]) -> bytes:
    piece = next(chunks, b"")
    if not piece:
        raise Failed("git ended before it had printed all files of the commit.")
    return piece
