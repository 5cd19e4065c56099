"""A damaged catalog is set aside and built again; a mistake of ours is not taken for damage."""

import contextlib
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dowse.indexes.damage_recovery import answer_or_rebuild
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import search
from dowse.searching.search import SearchOptions
from tests.sample_data import write_tree


@pytest.fixture
def index(tmp_path: Path) -> Iterator[ProjectIndex]:
    root = write_tree(tmp_path / "fruit", {"pyproject.toml": "", "apple.py": "def peel():\n    return 1\n"})
    with contextlib.closing(ProjectIndex(root)) as made:
        made.update()
    with contextlib.closing(ProjectIndex(root)) as opened:
        yield opened


def test_a_damaged_catalog_is_built_again_and_the_search_answers(index: ProjectIndex) -> None:
    (index.folder / "catalog.sqlite").write_bytes(b"no database" * 1000)
    answer, _ = search(index, "peel", SearchOptions(mode="lexical"))
    assert [(hit.path, hit.passages[0].start_line) for hit in answer.hits] == [("apple.py", 1)]
    assert "It was set aside as catalog.sqlite.bak" in index.warnings[0]
    assert (index.folder / "catalog.sqlite.bak").exists()
    assert index.check() == []


ODD_VALUES = {
    "a document": "UPDATE documents SET text_start = 'three'",
    "a chunk": "UPDATE chunks SET start_line = 'three'",
    "a path": "UPDATE documents SET path = x'0102' WHERE id = 1",
    "views": "UPDATE documents SET views = 'both'",
    "the sequence": "UPDATE facts SET value = 'three' WHERE key = 'sequence'",
    "the views of the index": "UPDATE facts SET value = 'both' WHERE key = 'views'",
    "a change": "UPDATE changes SET subject = 'three'",
    "names": "UPDATE chunks SET symbols = 7",
}


@pytest.mark.parametrize("statement", ODD_VALUES.values(), ids=ODD_VALUES)
def test_an_odd_value_is_damage_and_the_search_answers(index: ProjectIndex, statement: str) -> None:
    with sqlite3.connect(index.folder / "catalog.sqlite") as connection:
        connection.execute(statement)
    connection.close()
    answer, _ = search(index, "peel", SearchOptions(mode="lexical"))
    assert [(hit.path, hit.passages[0].start_line) for hit in answer.hits] == [("apple.py", 1)]


def test_a_verification_builds_a_damaged_catalog_again(index: ProjectIndex) -> None:
    with sqlite3.connect(index.folder / "catalog.sqlite") as connection:
        connection.execute("UPDATE documents SET title = 'wrong'")
    connection.close()
    index.verify()
    assert [document.title for document in index.store.documents()] != ["wrong"]
    assert index.check() == []


def test_a_verification_is_due_after_the_hours_of_the_setting(index: ProjectIndex) -> None:
    index.verify()
    assert not index.needs_verification()
    for hours, is_due in ((23, False), (25, True)):
        index.whole.set_fact("verified", (datetime.now(UTC) - timedelta(hours=hours)).isoformat())
        assert index.needs_verification() == is_due


def test_a_verification_in_the_future_was_none(index: ProjectIndex) -> None:
    """The clock was wrong when it was recorded, and no file was verified until that time."""
    index.whole.set_fact("verified", (datetime.now(UTC) + timedelta(days=1000)).isoformat())
    assert index.needs_verification()


@pytest.mark.parametrize("mistake", [ValueError, TypeError, KeyError])
def test_a_mistake_of_ours_stands(index: ProjectIndex, mistake: type[Exception]) -> None:
    calls = []

    def fail() -> None:
        calls.append(index.has_catalog)
        raise mistake("a mistake of ours")

    with pytest.raises(mistake, match="a mistake of ours"):
        answer_or_rebuild(index, fail)
    assert calls == [True], "it is not asked again"
    assert not list(index.folder.glob("*.bak"))
