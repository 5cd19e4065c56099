"""The two objects of a shared version: the packed index, which is the catalog with what is
derived from it, and the packed files.

A server needs neither LanceDB, whose import takes 3 s, nor a parser to answer from them.
"""

import contextlib
import json
import sqlite3
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from dowse.errors import Failed
from dowse.platform import IS_WINDOWS, disk_errors, make_private_folder, stat_of
from dowse.sharing.object_place import ObjectPlace
from dowse.sharing.shared_version import SharedVersion
from dowse.store.lexical_follower import FOLDER_PREFIX
from dowse.store.store_files import CATALOG_FILE, FETCHED_PREFIX, remove_store
from dowse.types import Stat

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


_SETTINGS_FILE = "config.json"
_SHARED_SETTINGS = ("include", "exclude", "respectGitignore", "maxFileSize", "maxFiles", "docPatterns", "indexDocs")
"""The settings that a shared index brings along: those that say which files it has. The others are the reader's own."""
_MAX_SETTINGS_BYTES = 1 << 20


def pack_index(folder: Path, target: Path) -> None:
    """Pack the catalog, the lexical index and the settings of an index that nobody writes."""
    with (
        disk_errors(target),
        tempfile.TemporaryDirectory(dir=target.parent) as temporary,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed,
    ):
        copy = Path(temporary) / CATALOG_FILE
        with contextlib.closing(sqlite3.connect(folder / CATALOG_FILE)) as database:
            database.execute("VACUUM INTO ?", (str(copy),))
        packed.write(copy, CATALOG_FILE)
        if (settings := folder / _SETTINGS_FILE).is_file():
            packed.writestr(_SETTINGS_FILE, _shared_settings(settings.read_bytes()))
        for file in sorted(folder.glob(f"{FOLDER_PREFIX}*/*")):
            if file.is_file() and not file.name.endswith(".lock"):
                packed.write(file, str(file.relative_to(folder)))
    _require_bounded(target)


def unpack_index(packed_file: Path, folder: Path, *, with_settings: bool) -> None:
    """Put a packed index into a folder, in place of the index there; the catalog, which makes it one, comes last."""
    part = folder / f"{CATALOG_FILE}.part"
    with open_bounded(packed_file) as packed, disk_errors(folder):
        names = packed.namelist()
        if CATALOG_FILE not in names:
            raise zipfile.BadZipFile("it has no catalog")
        for name in names:
            _require_known(name)
        remove_store(folder)
        try:
            for name in filter(lambda name: name not in (CATALOG_FILE, _SETTINGS_FILE), names):
                make_private_folder((folder / name).parent)
                unpack_file(packed, name, folder / name)
            if with_settings and _SETTINGS_FILE in names:
                with packed.open(_SETTINGS_FILE) as stream:
                    settings = _shared_settings(stream.read(_MAX_SETTINGS_BYTES))
                (folder / _SETTINGS_FILE).write_bytes(settings)
            unpack_file(packed, CATALOG_FILE, part)
            part.replace(folder / CATALOG_FILE)
        except BaseException:
            remove_store(folder)
            part.unlink(missing_ok=True)
            raise


def pack_files(root: Path, paths: Iterable[str], target: Path) -> None:
    """Pack files below a folder."""
    with disk_errors(target), zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for path in paths:
            packed.writestr(zipfile.ZipInfo(path), (root / path).read_bytes(), zipfile.ZIP_DEFLATED, 1)
    _require_bounded(target)


def unpack_files(packed_file: Path, root: Path) -> list[tuple[str, Stat]]:
    """Write packed files below an empty folder; return their paths and stats."""
    found = list[tuple[str, Stat]]()
    with open_bounded(packed_file) as packed, disk_errors(root):
        for path in packed.namelist():
            parts = path.split("/")
            if any(part in ("", ".", "..") for part in parts):
                raise Failed(f"The packed files name one outside of their folder: {path[:100]!r}. They are not used.")
            if not can_be_written(path):
                continue
            file = root.joinpath(*parts)
            make_private_folder(file.parent)
            unpack_file(packed, path, file)
            found.append((path, stat_of(file.stat())))
    return found


def can_be_written(path: str) -> bool:
    """Return whether a path with slashes names one file here: on Windows, `\\` and `:` lead to folders and drives."""
    return not (IS_WINDOWS and set(path) & set("\\:"))


def _require_bounded(packed_file: Path) -> None:
    """Raise Failed for a packed file that no reader would unpack."""
    with open_bounded(packed_file):
        pass


def _shared_settings(data: bytes) -> bytes:
    """Return the settings that a shared index may bring along; none of a file that cannot be read."""
    try:
        found = json.loads(data)
    except ValueError:
        found = {}
    known = found if isinstance(found, dict) else {}
    return json.dumps({key: known[key] for key in _SHARED_SETTINGS if key in known}).encode()


def _require_known(name: str) -> None:
    parts = PurePosixPath(name).parts
    is_words = len(parts) == 2 and parts[0].startswith(FOLDER_PREFIX) and ".." not in name and "\\" not in name
    if name not in (CATALOG_FILE, _SETTINGS_FILE) and not is_words:
        raise Failed(f"The packed index holds a file that no index has: {name[:100]!r}. Publish the commit again.")


def fetch_index(place: ObjectPlace, version: SharedVersion, folder: Path, *, with_settings: bool) -> None:
    """Put the index of a version into a folder, in place of the index there."""
    make_private_folder(folder)
    with _fetched(place, version.packed_index, folder) as packed:
        unpack_index(packed, folder, with_settings=with_settings)


def fetch_files(place: ObjectPlace, version: SharedVersion, root: Path) -> list[tuple[str, Stat]]:
    """Write the files of a version below an empty folder; return their paths and stats."""
    with _fetched(place, version.packed_files, root.parent) as packed:
        return unpack_files(packed, root)


@contextlib.contextmanager
def _fetched(place: ObjectPlace, key: str, folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=FETCHED_PREFIX, dir=folder) as temporary:
        packed = Path(temporary) / "packed.zip"
        with disk_errors(packed):
            place.download(key, packed, MAX_BYTES)
        yield packed
