"""A value of another type in any column of any database ends in an answer or in a line about damage, never in a TypeError."""

import contextlib
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.archives.sample_archives import make_archives
from tests.end_to_end.damage.storage import run
from tests.end_to_end.damage.test_damage import RAW
from tests.sample_data import write_tree
from tests.searching.history.repositories import Change, make_repository

OTHER_TYPES = {
    "INTEGER": ("'three'", "x'fffe'", "1.5"),
    "REAL": ("'three'",),
    "TEXT": ("x'fffe'",),
    "BLOB": ("'three'",),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository, an archive, and a storage root that has a database of each kind."""
    base = tmp_path_factory.mktemp("types")
    with pytest.MonkeyPatch.context() as patch:
        use(base / "home", patch)
        files = {"src/apple.py": "def peel_apple():\n    return 1\n", "guide.md": "# Guide\n\n[Peel](src/apple.py).\n"}
        write_tree(make_repository(base / "fruit", [Change("Peel the apple", files)]), files)
        make_archives(base, {"a.md": "# A\n\nPeeling: [b](b.md)\n", "b.md": "# B\n\nPeeling.\n"})
        for command in (*SETUP, *(command for commands in COMMANDS.values() for command in commands)):
            assert run(*command).code in (0, 1), command
        (base / "home").rename(base / "kept")
    return base


def use(home: Path, patch: pytest.MonkeyPatch) -> None:
    """Use a storage root beside the project from now on; a process in the background may still use the last one."""
    patch.chdir(home.parent)
    patch.setenv("DOWSE_HOME", str(home))
    patch.setenv("SEARCH_DB_PATH", str(home / "search.db"))


SETUP = (
    ["index", "fruit"], ["archive", "index", "research-archive"], ["notes", "create", "fruit"],
    ["notes", "add", "fruit", "note", "How to peel an apple."],
)  # fmt: skip
COMMANDS = {
    "history.sqlite": [["search", "--history", "peel", "fruit"], ["related", "src/apple.py", "fruit"]],
    "search.db": [["archive", "search", "peeling", "--citations"], ["archive", "graph"], ["archive", "graph", "-o", "x.graphml"]],
    "index-fruit.db": [
        ["notes", "search", "fruit", "peel"], ["notes", "show", "fruit", "note"], ["notes", "list"],
        ["notes", "export", "fruit"], ["notes", "add", "fruit", "note", "Other words."],
    ],
    "catalog.sqlite": [
        ["search", "peel", "fruit"], ["docs", "search", "peel", "fruit"], ["docs", "list", "fruit"], ["status", "fruit"],
        ["refs", "peel_apple", "fruit"], ["index", "fruit"],
    ],
}  # fmt: skip
"""The commands that read each database."""


def columns_of(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each column that has values, with a value of another type."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        for table, sql in tables:
            if "VIRTUAL" in sql or re.match(r"sqlite_|(texts|names)_", table):
                continue
            for _, column, declared, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall():
                if connection.execute(f"SELECT count({column}) FROM {table}").fetchone()[0]:
                    yield from ((table, column, value) for value in OTHER_TYPES.get(declared, ()))


def assert_no_raw_error(home: Path, file: str, change: tuple[str, str, str], patch: pytest.MonkeyPatch) -> None:
    """Change a column, and run the commands that read it; each meets it as the first one."""
    table, column, value = change
    for number, command in enumerate(COMMANDS[Path(file).name]):
        shutil.copytree(home.parent / "kept", copy := home.with_name(f"{home.name}-{number}"))
        use(copy, patch)
        with sqlite3.connect(copy / file) as connection, contextlib.suppress(sqlite3.Error):
            connection.execute(f"UPDATE OR REPLACE {table} SET {column} = {value}")
        connection.close()
        outcome = run(*command)
        assert not RAW.search(outcome.out + outcome.err), (change, command, outcome)
        assert outcome.code in (0, 1, 2, 3), (change, command, outcome)
        shutil.rmtree(copy, ignore_errors=True)


def test_the_commands_that_read_the_databases_exist() -> None:
    """One was taken out, and the test below, which few runs have, tested nothing any more."""
    for command in (*SETUP, *(command for commands in COMMANDS.values() for command in commands)):
        assert run(*command, "--help").code == 0, command


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_value_of_another_type_in_any_column_is_survived(
    whole: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """It once ended in a TypeError."""
    (file,) = (found for found in (whole / "kept").rglob(name) if "archives" not in found.parts)
    cases = list(columns_of(file))
    assert len(cases) > 10
    for number, change in enumerate(cases):
        home = whole / f"{name}-{number}"
        assert_no_raw_error(home, os.fspath(file.relative_to(whole / "kept")), change, monkeypatch)
