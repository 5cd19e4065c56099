"""An index follows its files while a server runs."""

import json
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from dowse.errors import Failed, WordsMissing
from dowse.indexes.freshness import indexer
from dowse.indexes.freshness.pending_paths import ChangeTimes, read_pending_paths
from dowse.indexes.freshness.tree_watcher import Watcher
from dowse.indexes.index import ProjectIndex
from dowse.keeping import watched_index
from dowse.keeping.indexing_run import IndexingRun, start_run
from dowse.keeping.keeper import TICK_SECONDS, Keeper
from dowse.keeping.watch_status import read_watch_status, watch_lease
from dowse.keeping.watched_index import WatchedIndex, start_watcher
from dowse.parsing.document_parsing import ParsedDocument
from dowse.sources.repository import MAX_RULE_BYTES
from dowse.store import lexical_follower
from dowse.types import Put, View
from tests.end_to_end.storm.servers import eventually
from tests.keeping.conftest import Keep, Paths
from tests.sample_data import damaged_words, open_indexed, write_tree
from tests.searching.history.repositories import git


def test_what_changed_while_no_server_ran_is_found_at_the_start(
    root: Path, project: ProjectIndex, keep: Keep, paths: Paths
) -> None:
    (root / "src/apple.py").unlink()
    write_tree(root, {"src/plum.py": "def plum(): ...\n"})
    keeper = keep()
    assert eventually(lambda: paths() == {"src/pear.py", "src/plum.py", "docs/guide.md"})
    assert eventually(lambda: keeper.watch_status(project).mode == "watching")


def test_words_that_a_search_finds_damaged_are_indexed_again_by_themselves(
    project: ProjectIndex, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_follower, "QUICK_DOCUMENTS", 0)
    keeper = keep()
    assert eventually(lambda: not keeper.catch_up(project))

    with damaged_words(), pytest.raises(WordsMissing):
        project.store.chunk_count()
    assert project.whole.has_backlog()
    assert eventually(lambda: not project.whole.has_backlog())
    assert eventually(lambda: not keeper.catch_up(project))
    assert project.store.chunk_count() == 3


def started(project: ProjectIndex, keep: Keep) -> Keeper:
    """Return a keeper that has indexed everything, as it does at the start whatever the strategy."""
    project.whole.set_fact("checked", None)
    keeper = keep()
    assert eventually(lambda: project.whole.fact("checked"))
    return keeper


def symbol_of(project: ProjectIndex, path: str) -> str | None:
    document = project.store.document(path)
    chunks = project.store.chunks(document.id) if document else []
    return chunks[0].symbols[0].name if chunks and chunks[0].symbols else None


def test_very_much_is_left_to_a_process_of_its_own(
    root: Path, project: ProjectIndex, keep: Keep, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_index, "AT_ONCE_FILES", 5)
    started: list[Path] = []

    def start(root: Path, views: View, how: str | None, index_type: type[ProjectIndex]) -> IndexingRun:
        started.append(root)
        return start_run(root, views, how, index_type)

    monkeypatch.setattr(watched_index, "start_run", start)
    keep().catch_up(project)
    write_tree(root, {f"many/{number}.py": f"value = {number}\n" for number in range(20)})
    assert eventually(lambda: len(paths()) == 23)
    assert started


def test_before_an_answer_only_so_much_is_done_and_the_rest_is_named(
    root: Path, project: ProjectIndex, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dowse.keeping.keeper.MAX_CATCH_UP_FILES", 3)
    write_settings(project, indexingStrategy="lazy")
    keeper = keep()
    keeper.catch_up(project)
    write_tree(root, {f"src/{number}.py": f"value = {number}\n" for number in range(12)})
    project = ProjectIndex(root)
    assert eventually(lambda: len(keeper.watch_status(project).pending) == 12)
    left = keeper.catch_up(project)
    assert set(left) <= {f"src/{number}.py" for number in range(12)}
    assert eventually(lambda: not keeper.catch_up(project))


def write_settings(project: ProjectIndex, **settings: object) -> None:
    file = project.folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **settings}), encoding="utf-8")


@pytest.fixture
def waiting(root: Path, project: ProjectIndex, keep: Keep) -> Keeper:
    """A keeper that knows of a new file, which the strategy lets wait."""
    write_settings(project, indexingStrategy="lazy", lazyIdleThreshold=3600)
    keeper, lazy = started(project, keep), ProjectIndex(root)
    assert eventually(lambda: not keeper.catch_up(lazy))
    write_tree(root, {"src/fig.py": "def fig(): ...\n"})
    assert eventually(lambda: keeper.watch_status(lazy).pending == ("src/fig.py",))
    return keeper


@pytest.mark.parametrize("most", [5000, 5])
def test_a_folder_that_waits_is_compared_once(
    root: Path, waiting: Keeper, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """It was compared for each answer and, with too many files to name them, without pause until the next commit."""
    monkeypatch.setattr("dowse.indexes.freshness.pending_paths.MAX_PATHS", most)
    compared, compare = list[list[str]](), WatchedIndex.compare

    def note(own: WatchedIndex, project: ProjectIndex, paths: Mapping[str, ChangeTimes]) -> object:
        compared.append(list(paths))
        return compare(own, project, paths)

    monkeypatch.setattr(WatchedIndex, "compare", note)
    write_tree(root.parent, {f"many/{number}.py": f"value = {number}\n" for number in range(12)})
    (root.parent / "many").rename(root / "many")
    assert eventually(lambda: any(paths == ["many"] for paths in compared))
    time.sleep(20 * TICK_SECONDS)
    assert len(compared) <= 3
    pending = waiting.watch_status(ProjectIndex(root)).pending
    named = {"src/fig.py", *(f"many/{number}.py" for number in range(12))}
    assert set(pending) == ({"."} if most == 5 else named)


def test_lazy_waits_and_a_search_does_not(root: Path, waiting: Keeper, paths: Paths) -> None:
    assert "src/fig.py" not in paths()
    waiting.catch_up(ProjectIndex(root))
    assert "src/fig.py" in paths()


def test_lazy_works_once_it_is_idle(root: Path, project: ProjectIndex, keep: Keep, paths: Paths) -> None:
    write_settings(project, indexingStrategy="lazy", lazyIdleThreshold=1)
    keep().catch_up(ProjectIndex(root))
    write_tree(root, {"src/fig.py": "def fig(): ...\n"})
    assert eventually(lambda: "src/fig.py" in paths())


@pytest.mark.parametrize("move", [["commit", "-qm", "saved"], ["stash", "-q", "-u"]])
def test_git_waits_for_a_commit(root: Path, project: ProjectIndex, keep: Keep, paths: Paths, move: list[str]) -> None:
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    write_settings(project, indexingStrategy="git")
    keeper = started(project, keep)
    assert eventually(lambda: not keeper.catch_up(ProjectIndex(root)))
    write_tree(root, {"src/apple.py": "def cider(): ...\n"})
    assert eventually(lambda: "src/apple.py" in keeper.watch_status(project).pending)
    assert keeper.catch_up(ProjectIndex(root)) == ["src/apple.py"]
    assert symbol_of(project, "src/apple.py") == "apple"
    git(root, "add", ".")
    git(root, *move)
    expected = "cider" if move[0] == "commit" else "apple"
    assert eventually(
        lambda: not keeper.watch_status(project).pending and symbol_of(project, "src/apple.py") == expected
    )


def test_a_commit_during_the_first_comparison_counts(
    root: Path, project: ProjectIndex, keep: Keep, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEAD was read for the first time after it, and the files of the commit waited for the next one."""
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    write_settings(project, indexingStrategy="git")
    really_update, left = WatchedIndex.update_everything, ["second"]

    def update_and_commit(watched: WatchedIndex) -> None:
        really_update(watched)
        if left:
            write_tree(root, {"src/fig.py": "def fig(): ...\n"})
            git(root, "add", ".")
            git(root, "commit", "-qm", left.pop())

    monkeypatch.setattr(WatchedIndex, "update_everything", update_and_commit)
    keep()
    assert eventually(lambda: "src/fig.py" in paths())


def test_pending_files_survive_a_restart(project: ProjectIndex, waiting: Keeper) -> None:
    waiting.stop()
    assert read_pending_paths(project.folder) == ["src/fig.py"]
    assert read_watch_status(project).pending == ("src/fig.py",)


def test_another_strategy_is_taken_up_and_the_old_one_flushed(
    project: ProjectIndex, waiting: Keeper, paths: Paths
) -> None:
    write_settings(project, indexingStrategy="git")
    assert eventually(lambda: "src/fig.py" in paths() and waiting.watch_status(project).strategy == "git")


def test_other_settings_are_taken_up_without_a_restart(
    root: Path, project: ProjectIndex, keep: Keep, paths: Paths
) -> None:
    keep().catch_up(project)
    write_settings(project, exclude=["docs/**"])
    assert eventually(lambda: "docs/guide.md" not in paths())


def test_settings_that_change_while_another_process_indexes_are_applied_after_it(
    root: Path, project: ProjectIndex, keep: Keep, paths: Paths
) -> None:
    """With the strategy git, what they deny waited for the next commit."""
    write_settings(project, indexingStrategy="lazy", lazyIdleThreshold=3600)
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(ProjectIndex(root)) == [])
    with ProjectIndex(root)._turn.held(30.0):
        write_settings(project, indexingStrategy="git", exclude=["docs/**"])
        changed = ProjectIndex(root)
        assert eventually(lambda: keeper.watch_status(changed).strategy == "git")
        assert eventually(lambda: keeper.watch_status(changed).pending == (".",))
        assert "docs/guide.md" in paths()
    assert eventually(lambda: "docs/guide.md" not in paths())


def test_settings_are_applied_by_a_process_that_is_not_the_first(
    root: Path, project: ProjectIndex, keep: Keep, paths: Paths
) -> None:
    """With the strategy git, what they deny waited for the next commit if the first process ended before it knew."""
    write_settings(project, indexingStrategy="git")
    with watch_lease(project.folder).held(5.0):
        keeper = keep()
        assert eventually(lambda: keeper.catch_up(ProjectIndex(root)) == [])
        write_settings(project, exclude=["docs/**"])
        assert eventually(lambda: "docs/guide.md" not in paths())


def test_a_new_folder_that_is_a_repository_at_first_is_watched(
    root: Path, tmp_path: Path, keep: Keep, paths: Paths
) -> None:
    """It was refused before it was watched, and its files were found by the next scan of everything."""
    git(root, "init", "-q")
    open_indexed(root).close()
    keeper, asked = keep(), ProjectIndex(root)
    assert eventually(lambda: keeper.catch_up(asked) == [])
    git(write_tree(tmp_path / "plants", {"a.py": "def plant(): ...\n"}), "init", "-q")
    (tmp_path / "plants").rename(root / "plants")
    assert eventually(lambda: keeper.catch_up(asked) == [])
    assert "plants/a.py" not in paths()
    shutil.rmtree(root / "plants/.git")
    assert eventually(lambda: "plants/a.py" in paths())


def test_rules_that_cannot_be_read_do_not_hide_what_waits(root: Path, keep: Keep, project: ProjectIndex) -> None:
    write_settings(project, indexingStrategy="lazy", lazyIdleThreshold=3600)
    keeper, lazy = started(project, keep), ProjectIndex(root)
    assert eventually(lambda: not keeper.catch_up(lazy))
    write_tree(root, {".gitignore": "x\n" * MAX_RULE_BYTES, "new/a.py": "a = 1\n"})
    assert eventually(lambda: keeper.watch_status(lazy).pending == (".",))


SUBMODULE = '[submodule "made"]\n\tpath = made\n\turl = ../made\n'


@pytest.mark.parametrize("rules", [".git/info/exclude", "made/.git/info/exclude", "../.gitignore", ".gitmodules"])
def test_rules_in_files_that_no_event_names_are_taken_up(
    root: Path, tmp_path: Path, keep: Keep, paths: Paths, rules: str
) -> None:
    """They lie outside the files of the root, or decide which repositories belong to it."""
    write_tree(root, {"made/bramble.py": "def bramble(): ...\n"})
    git(root / "made" if "made" in rules else tmp_path if rules == "../.gitignore" else root, "init", "-q")
    if rules == ".gitmodules":
        git(root / "made", "init", "-q")
        write_tree(root, {".gitmodules": SUBMODULE})
    open_indexed(root).close()
    keeper = keep()
    assert eventually(lambda: keeper.catch_up(ProjectIndex(root)) == [])
    assert "made/bramble.py" in paths()
    write_tree(root, {rules: "" if rules == ".gitmodules" else "bramble.py\n" if "made" in rules else "made/\n"})
    assert eventually(lambda: "made/bramble.py" not in paths())


def test_nothing_waits_for_a_first_process_that_does_not_come_to_run(
    root: Path, project: ProjectIndex, keep: Keep, paths: Paths
) -> None:
    """Another process holds the lease and does nothing, as one that was stopped by a debugger."""
    with watch_lease(project.folder).held(5.0):
        keep().catch_up(project)
        write_tree(root, {"src/fig.py": "def fig(): ...\n"})
        (root / "src/pear.py").unlink()
        assert eventually(lambda: paths() == {"src/apple.py", "src/fig.py", "docs/guide.md"})


def test_a_file_that_another_process_has_indexed_is_not_pending(root: Path, waiting: Keeper) -> None:
    def index_elsewhere() -> bool:  # again, if the file was read in the clock tick in which it was written
        ProjectIndex(root).update()
        return not waiting.watch_status(ProjectIndex(root)).pending

    assert eventually(index_elsewhere)


def test_a_part_that_fails_is_started_again(
    root: Path, project: ProjectIndex, keep: Keep, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dowse.keeping.keeper.RETRY_SECONDS", 0.1)
    failures = [RuntimeError("the watcher crashed")]

    def start(root: Path) -> Watcher:
        watcher = start_watcher(root)
        really_wait = watcher.wait

        def wait(seconds: float, stop: threading.Event) -> bool:
            if failures:
                raise failures.pop()
            return really_wait(seconds, stop)

        monkeypatch.setattr(watcher, "wait", wait)
        return watcher

    monkeypatch.setattr(watched_index, "start_watcher", start)
    keeper = keep()
    assert eventually(lambda: not failures and keeper.watch_status(project).mode == "watching")
    write_tree(root, {"src/fig.py": "def fig(): ...\n"})
    assert eventually(lambda: "src/fig.py" in paths())
    log = project.folder / "logs/dowse.log"
    assert eventually(lambda: log.exists() and "crashed" in log.read_text(encoding="utf-8"))


def test_the_integrity_check_finds_what_no_stat_shows(root: Path, project: ProjectIndex, keep: Keep) -> None:
    """Change a file without changing its stat: the new stat is written into the catalog."""
    file = root / "src/apple.py"
    file.write_text("def grape(): return 'red'\n", encoding="utf-8")
    lie = project.source.entry("src/apple.py")
    document = project.store.document("src/apple.py")
    assert document is not None
    with project.store.catalog.transaction() as connection:
        stat = (lie.stat.size, lie.stat.mtime_ns, lie.stat.inode, lie.stat.ctime_ns)  # type: ignore[union-attr]
        connection.execute(
            "UPDATE documents SET size = ?, mtime_ns = ?, inode = ?, ctime_ns = ?, checked_ns = ? WHERE id = ?",
            (*stat, lie.stat.mtime_ns + 100_000_000, document.id),  # type: ignore[union-attr]
        )
    assert "src/apple.py" not in {entry.path for entry in project.drift().changed}
    project.store.set_fact("verified", "2020-01-01T00:00:00Z")
    keep()
    assert eventually(lambda: symbol_of(project, "src/apple.py") == "grape")
    assert eventually(lambda: (project.store.fact("verified") or "") > "2025")


def test_an_integrity_check_goes_on_where_it_was_stopped(project: ProjectIndex) -> None:
    project.store.set_fact("verifying", "1")
    report = project.verify()
    assert report.is_complete
    assert (report.updated, report.added) == (0, 0)
    assert project.store.fact("verifying") is None


def test_a_moved_file_is_not_cut_again(root: Path, project: ProjectIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[str] = []
    really_prepare = indexer.make_put

    def prepare(parsed: ParsedDocument) -> Put:
        cut.append(parsed.document.path)
        return really_prepare(parsed)

    monkeypatch.setattr(indexer, "make_put", prepare)
    before = chunks_of(project, "src/apple.py")
    (root / "src").rename(root / "lib")
    shutil.copy(root / "docs/guide.md", root / "docs/copy.md")
    project.update()
    assert cut == []
    assert chunks_of(project, "lib/apple.py") == before
    assert project.check() == []


def chunks_of(project: ProjectIndex, path: str) -> list[object]:
    document = project.store.document(path)
    assert document is not None
    return [replace(chunk, id=0, document_id=0) for chunk in project.store.chunks(document.id)]


def test_an_empty_folder_on_another_device_is_a_disk_that_is_not_there(
    root: Path, project: ProjectIndex, keep: Keep, paths: Paths
) -> None:
    project.store.set_fact("device", "another one")
    shutil.rmtree(root / "src")
    shutil.rmtree(root / "docs")
    keeper = keep()
    assert eventually(lambda: "another device" in (keeper.watch_status(project).last_error or ""))
    assert len(paths()) == 3


@pytest.mark.parametrize("change", [ProjectIndex.update, ProjectIndex.verify, ProjectIndex.rebuild])
def test_no_update_removes_the_files_of_a_disk_that_is_not_there(
    root: Path, project: ProjectIndex, paths: Paths, change: Callable[[ProjectIndex], object]
) -> None:
    project.whole.set_fact("device", "another one")
    shutil.rmtree(root / "src")
    shutil.rmtree(root / "docs")
    with pytest.raises(Failed, match="another device"):
        change(project)
    assert len(paths()) == 3
    write_tree(root, {"src/fig.py": "def fig(): ...\n"})
    change(project)
    assert paths() == {"src/fig.py"}
    assert project.whole.fact("device") == str(root.stat().st_dev)


def test_another_process_that_indexes_is_not_interfered_with(
    root: Path, project: ProjectIndex, keep: Keep, paths: Paths
) -> None:
    keeper = keep()
    keeper.catch_up(project)
    turn = ProjectIndex(root)._turn
    turn.acquire(5.0)
    write_tree(root, {"src/fig.py": "def fig(): ...\n"})
    assert eventually(lambda: keeper.watch_status(project).pending)
    assert "src/fig.py" not in paths()
    turn.release()
    assert eventually(lambda: "src/fig.py" in paths())


def test_a_search_does_not_make_a_view_that_an_index_lacks(root: Path, keep: Keep) -> None:
    project = ProjectIndex(root, View.PROJECT)
    project._open_store()
    with project._turn.held(5.0):  # as a process that makes an index of the documents, and has not begun to store them
        assert keep().catch_up(project) == ["."]
        assert list(project.whole.documents()) == []
    project.close()


def test_what_is_kept_fresh_settles_in_its_json_files(root: Path, project: ProjectIndex, keep: Keep) -> None:
    keep().catch_up(project)
    write_tree(root, {"src/fig.py": "def fig(): ...\n"})
    fingerprints = project.folder / "fingerprints.json"
    assert eventually(lambda: "src/fig.py" in fingerprints.read_text(encoding="utf-8"))
