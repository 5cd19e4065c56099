"""The watcher of systems where one watch covers a tree."""

import time
from pathlib import Path

import pytest

from dowse.errors import CannotWatch
from dowse.indexes.freshness import tree_watcher
from dowse.indexes.freshness.tree_watcher import EVERYWHERE, TreeWatcher
from tests.indexes.freshness.test_tree_watcher_contract import WAIT_SECONDS


def test_a_burst_means_look_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_watcher, "BURST_PATHS", 10)
    watcher = TreeWatcher(tmp_path)
    found, deadline = set[str](), time.monotonic() + WAIT_SECONDS
    while EVERYWHERE not in found and time.monotonic() < deadline:
        for number in range(50):
            (tmp_path / f"{number}.py").write_text("x", encoding="utf-8")
        found |= set(watcher.drain())
    assert EVERYWHERE in found
    watcher.close()


def test_where_the_system_gives_no_events_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr("watchfiles._rust_notify.RustNotify", refuse)
    with pytest.raises(CannotWatch, match="limit"):
        TreeWatcher(tmp_path)
