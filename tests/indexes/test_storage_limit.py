"""The storage root stays within `storageLimitMB`: what was not used for longest and can be built again makes room."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.indexes.storage_limit import enforce_storage_limit, storage_use
from dowse.platform import Lock
from dowse.store import storage_layout
from tests.sample_data import open_indexed, write_tree
from tests.surfaces.project.project_client import call_tool

MEGABYTE = 1024 * 1024
DAY = 86_400


def make_index(folder: Path, days_ago: float = 0, padding: int = 3 * MEGABYTE) -> ProjectIndex:
    """Index a small project whose index takes some megabytes and was last used some days ago."""
    project = open_indexed(write_tree(folder, {"a.py": f"{folder.name} = 1\n"}))
    project.close()
    (project.folder / "padding").write_bytes(bytes(padding))
    used = time.time() - days_ago * DAY
    for name in ("last-used", "metadata.json"):
        os.utime(project.folder / name, (used, used))
    return project


@pytest.fixture
def oldest(tmp_path: Path) -> ProjectIndex:
    return make_index(tmp_path / "oldest", days_ago=9)


@pytest.fixture
def older(tmp_path: Path) -> ProjectIndex:
    return make_index(tmp_path / "older", days_ago=5)


@pytest.fixture
def own(tmp_path: Path) -> ProjectIndex:
    return make_index(tmp_path / "own", days_ago=20)


def limit_storage(storage: Path, excess: int) -> None:
    """Set the limit so that the storage exceeds it by some megabytes."""
    limit = (storage_use().size_bytes - excess * MEGABYTE) // MEGABYTE + 1
    (storage / "config.json").write_text(json.dumps({"storageLimitMB": limit}), encoding="utf-8")


def test_the_least_recently_used_index_is_removed_and_its_settings_stay(
    storage: Path, oldest: ProjectIndex, older: ProjectIndex, own: ProjectIndex
) -> None:
    (oldest.folder / "config.json").write_text('{"maxFileSize": "2MB"}', encoding="utf-8")
    limit_storage(storage, excess=2)
    (message,) = enforce_storage_limit(own)
    assert message.startswith(f"The index of {oldest.root} was removed (3.")
    assert message.endswith(f"dowse index {oldest.root} builds it again.")
    assert (oldest.exists, older.exists, own.exists) == (False, True, True)
    assert message in own.status().warnings
    assert message in (own.folder / "logs/dowse.log").read_text(encoding="utf-8")
    assert [project.root for project in storage_layout.list_projects()] == [older.root, own.root]
    again = ProjectIndex(oldest.root)
    assert (again.status().state, again.status().warnings) == ("not_found", (message,))
    again.update()
    assert (again.status().state, again.status().warnings) == ("ready", ())
    assert again.settings.max_file_bytes == 2 * MEGABYTE
    assert enforce_storage_limit(own) == []
    assert own.status().warnings == ()
    again.close()
    own.close()


@pytest.mark.parametrize("lock", ["index.lock", "watch.lock", "encode.lock"])
def test_an_index_that_a_process_uses_stays(
    storage: Path, oldest: ProjectIndex, older: ProjectIndex, own: ProjectIndex, lock: str
) -> None:
    limit_storage(storage, excess=2)
    with Lock(oldest.folder / lock).held(0):
        (message,) = enforce_storage_limit(own)
    own.close()
    assert str(older.root) in message
    assert (oldest.exists, older.exists) == (True, False)


def test_only_what_can_be_built_again_is_removed_and_the_rest_is_said(
    storage: Path, tmp_path: Path, oldest: ProjectIndex, own: ProjectIndex
) -> None:
    recent = make_index(tmp_path / "recent", days_ago=0.01)
    write_tree(storage, {"notes/index-mine.db": bytes(MEGABYTE), "vectors-1.sqlite": bytes(MEGABYTE)})
    os.utime(storage / "vectors-1.sqlite", (0, 0))
    (storage / "config.json").write_text('{"storageLimitMB": 1}', encoding="utf-8")
    cache, index, excess = enforce_storage_limit(own)
    own.close()
    assert cache.startswith("The vector cache was removed (1.0MB, last used on 1970-01-01)")
    assert str(oldest.root) in index
    assert "more than storageLimitMB (1), and the rest is in use or cannot be built again" in excess
    assert (own.exists, recent.exists) == (True, True)
    assert (storage / "notes/index-mine.db").exists()
    assert not (storage / "vectors-1.sqlite").exists()


def test_an_index_of_a_server_makes_room_and_the_status_says_so(
    storage: Path, oldest: ProjectIndex, own: ProjectIndex
) -> None:
    limit_storage(storage, excess=2)
    command = [sys.executable, "-m", "dowse.keeping.indexing_worker", str(own.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        (warning,) = json.loads(worker.stdout.read().strip().splitlines()[-1])["warnings"]
    assert warning.startswith(f"The index of {oldest.root} was removed")
    assert call_tool("auto", "get_index_status", own.root)["warnings"] == [warning]


def test_a_search_records_the_use_once_an_hour_and_never_fails_for_it(oldest: ProjectIndex, tmp_path: Path) -> None:
    used = oldest.folder / "last-used"
    oldest.store.totals("code")
    oldest.close()
    assert time.time() - used.stat().st_mtime < DAY
    half_an_hour_ago = time.time() - 1800
    os.utime(used, (half_an_hour_ago, half_an_hour_ago))
    storage_layout.mark_used(oldest.folder)
    assert used.stat().st_mtime == pytest.approx(half_an_hour_ago)
    storage_layout.mark_used(tmp_path / "nowhere")
