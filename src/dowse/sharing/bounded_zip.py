"""Zip files from a shared place: their sizes are bounded before anything of them is unpacked."""

import contextlib
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import Failed

MAX_BYTES = 16 << 30
"""The limit for a zip file and for its content. An index of 10,000 files has 0.1 GB."""
SMALL_BYTES = 1 << 30
"""Content up to this size may be packed as tightly as possible."""
MAX_RATIO = 100
"""Larger content may be this many times as large as the zip file. That of code is 2 to 3 times as large."""
MAX_DIRECTORY_BYTES = 32 << 20
"""The limit for the list of files, which is read into memory: 250,000 files with paths of 80 characters."""
PIECE_BYTES = 1 << 20

_END = struct.Struct("<4s4H2LH")
_LOCATOR_BYTES = 20
_LARGE_END = struct.Struct("<4sQ2H2L4Q")


@contextlib.contextmanager
def open_bounded(file: Path) -> Iterator[zipfile.ZipFile]:
    """Give a block a zip file; raise Failed if it is damaged, or if it or its content is too large."""
    try:
        if (size := _directory_bytes(file)) > MAX_DIRECTORY_BYTES:
            raise Failed(f"The packed file lists too many files: {size:,} bytes, at most {MAX_DIRECTORY_BYTES:,}.")
        with zipfile.ZipFile(file) as packed:
            if len(set(packed.namelist())) < len(packed.namelist()):
                raise zipfile.BadZipFile("it has a file twice")
            # Reading a file of it ends at the size that is stated here.
            stated, limit = sum(info.file_size for info in packed.infolist()), max_content(file.stat().st_size)
            if stated > limit:
                raise Failed(f"The packed file is too large: {stated:,} bytes when unpacked, at most {limit:,}.")
            yield packed
    except (zipfile.BadZipFile, EOFError, zlib.error, struct.error, RuntimeError, ValueError, OSError) as error:
        # RuntimeError: it is encrypted, or packed in a way that is not supported. ValueError: a name is no text.
        # OSError: a path is a file and a folder, or longer than the system allows.
        raise Failed(f"The packed file is damaged ({error}). Publish the commit again.") from error


def max_content(packed_bytes: int) -> int:
    """Return how large the content of a zip file of some size may be."""
    return min(MAX_BYTES, max(SMALL_BYTES, MAX_RATIO * packed_bytes))


def unpack_file(packed: zipfile.ZipFile, name: str, target: Path) -> None:
    """Write one file of a zip file, piece by piece, in place of another one."""
    with packed.open(name) as source, target.open("wb") as stream:
        while piece := source.read(PIECE_BYTES):
            stream.write(piece)


def _directory_bytes(file: Path) -> int:
    """Return the size of the list of files at the end of a zip file, as `zipfile` will read it."""
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        start = max(0, size - _LARGE_END.size - _LOCATOR_BYTES - _END.size)
        stream.seek(start)
        end = stream.read()
    fields = _END.unpack(end[-_END.size :])
    if fields[0] != b"PK\5\6" or fields[-1]:
        raise zipfile.BadZipFile("it does not end with a list of files")
    if not end[-_END.size - _LOCATOR_BYTES :].startswith(b"PK\6\7"):
        return int(fields[5])
    if not end.startswith(b"PK\6\6"):
        raise zipfile.BadZipFile("its list of files is somewhere else")
    return int(_LARGE_END.unpack(end[: _LARGE_END.size])[8])
