"""The files of a store in its folder: which they are, and how they are removed or set aside."""

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from dowse.store.lexical_follower import FOLDER_PREFIX
from dowse.store.matrix import matrix_files
from dowse.store.storage_layout import remove_forgotten_folders
from dowse.system.platform import make_private_folder

CATALOG_FILE = "catalog.sqlite"
TABLES_FILE = "tables.json"
"""The record of the tables of an index (`lance_tables`)."""


def set_catalog_aside(folder: Path) -> Path:
    """Rename an unreadable catalog to a backup, and remove its derived parts."""
    backup = folder / f"{CATALOG_FILE}.bak"
    for file in _catalog_files(folder):
        file.replace(folder / file.name.replace(CATALOG_FILE, backup.name))
    _remove(_derived_parts(folder))
    return backup


def store_files(folder: Path) -> list[Path]:
    """Return the files and folders of a store; other files in the folder are not part of it."""
    return [*_catalog_files(folder), *_derived_parts(folder)]


def remove_store(folder: Path) -> None:
    """Remove the files of a store; other files in the folder stay."""
    _remove(store_files(folder))


def _catalog_files(folder: Path) -> list[Path]:
    files = [folder / f"{CATALOG_FILE}{suffix}" for suffix in ("", "-wal", "-shm")]
    return [file for file in files if file.exists()]


def _derived_parts(folder: Path) -> list[Path]:
    folders = *folder.glob(f"{FOLDER_PREFIX}*"), *folder.glob("*.lancedb")
    return [*folders, *matrix_files(folder), *folder.glob(TABLES_FILE)]


def _remove(parts: Iterable[Path]) -> None:
    for part in parts:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)  # SQLite removes its own files when the last connection closes


_FOLDER_PREFIX = "replaced-"


@contextlib.contextmanager
def replaced_store(folder: Path) -> Iterator[None]:
    """Build a new store in a block. If that fails, for example because the disk is full, the old one comes back."""
    kept = folder / f"{_FOLDER_PREFIX}{os.urandom(4).hex()}"
    make_private_folder(kept)
    _link(folder.glob("*.json"), kept)
    _move(store_files(folder), kept)
    try:
        yield
    except BaseException:
        remove_store(folder)
        _move(kept.iterdir(), folder)
        shutil.rmtree(kept, ignore_errors=True)
        raise
    shutil.rmtree(kept, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove folders of processes that were killed; only the caller may replace a store of `folder`."""
    for left in filter(Path.is_dir, folder.glob(f"{_FOLDER_PREFIX}*")):
        shutil.rmtree(left, ignore_errors=True)
    remove_forgotten_folders()


def _link(files: Iterable[Path], target: Path) -> None:
    """Link files that the new store replaces; where there are no links, the next update renews them."""
    for file in files:
        with contextlib.suppress(OSError):
            (target / file.name).hardlink_to(file)


def _move(files: Iterable[Path], target: Path) -> None:
    for file in files:
        file.replace(target / file.name)
