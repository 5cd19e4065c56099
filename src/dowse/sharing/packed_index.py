"""The two objects of a shared version: the packed index, which is the catalog with what is
derived from it, and the packed files.

A server needs neither LanceDB, whose import takes 3 s, nor a parser to answer from them.
"""

import contextlib
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from dowse.errors import Failed
from dowse.platform import IS_WINDOWS, disk_errors, make_private_folder, stat_of
from dowse.sharing.bounded_zip import open_bounded, unpack_file
from dowse.store.lexical_follower import FOLDER_PREFIX
from dowse.store.reference_database import REFERENCES_FILE
from dowse.store.store_files import CATALOG_FILE, remove_store
from dowse.types import Stat

_SETTINGS_FILE = "config.json"
_DATABASES = (CATALOG_FILE, REFERENCES_FILE)
_SHARED_SETTINGS = ("include", "exclude", "respectGitignore", "maxFileSize", "maxFiles", "docPatterns", "indexDocs")
"""The settings that a shared index brings along: those that say which files it has. The others are the reader's own."""
_MAX_SETTINGS_BYTES = 1 << 20


def pack_index(folder: Path, target: Path) -> None:
    """Pack the catalog, the references, the lexical index and the settings of an index that nobody writes."""
    with (
        disk_errors(target),
        tempfile.TemporaryDirectory(dir=target.parent) as temporary,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed,
    ):
        for name in filter(lambda name: (folder / name).exists(), _DATABASES):
            copy = Path(temporary) / name
            with contextlib.closing(sqlite3.connect(folder / name)) as database:
                database.execute("VACUUM INTO ?", (str(copy),))
            packed.write(copy, name)
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
    if name not in (*_DATABASES, _SETTINGS_FILE) and not is_words:
        raise Failed(f"The packed index holds a file that no index has: {name[:100]!r}. Publish the commit again.")
