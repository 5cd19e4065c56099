"""The files of a store in its folder: which they are, and how they are removed or set aside."""

import shutil
from pathlib import Path

from dowse.store.lance_tables import RECORD_FILE
from dowse.store.lexical_follower import FOLDER_PREFIX
from dowse.store.matrix import matrix_files
from dowse.store.reference_database import database_files

CATALOG_FILE = "catalog.sqlite"


def set_catalog_aside(folder: Path) -> Path:
    """Rename an unreadable catalog to a backup, and remove its derived parts."""
    backup = folder / f"{CATALOG_FILE}.bak"
    for file in _catalog_files(folder):
        file.replace(folder / file.name.replace(CATALOG_FILE, backup.name))
    _remove_derived(folder)
    return backup


def store_files(folder: Path) -> list[Path]:
    """Return the files and folders of a store; other files in the folder are not part of it."""
    return [*_catalog_files(folder), *_derived_folders(folder), *_derived_files(folder)]


def remove_store(folder: Path) -> None:
    """Remove the files of a store; other files in the folder stay."""
    for file in _catalog_files(folder):
        file.unlink(missing_ok=True)  # SQLite removes its own files when the last connection closes
    _remove_derived(folder)


def _catalog_files(folder: Path) -> list[Path]:
    files = [folder / f"{CATALOG_FILE}{suffix}" for suffix in ("", "-wal", "-shm")]
    return [file for file in files if file.exists()]


def _remove_derived(folder: Path) -> None:
    for derived in _derived_folders(folder):
        shutil.rmtree(derived, ignore_errors=True)
    for file in _derived_files(folder):
        file.unlink(missing_ok=True)  # SQLite removes its own files when the last connection closes


def _derived_folders(folder: Path) -> list[Path]:
    return [*folder.glob(f"{FOLDER_PREFIX}*"), *folder.glob("*.lancedb")]


def _derived_files(folder: Path) -> list[Path]:
    return [*matrix_files(folder), *folder.glob(RECORD_FILE), *database_files(folder)]
