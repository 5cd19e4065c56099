"""The SQLite database of a catalog."""

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from dowse.sqlite_connection import open_connection
from dowse.sqlite_database import SqliteDatabase
from dowse.store.catalog_schema import APPLICATION_ID, STEPS


class CatalogDatabase(SqliteDatabase):
    """An open catalog."""

    application_id = APPLICATION_ID
    remedy = "Run: dowse doctor --fix"

    def __init__(self, file: Path, steps: Sequence[str] = STEPS) -> None:
        super().__init__(file, steps)


def is_current_format(file: Path) -> bool:
    """Return whether a catalog can be opened without writing to it.

    The check goes through SQLite: opening and closing the file directly would drop the locks that
    other connections of this process hold on it, and the next writer would damage it.
    """
    if not file.exists():
        return False
    try:
        with contextlib.closing(open_connection(file, mode="ro").connection) as connection:
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    except (sqlite3.Error, UnicodeDecodeError):
        return False
    return version == len(STEPS)
