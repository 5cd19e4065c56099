"""Pending paths survive a restart, and paths that change meanwhile stay pending."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from dowse.indexes.freshness.pending_paths import (
    MAX_DELAY_SECONDS,
    MAX_PATHS,
    PENDING_FILE,
    QUIET_SECONDS,
    ChangeTimes,
    PendingPaths,
    due_paths,
    read_pending_paths,
)
from dowse.indexes.freshness.tree_watcher import EVERYWHERE
from dowse.settings import Settings


def test_what_is_pending_survives_a_restart(tmp_path: Path) -> None:
    dirty = PendingPaths(tmp_path)
    dirty.add(["src/a.py", "b c.md", EVERYWHERE], 1.0)
    dirty.save()
    again = PendingPaths(tmp_path)
    again.load(5.0)
    assert set(again.pending()) == {"src/a.py", "b c.md", EVERYWHERE}
    assert json.loads((tmp_path / PENDING_FILE).read_text(encoding="utf-8"))["files"] == [".", "b c.md", "src/a.py"]
    again.remove(again.pending())
    again.save()
    assert read_pending_paths(tmp_path) == []


def test_a_path_that_changed_while_it_was_worked_on_stays() -> None:
    dirty = PendingPaths(Path("nowhere"))
    dirty.add(["a.py", "b.py"], 1.0)
    taken = dirty.pending()
    dirty.add(["a.py"], 2.0)
    dirty.remove(taken)
    assert list(dirty.pending()) == ["a.py"]
    assert dirty.pending()["a.py"] == (1.0, 2.0)


def test_paths_that_were_compared_are_replaced_by_those_that_differ() -> None:
    dirty = PendingPaths(Path("nowhere"))
    dirty.add([EVERYWHERE, "old.py", "hot.py"], 1.0)
    taken = dirty.pending()
    dirty.add(["hot.py"], 2.0)
    assert dirty.replace(taken, ["new.py", "old.py", "hot.py"], 3.0) == {"new.py": (3.0, 3.0), "old.py": (1.0, 1.0)}
    assert dirty.pending() == {"new.py": (3.0, 3.0), "old.py": (1.0, 1.0), "hot.py": (1.0, 2.0)}


def test_very_many_paths_become_one_look_everywhere() -> None:
    dirty = PendingPaths(Path("nowhere"))
    dirty.add((f"f{number}.py" for number in range(MAX_PATHS + 1)), 1.0)
    assert list(dirty.pending()) == [EVERYWHERE]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"files": 3}', '{"files": [1, null]}', "\0"])
def test_a_file_that_makes_no_sense_is_nothing_pending(tmp_path: Path, content: str) -> None:
    (tmp_path / PENDING_FILE).write_text(content, encoding="utf-8")
    assert read_pending_paths(tmp_path) == []


def test_threads_may_add_and_take_at_once(tmp_path: Path) -> None:
    dirty = PendingPaths(tmp_path)
    taken: set[str] = set()

    def add(part: int) -> None:
        for number in range(500):
            dirty.add([f"{part}/{number}"], float(number))

    threads = [threading.Thread(target=add, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads) or dirty.pending():
        some = dirty.pending()
        taken |= set(some)
        dirty.remove(some)
    assert len(taken) == 2000


REALTIME = Settings()
GIT = replace(REALTIME, indexing_strategy="git")
LAZY = replace(REALTIME, indexing_strategy="lazy", lazy_idle_threshold=30)


def test_realtime_waits_until_a_path_rests() -> None:
    pending = {"a.py": ChangeTimes(10.0, 10.0)}
    assert due_paths(REALTIME, pending, 10.0 + QUIET_SECONDS - 0.01) == {}
    assert due_paths(REALTIME, pending, 10.0 + QUIET_SECONDS) == pending


def test_git_reads_what_belongs_to_a_checkout_however_late_it_comes_to_that() -> None:
    """On a busy machine, a commit was forgotten after five seconds."""
    committed, saved = {"a.py": ChangeTimes(12.0, 12.0)}, {"b.py": ChangeTimes(20.0, 20.0)}
    assert due_paths(GIT, committed | saved, 100.0) == {}
    assert due_paths(GIT, committed | saved, 12.0 + QUIET_SECONDS - 0.01, checked_out=15.0) == {}
    assert due_paths(GIT, committed | saved, 100.0, checked_out=15.0) == committed
    assert due_paths(GIT, committed | saved, 100.0, is_searching=True) == {}


def test_a_path_that_never_rests_neither_starves_nor_delays_the_others() -> None:
    restless, resting = ChangeTimes(10.0, 12.9), ChangeTimes(10.0, 10.0)
    assert due_paths(REALTIME, {"log.txt": ChangeTimes(12.5, 12.9), "a.py": resting}, 13.0) == {"a.py": resting}
    assert due_paths(REALTIME, {"log.txt": restless}, 10.0 + MAX_DELAY_SECONDS) == {"log.txt": restless}
