"""A damaged row may have a value that no code expects: the catalog is checked then, and built again if it is damaged."""

import contextlib
import sqlite3
from collections.abc import Iterator
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


def test_an_unexpected_value_in_a_damaged_catalog_rebuilds_it_and_the_search_answers(index: ProjectIndex) -> None:
    with contextlib.closing(sqlite3.connect(index.folder / "catalog.sqlite")) as connection, connection:
        connection.execute("UPDATE chunks SET start_line = 'x'")
        connection.execute("UPDATE documents SET chunk_count = 99")
    answer, _ = search(index, "peel", SearchOptions(mode="lexical"))
    assert [(hit.path, hit.passages[0].start_line) for hit in answer.hits] == [("apple.py", 1)]
    assert "It was set aside as catalog.sqlite.bak" in index.warnings[0]
    assert (index.folder / "catalog.sqlite.bak").exists()
    assert index.check() == []


def test_an_unexpected_error_with_a_whole_catalog_stands(index: ProjectIndex) -> None:
    calls = []

    def fail() -> None:
        calls.append(index.has_catalog)
        raise ValueError("a mistake of ours")

    with pytest.raises(ValueError, match="a mistake of ours"):
        answer_or_rebuild(index, fail)
    assert calls == [True], "it is not asked again"
    assert not list(index.folder.glob("*.bak"))
