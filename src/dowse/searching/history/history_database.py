"""The database of a project's history, which is derived from the repository and made again when it is damaged."""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dowse.column_types import find_mistyped_columns
from dowse.errors import Failed, StoreDamaged
from dowse.searching.history.commit_reading import CommitRecord
from dowse.sqlite_database import SqliteDatabase
from dowse.text.analysis import terms_of
from dowse.types import Finding

HISTORY_FILE = "history.sqlite"

MAX_INDEXED_FILES = 50
"""The words of the paths of further files do not describe a commit."""

MAX_STEPS = 50
"""How often one file is followed to another name."""
_EVER = 1 << 62
"""A number that no commit reaches."""
_RENAMES = "SELECT old, number, new FROM renames JOIN commits USING (number) WHERE is_reached = 1 AND"

LISTED, READ, SYMBOLS_READ, UNREADABLE, WITHOUT_SYMBOLS = range(5)
"""How much of a commit is known: that it exists, its message and files, its symbols too, nothing because it is broken,
or all but its symbols because a content is missing."""

_STEPS = (
    """
    CREATE TABLE facts (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID;

    -- A later commit has a higher number. `is_reached` is 0 for one that HEAD does not lead to now.
    -- `files` counts the files that it changes; -1 if they are not known. `is_cut`: it changes more than these.
    CREATE TABLE commits (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        is_reached INTEGER NOT NULL DEFAULT 1,
        state INTEGER NOT NULL DEFAULT 0,
        time INTEGER NOT NULL DEFAULT 0,
        files INTEGER NOT NULL DEFAULT 0,
        is_cut INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX commits_by_state ON commits (is_reached, state, number);

    CREATE TABLE messages (
        number INTEGER PRIMARY KEY REFERENCES commits (number),
        author TEXT NOT NULL,
        message TEXT NOT NULL
    );

    CREATE TABLE paths (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL UNIQUE
    );

    CREATE TABLE changes (
        path INTEGER NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (path, number)
    ) WITHOUT ROWID;
    CREATE INDEX changes_by_commit ON changes (number);

    CREATE TABLE renames (
        new INTEGER NOT NULL,
        number INTEGER NOT NULL,
        old INTEGER NOT NULL,
        PRIMARY KEY (new, number)
    ) WITHOUT ROWID;
    CREATE INDEX renames_by_old ON renames (old, number);

    CREATE TABLE symbols (
        number INTEGER NOT NULL,
        path INTEGER NOT NULL,
        names TEXT NOT NULL,
        PRIMARY KEY (number, path)
    ) WITHOUT ROWID;

    -- Terms are cut by us and given one by one.
    CREATE VIRTUAL TABLE texts USING fts5 (
        subject, body, paths, content = '', columnsize = 1,
        tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
    );
    CREATE VIRTUAL TABLE names USING fts5 (
        symbols, content = '', columnsize = 1,
        tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
    );
    CREATE VIRTUAL TABLE texts_terms USING fts5vocab (texts, row);
    CREATE VIRTUAL TABLE names_terms USING fts5vocab (names, row);
    """,
)


class HistoryDatabase(SqliteDatabase):
    """An open database of a history."""

    application_id = 0x646F7768
    remedy = "Run: dowse doctor --fix"
    busy_seconds = 2.0

    def __init__(self, file: Path) -> None:
        super().__init__(file, _STEPS)

    @property
    def label(self) -> str:
        """The words for the database in messages."""
        return f"history {self.file}"

    def unread(self, limit: int) -> list[str]:
        """Return the newest commits of which only the name is known."""
        query = "SELECT name FROM commits WHERE is_reached = 1 AND state = ? ORDER BY number DESC LIMIT ?"
        return [name for (name,) in self.rows(query, (LISTED, limit))]

    def without_symbols(self, limit: int, newest: int, max_files: int) -> list[str]:
        """Return commits whose symbols are not read yet, among the newest commits and those that change few files."""
        query = (
            "SELECT name FROM commits WHERE is_reached = 1 AND state = ? AND files BETWEEN 1 AND ? "
            "AND number > (SELECT MAX(number) FROM commits) - ? ORDER BY number DESC LIMIT ?"
        )
        return [name for (name,) in self.rows(query, (READ, max_files, newest, limit))]

    def counts(self) -> dict[int, int]:
        """Return how many of the commits that HEAD leads to are in each state, as of the end of the last reading."""
        if recorded := self.fact("counts"):
            return {int(state): count for state, count in json.loads(recorded).items()}
        return dict(self.rows("SELECT state, COUNT(*) FROM commits WHERE is_reached = 1 GROUP BY state"))

    def settle(self, *, is_done: bool, objects: str) -> None:
        """Record the counts, and whether everything is read: a search would take four times as long otherwise.

        `objects` tells the objects of the repository from those that it may have later.
        """
        with self.transaction() as connection:
            connection.execute("DELETE FROM facts WHERE key = 'counts'")
            facts = {"counts": json.dumps(self.counts()), "done": "yes" if is_done else "no", "objects": objects}
            connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())

    def has_failures(self, objects: str) -> bool:
        """Return whether commits could not be read from other objects than these."""
        counts = self.counts()
        has_any = self.fact("problem") or counts.get(UNREADABLE) or counts.get(WITHOUT_SYMBOLS)
        return self.fact("objects") != objects and bool(has_any)

    def forget_failures(self) -> None:
        """Let those commits be read that could not be; begin anew if older ones could not be listed, which come first."""
        is_cut = bool(self.fact("problem"))
        with self.transaction() as connection:
            connection.execute("DELETE FROM facts WHERE key IN ('counts', 'done')")
            again = ((LISTED, UNREADABLE), (READ, WITHOUT_SYMBOLS))
            connection.executemany("UPDATE commits SET state = ? WHERE state = ?", again)
            if is_cut:
                connection.execute("DELETE FROM facts WHERE key = 'tip'")
                for table in ("messages", "commits", "changes", "renames", "symbols"):
                    connection.execute(f"DELETE FROM {table}")  # noqa: S608 - one of our tables
                for table in ("texts", "names"):
                    connection.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")  # noqa: S608 - as above

    def move_to(self, tip: str, new: Sequence[str], gone: Iterable[str] | None, **facts: str) -> None:
        """Record the commits that a new HEAD leads to, newest first, and those that it does not; None means all others."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM facts WHERE key IN ('counts', 'done')")
            if gone is None:
                connection.execute("UPDATE commits SET is_reached = 0")
            else:
                connection.executemany("UPDATE commits SET is_reached = 0 WHERE name = ?", ((name,) for name in gone))
            connection.executemany(
                "INSERT INTO commits (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET is_reached = 1",
                ((name,) for name in reversed(new)),
            )
            connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", {**facts, "tip": tip}.items())

    def add_commits(self, records: Sequence[CommitRecord]) -> None:
        """Store commits that were read, all or none of them."""
        with self.transaction() as connection:
            for record in records:
                number = _number_of(connection, record.name)
                if number is None:
                    continue
                connection.execute(
                    "UPDATE commits SET state = ?, time = ?, files = ?, is_cut = ? WHERE number = ?",
                    (READ, record.time, record.file_count, record.is_cut, number),
                )
                message = (number, record.author, record.message)
                connection.execute("INSERT OR REPLACE INTO messages VALUES (?, ?, ?)", message)
                ids = {path: _path_id(connection, path) for path in record.files}
                connection.executemany(
                    "INSERT OR IGNORE INTO changes VALUES (?, ?)", ((i, number) for i in ids.values())
                )
                connection.executemany(
                    "INSERT OR IGNORE INTO renames VALUES (?, ?, ?)",
                    ((ids[new], number, _path_id(connection, old)) for old, new in record.renames),
                )
                subject, _, body = record.message.partition("\n")
                parts = dict.fromkeys(part for path in record.files[:MAX_INDEXED_FILES] for part in path.split("/"))
                connection.execute(
                    "INSERT INTO texts (rowid, subject, body, paths) VALUES (?, ?, ?, ?)",
                    (number, indexed_terms(subject), indexed_terms(body), indexed_terms(" ".join(parts))),
                )

    def add_symbols(self, found: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        """Store the symbols that commits change."""
        with self.transaction() as connection:
            for name, by_path in found.items():
                number = _number_of(connection, name)
                if number is None:
                    continue
                connection.execute("UPDATE commits SET state = ? WHERE number = ?", (SYMBOLS_READ, number))
                joined = {_path_id(connection, path): " ".join(names) for path, names in by_path.items()}
                rows = ((number, path, names) for path, names in joined.items())
                connection.executemany("INSERT OR IGNORE INTO symbols VALUES (?, ?, ?)", rows)
                if joined:
                    terms = indexed_terms(" ".join(joined.values()))
                    connection.execute("INSERT INTO names (rowid, symbols) VALUES (?, ?)", (number, terms))

    def set_state(self, name: str, state: int) -> None:
        """Record that no more of a commit can be read."""
        with self.transaction() as connection:
            connection.execute("UPDATE commits SET state = ? WHERE name = ?", (state, name))

    def earlier_names(self, paths: Iterable[int]) -> dict[int, int]:
        """Return the ids of paths with those of their earlier names, each with the last commit for which it counts."""
        found = dict.fromkeys(paths, _EVER)
        newest = list(found)
        for _ in range(MAX_STEPS):
            before: dict[int, int] = {}
            for old, number, new in self.rows_in(f"{_RENAMES} new IN", newest):
                if number <= found[new] and number > found.get(old, 0):
                    before[old] = max(number, before.get(old, 0))
            found |= before
            newest = list(before)
        return found

    def names_today(self, last_changes: Mapping[int, int]) -> dict[int, int]:
        """Return the id of the present name of each path, of which the last change under its old name is given."""
        found = {path: path for path in last_changes}
        moving = dict(last_changes)
        for _ in range(MAX_STEPS):
            by_old: dict[int, tuple[int, int]] = {}
            for old, number, new in self.rows_in(f"{_RENAMES} old IN", set(moving)):
                if number >= moving[old]:
                    by_old[old] = max(by_old.get(old, (0, 0)), (number, new))
            if not by_old:
                break
            found = {path: by_old[name][1] if name in by_old else name for path, name in found.items()}
            moving = {new: number for number, new in by_old.values()}
        return found


def _number_of(connection: sqlite3.Connection, name: str) -> int | None:
    row = connection.execute("SELECT number FROM commits WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def _path_id(connection: sqlite3.Connection, path: str) -> int:
    connection.execute("INSERT OR IGNORE INTO paths (path) VALUES (?)", (path,))
    return int(connection.execute("SELECT id FROM paths WHERE path = ?", (path,)).fetchone()[0])


def read_commit_counts(folder: Path) -> dict[int, int]:
    """Return how many commits the history in a folder has in each state; empty without one that can be read."""
    try:
        if has_history(folder):
            with contextlib.closing(HistoryDatabase(folder / HISTORY_FILE)) as opened:
                return opened.counts()
    except Failed:
        pass
    return {}


def check_history(folder: Path) -> list[Finding]:
    """Return what is wrong with the history in a folder, if there is one."""
    if not has_history(folder):
        return []
    try:
        with contextlib.closing(HistoryDatabase(folder / HISTORY_FILE)) as opened:
            problems = [problem for (problem,) in opened.rows("PRAGMA quick_check(1)") if problem != "ok"]
            with opened.snapshot() as connection:
                problems = problems or find_mistyped_columns(connection)
    except StoreDamaged as error:
        problems = [str(error)]
    return [Finding("history", f"{HISTORY_FILE}: {problem}") for problem in problems]


def has_history(folder: Path) -> bool:
    """Return whether a history was read into a folder."""
    return (folder / HISTORY_FILE).is_file()


def remove_history(folder: Path) -> None:
    """Remove the history in a folder; the next search reads it again."""
    for suffix in ("", "-wal", "-shm"):
        (folder / f"{HISTORY_FILE}{suffix}").unlink(missing_ok=True)


def indexed_terms(text: str) -> str:
    """Return the terms of a text as they are indexed."""
    return " ".join(terms_of(text))
