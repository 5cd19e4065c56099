"""One index of a server, which indexing processes make for each view."""

import contextlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.keeping import keeper, served_index, watch_status
from dowse.keeping.served_index import ServedIndex
from dowse.surfaces.project.project_replies import status_reply
from dowse.system.platform import Lock
from dowse.types import View
from tests.keeping.test_keeper import write_settings
from tests.mcp.stdio.stdio_client import wait_until
from tests.sample_data import index, write_tree


def test_a_run_for_one_view_is_not_taken_for_that_of_another(tmp_path: Path) -> None:
    """`create_index` once followed a run that indexed the documents alone, and the project was never indexed."""
    root = write_tree(tmp_path / "fruit", {"a.py": "def apple(): ...\n", "b.md": "# Pears\n"})
    with contextlib.closing(ServedIndex(root, "fruit")) as served:
        first = served.start_run(view=View.DOCUMENTS)
        second = served.start_run(view=View.PROJECT)
        assert second is not first
        assert served.start_run(view=View.PROJECT) is second
        assert first.wait(60)
        with contextlib.closing(ProjectIndex(root)) as index:  # it has documents, and is not the project's yet
            assert not index.is_being_made()
        assert second.wait(60)
        assert second.is_complete
    with contextlib.closing(ProjectIndex(root)) as index:
        assert index.whole.views() is View.BOTH
        assert index.store.paths() == ["a.py", "b.md"]


def test_a_run_for_documents_alone_makes_no_index_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it begins, the index has no view yet and is being made all the same."""
    served = ServedIndex(write_tree(tmp_path / "project", {"a.py": "apple = 1\n", "b.md": "# Apple\n"}), "project")
    index = ProjectIndex(served.root)
    index.folder.mkdir(parents=True)
    with Lock(index.folder / "index.lock").held(1.0):
        assert served.is_making(index)  # another process does, and nothing says what for
        run = SimpleNamespace(is_running=True, stop=lambda: None, done=0, total=0)
        monkeypatch.setattr(served_index, "start_run", lambda *_: run)
        served.start_run(view=View.DOCUMENTS)
        assert served.progress(View.PROJECT) is None
        assert not served.is_making(index)
        served.start_run(view=View.PROJECT)
        assert served.is_making(index)
    served.close()


def test_a_status_counts_the_changes_of_which_there_are_too_many_to_name_them(
    root: Path, project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The root stood for all of them, and the number was one."""
    monkeypatch.setattr(keeper, "MAX_COMPARED_PATHS", 5)
    monkeypatch.setattr(watch_status, "MAX_COMPARED_PATHS", 5)
    write_settings(project, indexingStrategy="lazy", lazyIdleThreshold=3600)
    lazy = ProjectIndex(root)
    with contextlib.closing(ServedIndex(root, "project")) as served:
        served.prepare(View.PROJECT).result(60)
        wait_until(lambda: served.watch_status(lazy).mode == "watching" and not served.watch_status(lazy).pending)
        write_tree(root, {f"src/{number}.py": f"value = {number}\n" for number in range(12)})
        wait_until(lambda: len(status_reply(lazy, served).get("newFiles", ())) == 12)
        assert served.watch_status(lazy).pending == (".",)
        reply = status_reply(lazy, served)
        assert (reply["pendingFiles"], reply["watcherActive"], len(reply["newFiles"])) == (12, True, 12)


def test_an_index_is_loaded_and_kept_fresh_before_it_is_asked(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "fruit", {"a.py": "def apple(): ...\n"})
    seen = list[View]()
    with contextlib.closing(ServedIndex(root, "fruit")) as served:
        served.prepare(View.PROJECT, lambda index: seen.append(index.view)).result(60)
        assert (seen, served.keeper) == ([], None)  # there is no index, and none is made
    index(root)
    with contextlib.closing(ServedIndex(root, "fruit")) as served:
        for _ in range(2):
            served.prepare(View.PROJECT, lambda index: seen.append(index.view)).result(60)
        assert seen == [View.PROJECT]
        assert served.keeper
