"""An answer that names nothing as pending includes every write that ended before the question."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse.errors import CannotWatch
from dowse.indexes import growing_index
from dowse.indexes.freshness import pending_paths
from dowse.indexes.freshness.scan import Drift
from dowse.indexes.freshness.tree_watcher import EVERYWHERE, Watcher
from dowse.indexes.index import IndexReport, ProjectIndex
from dowse.indexes.project_search import ExactQuery, find_all_now, search_now
from dowse.keeping import watched_index
from dowse.keeping.keeper import Keeper, is_far_behind
from dowse.keeping.watched_index import WatchedIndex, start_watcher
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.system.platform import Lock
from dowse.types import Batch
from tests.end_to_end.storm.servers import eventually
from tests.keeping.conftest import Keep
from tests.keeping.test_keeper import started, write_settings
from tests.sample_data import another_writer, write_tree

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux's events are known at once")


def texts(project: ProjectIndex) -> dict[str, set[str]]:
    """Return the names that each indexed file defines."""
    project.store.refresh()
    return {
        document.path: {symbol.name for chunk in project.store.chunks(document.id) for symbol in chunk.symbols}
        for document in project.store.documents()
    }


def save(file: Path, name: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"def {name}(): ...\n", encoding="utf-8")


def save_by_renaming(file: Path, name: str) -> None:
    save(file.with_name(".saving"), name)
    file.with_name(".saving").replace(file)


def save_with_the_same_size_and_time(file: Path, name: str) -> None:
    seen = file.stat()
    save(file, name)
    os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def save_in_a_new_folder(file: Path, name: str) -> None:
    save(file.parent / f"in_{name}" / "deep" / file.name, name)


def save_in_a_moved_folder(file: Path, name: str) -> None:
    outside = file.parents[2] / f"made_{name}"
    save(outside / "deep" / file.name, "older")
    outside.rename(file.parent / f"moved_{name}")
    save(file.parent / f"moved_{name}" / "deep" / file.name, name)


@on_linux
@pytest.mark.parametrize(
    "how", [save, save_by_renaming, save_with_the_same_size_and_time, save_in_a_new_folder, save_in_a_moved_folder]
)
def test_a_write_that_ended_is_in_the_next_answer(
    root: Path, project: ProjectIndex, keep: Keep, how: Callable[[Path, str], None]
) -> None:
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(project) == [])
    for number in range(10):
        how(root / "src/apple.py", f"name{number}")
        assert keeper.catch_up(project) == []
        assert {f"name{number}"} in texts(project).values()


@on_linux
def test_whatever_goes_is_missing_in_the_next_answer(root: Path, project: ProjectIndex, keep: Keep) -> None:
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(project) == [])
    (root / "src/apple.py").unlink()
    assert keeper.catch_up(project) == []
    assert set(texts(project)) == {"src/pear.py", "docs/guide.md"}
    shutil.rmtree(root / "src")
    write_tree(root, {".gitignore": "docs/\n"})
    # Everything is compared after a change of rules, for which an answer does not wait on a busy machine.
    assert eventually(lambda: keeper.catch_up(project) == [])
    assert set(texts(project)) == {".gitignore"}


@on_linux
def test_a_folder_without_files_is_watched_as_well(root: Path, project: ProjectIndex, keep: Keep) -> None:
    (root / "empty" / "below").mkdir(parents=True)
    first, second = keep(), keep()
    assert eventually(lambda: first.catch_up(project) == second.catch_up(project) == [])
    for number, keeper in enumerate((first, second)):
        save(root / f"empty/below/{number}.py", f"name{number}")
        assert keeper.catch_up(project) == []
        assert texts(project)[f"empty/below/{number}.py"] == {f"name{number}"}


@pytest.mark.parametrize("strategy", ["realtime", "lazy", "git"])
def test_a_changed_setting_counts_with_the_next_query(
    root: Path, project: ProjectIndex, keep: Keep, strategy: str
) -> None:
    """With two strategies a query named the files as pending, or the old settings were applied once more."""
    write_settings(project, indexingStrategy=strategy)
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(ProjectIndex(root)) == [])
    for number in range(20):
        is_excluded = number % 2 == 0
        write_settings(project, exclude=["docs/**"] if is_excluded else [])
        time.sleep(number / 200)  # the thread that keeps the index meets each moment of a query
        pending = keeper.catch_up(ProjectIndex(root))
        assert "." in pending or (pending, "docs/guide.md" in texts(project)) == ([], not is_excluded)


def deny_by_a_rule(project: ProjectIndex) -> None:
    write_tree(project.root, {".gitignore": "made/\n"})


def deny_by_a_setting(project: ProjectIndex) -> None:
    write_settings(project, exclude=["made/**"])


def shown(keeper: Keeper, project: ProjectIndex, is_behind: Callable[[list[str]], bool] = is_far_behind) -> list[str]:
    """Return the files that a search shows, asked as a server asks it."""
    pending = keeper.catch_up(project)
    with project.at_one_moment():
        options = SearchOptions(100, mode="lexical")
        answer = search_now(project, parse_search_query("bramble"), options, is_behind=is_behind(pending))
    return sorted(hit.path for hit in answer.hits)


def shown_exactly(keeper: Keeper, project: ProjectIndex) -> list[str]:
    """Return the files that a search for an exact text shows, asked as a server asks it."""
    pending = keeper.catch_up(project)
    with project.at_one_moment():
        found, _ = find_all_now(project, ExactQuery("bramble", SearchOptions(100), 60.0), len(pending))
    return sorted(found.counts)


def followed(project: ProjectIndex, keep: Keep, count: int, **settings: object) -> Keeper:
    """Index some made files beside another one, and return a keeper that knows of no change."""
    made = {f"made/{number}.py": f"def bramble{number}():\n    return 'bramble {number}'\n" for number in range(count)}
    write_tree(project.root, {"src/bush.py": "def bush():\n    return 'bramble'\n", **made})
    write_settings(project, encoder="none", **settings)
    again = ProjectIndex(project.root)
    again.update()
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(again) == [])
    assert len(shown(keeper, again)) == len(shown_exactly(keeper, again)) == count + 1
    again.close()
    return keeper


@on_linux
@pytest.mark.parametrize("ask", [shown, shown_exactly])
@pytest.mark.parametrize("deny", [deny_by_a_rule, deny_by_a_setting])
@pytest.mark.parametrize("count", [3, 30])
@pytest.mark.parametrize("strategy", ["realtime", "lazy", "git"])
def test_files_that_were_denied_are_not_in_the_next_answer(
    root: Path,
    project: ProjectIndex,
    keep: Keep,
    strategy: str,
    count: int,
    deny: Callable[[ProjectIndex], None],
    ask: Callable[[Keeper, ProjectIndex], list[str]],
) -> None:
    """They were shown until they had left the index, which took any time with the strategy git."""
    keeper = followed(project, keep, count, indexingStrategy=strategy)
    asked = ProjectIndex(root)
    assert len(ask(keeper, asked)) == count + 1
    deny(project)
    if asked.has_new_settings():
        asked = ProjectIndex(root)
    assert ask(keeper, asked) == ["src/bush.py"]
    assert ask(keeper, asked) == ["src/bush.py"]


@on_linux
@pytest.mark.parametrize("reason", ["all changes are known by name", "the index is large"])
def test_denied_files_are_not_shown_by_an_answer_that_compares_no_files(
    root: Path, project: ProjectIndex, keep: Keep, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    keeper, asked = followed(project, keep, 60), ProjectIndex(root)
    assert len(shown(keeper, asked)) == 61
    if reason == "the index is large":
        monkeypatch.setattr(growing_index, "MAX_WALKED_FILES", 30)
    deny_by_a_rule(project)
    is_unknown = (lambda pending: "." in pending) if reason == "all changes are known by name" else is_far_behind
    assert shown(keeper, asked, is_unknown) == ["src/bush.py"]


@on_linux
def test_what_is_no_file_of_the_index_is_not_pending(root: Path, project: ProjectIndex, keep: Keep) -> None:
    """Denied files and folders that had events were named and counted until the next commit."""
    write_tree(root, {".gitignore": "gen/\n"})
    write_settings(project, indexingStrategy="git")
    keeper, asked = started(project, keep), ProjectIndex(root)
    assert eventually(lambda: keeper.catch_up(asked) == [])
    write_tree(
        root, {".env": "TOKEN=1\n", "gen/a.py": "a = 1\n", "node_modules/a/b.js": "1\n", "src/fig.py": "fig = 1\n"}
    )
    assert keeper.catch_up(asked) == ["src/fig.py"]
    assert keeper.watch_status(asked).pending == ("src/fig.py",)


@on_linux
def test_an_answer_that_may_lack_a_change_asks_the_policy_about_each_file(
    project: ProjectIndex, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(project) == [])
    assert not project.has_pending
    monkeypatch.setattr("dowse.keeping.keeper._note_changes", lambda *_: False)
    assert keeper.catch_up(project) == ["."]
    assert project.has_pending


@on_linux
def test_events_that_the_system_has_thrown_away_are_no_new_rules(root: Path, project: ProjectIndex, keep: Keep) -> None:
    """What is not committed would be indexed with the strategy git."""
    write_settings(project, indexingStrategy="git")
    keeper, asked = started(project, keep), ProjectIndex(root)
    assert eventually(lambda: keeper.catch_up(asked) == [])
    save(root / "src/fig.py", "fig")
    assert keeper._watched is not None
    keeper._watched.add_paths([EVERYWHERE])
    assert keeper._watched.due_until < 0
    assert keeper.catch_up(asked) == ["src/fig.py"]
    keeper._watched.add_paths([".gitignore"])
    assert keeper._watched.due_until > time.monotonic()
    assert eventually(lambda: "src/fig.py" in texts(asked))


@on_linux
def test_an_answer_does_not_wait_for_a_process_that_writes_for_long(
    root: Path, project: ProjectIndex, keep: Keep
) -> None:
    """It waited for a minute, and nothing was tried again for half a minute after that."""
    write_settings(project, indexingStrategy="lazy", lazyIdleThreshold=3600)
    keeper, asked = started(project, keep), ProjectIndex(root)  # its thread has no more to store
    assert eventually(lambda: keeper.catch_up(asked) == [])
    with another_writer(project) as waits:
        save(root / "src/fig.py", "fig")
        assert "src/fig.py" in keeper.catch_up(asked)
        assert waits
        assert max(waits) <= 1.0
        assert keeper.watch_status(asked).last_error is None
        assert "src/fig.py" not in asked.whole.paths()
    assert eventually(lambda: keeper.catch_up(asked) == [])
    assert texts(asked)["src/fig.py"] == {"fig"}


def test_a_second_server_knows_what_changed_before_it_came(root: Path, project: ProjectIndex, keep: Keep) -> None:
    write_settings(project, indexingStrategy="git")
    keep().catch_up(ProjectIndex(root))
    save(root / "src/fig.py", "fig")
    second = keep()
    assert eventually(lambda: second.watch_status(project).mode == "watching")
    assert {".", "src/fig.py"} & set(second.catch_up(ProjectIndex(root)))


class PausedWatcher:
    """A watcher that no thread waits for: only an answer takes its events."""

    def __init__(self, root: Path) -> None:
        self.watcher = start_watcher(root)
        self.is_exact = self.watcher.is_exact
        self.extend, self.drain, self.close = self.watcher.extend, self.watcher.drain, self.watcher.close

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        stop.wait(3600)
        return False


@on_linux
def test_a_thread_that_does_not_come_to_run_hides_no_change(
    root: Path, project: ProjectIndex, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_index, "start_watcher", PausedWatcher)
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(project) == [])
    for number in range(10):
        save(root / f"new{number}/fig.py", f"name{number}")
        assert keeper.catch_up(project) == []
        assert texts(project)[f"new{number}/fig.py"] == {f"name{number}"}


@on_linux
def test_events_that_the_system_has_thrown_away_hide_no_change(
    root: Path, project: ProjectIndex, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_index, "start_watcher", PausedWatcher)
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(project) == [])
    for number in range(20_000):
        os.chmod(root / "src" / ("apple.py", "pear.py")[number % 2], 0o600)
    save(root / "overlooked/fig.py", "fig")
    assert keeper.catch_up(project) == []
    assert texts(project)["overlooked/fig.py"] == {"fig"}
    save(root / "overlooked/fig.py", "later")
    assert keeper.catch_up(project) == []
    assert texts(project)["overlooked/fig.py"] == {"later"}


@on_linux
def test_events_on_the_way_to_the_pending_paths_hide_no_change(
    root: Path, project: ProjectIndex, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread has taken an event from the system and stops before it reports it."""
    monkeypatch.setattr(watched_index, "TAKE_SECONDS", 0.05)
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(project) == [])
    is_taken, may_continue = threading.Event(), threading.Event()
    really_add = WatchedIndex.add_paths

    def add_later(watched: WatchedIndex, paths: list[str], age_seconds: float = 0.0) -> None:
        if paths and threading.current_thread().name.startswith("keeps"):
            is_taken.set()
            may_continue.wait(30)
        really_add(watched, paths, age_seconds)

    monkeypatch.setattr(WatchedIndex, "add_paths", add_later)
    save(root / "src/fig.py", "fig")
    assert is_taken.wait(30)
    assert keeper.catch_up(project) or texts(project)["src/fig.py"] == {"fig"}
    may_continue.set()
    assert eventually(lambda: keeper.catch_up(project) == [] and texts(project)["src/fig.py"] == {"fig"})


@on_linux
def test_changes_of_an_older_scan_on_their_way_to_the_index_are_not_overlooked(
    root: Path, project: ProjectIndex, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is about to leave the index by a rule that is gone again: the index looks equal until then."""
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(project) == [])
    is_applying, may_continue, really_apply = threading.Event(), threading.Event(), ProjectIndex.apply

    def apply_later(applied: ProjectIndex, drift: Drift) -> IndexReport | None:
        if threading.current_thread().name.startswith("keeps") and not may_continue.is_set():
            is_applying.set()
            may_continue.wait(30)
        return really_apply(applied, drift)

    monkeypatch.setattr(ProjectIndex, "apply", apply_later)
    write_tree(root, {".gitignore": "apple.py\n"})
    assert is_applying.wait(30)
    (root / ".gitignore").unlink()
    assert "." in keeper.catch_up(project)
    may_continue.set()
    assert eventually(lambda: keeper.catch_up(project) == [] and texts(project)["src/apple.py"] == {"apple"})


def refuse_to_watch(_root: Path) -> Watcher:
    raise CannotWatch("OS file watch limit reached.")


def test_where_nothing_can_be_watched_an_answer_looks_for_itself(
    root: Path, project: ProjectIndex, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_index, "start_watcher", refuse_to_watch)
    monkeypatch.setattr(pending_paths, "POLL_SECONDS", 3600)
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(project) == [])
    for number in range(5):
        save(root / f"new{number}/fig.py", f"name{number}")
        assert keeper.catch_up(project) == []
        assert texts(project)[f"new{number}/fig.py"] == {f"name{number}"}


@pytest.mark.parametrize("mode", ["polling", "watching"])
def test_where_looking_takes_long_an_answer_says_that_it_does_not_know(
    root: Path, project: ProjectIndex, keep: Keep, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Nothing can be watched, or other machines may write without an event."""
    if mode == "polling":
        monkeypatch.setattr(watched_index, "start_watcher", refuse_to_watch)
        monkeypatch.setattr(pending_paths, "POLL_SECONDS", 3600)
    else:
        monkeypatch.setattr(pending_paths, "has_remote_writers", lambda _root: True)
    monkeypatch.setattr(watched_index, "SCAN_WAIT_SECONDS", 0.0)
    keeper = keep()
    assert eventually(lambda: keeper.watch_status(project).mode == mode)
    assert keeper.catch_up(project) == ["."]


def test_words_that_another_process_is_writing_are_not_claimed(root: Path, project: ProjectIndex, keep: Keep) -> None:
    """The catalog is committed before the words can be searched."""
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(project) == [])
    project.store.catalog.apply(Batch(drops=["src/pear.py"]))
    writer = Lock(project.folder / "write.lock")
    with writer.held(5.0):
        assert keeper.catch_up(project)[:1] == ["."]
    assert eventually(lambda: keeper.catch_up(project) == [])


def test_a_root_that_was_replaced_is_not_claimed_to_be_known(root: Path, tmp_path: Path, project: ProjectIndex) -> None:
    watched = WatchedIndex(project, lambda: True)
    watched.start_watching()
    try:
        assert watched.take_events() is (sys.platform == "linux")
        root.rename(tmp_path / "away")
        save(root / "src/fig.py", "fig")
        assert not watched.take_events()
    finally:
        watched.watcher.close()  # type: ignore[union-attr]
