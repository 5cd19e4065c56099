"""A database says whether anything has changed since it was last read."""

import sqlite3
from pathlib import Path

import pytest

from dowse.store.catalog import Catalog


def test_its_state_changes_with_every_change_and_only_then(tmp_path: Path) -> None:
    ours, theirs = (Catalog(tmp_path / "catalog.sqlite") for _ in range(2))
    before = ours.state()
    assert before is not None
    assert ours.rows("SELECT value FROM facts")
    assert ours.state() == before

    with theirs.transaction() as connection:
        connection.execute("INSERT INTO facts VALUES ('new', 'theirs')")
    after_theirs = ours.state()
    assert after_theirs not in (None, before)

    with ours.transaction() as connection:
        connection.execute("UPDATE facts SET value = 'ours' WHERE key = 'new'")
        assert ours.state() is None, "what this thread has not committed yet is known to it alone"
    assert ours.state() not in (None, before, after_theirs)


def test_a_fact_is_read_again_after_each_change(tmp_path: Path) -> None:
    ours, theirs = (Catalog(tmp_path / "catalog.sqlite") for _ in range(2))
    seen = list[tuple[str | None, ...]]()
    for writer in (ours, theirs, ours, theirs):
        writer.set_fact("note", f"{len(seen)}")
        seen.append((ours.fact("note"), theirs.fact("note"), ours.fact("other")))
    assert seen == [(f"{number}", f"{number}", None) for number in range(4)]


def test_a_mistake_in_a_query_is_not_taken_for_damage(tmp_path: Path) -> None:
    database = Catalog(tmp_path / "catalog.sqlite")
    with pytest.raises(sqlite3.ProgrammingError, match="Incorrect number of bindings"):
        database.rows("SELECT value FROM facts WHERE key = ?")
