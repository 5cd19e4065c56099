"""Whether the root of an index was removed, or only cannot be reached now."""

import os
import shutil
import time
from pathlib import Path

import pytest

from dowse.store import storage_layout
from tests.sample_data import open_indexed, write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = open_indexed(write_tree(tmp_path / "disk" / "project", {"a.py": "x = 1\n"}))
    project.close()
    return project.root


def root_state() -> str:
    (project,) = storage_layout.list_projects()
    return project.root_state


def test_a_folder_that_was_removed_is_missing(root: Path) -> None:
    assert root_state() == "present"
    write_tree(root.parent, {"other/b.py": ""})
    shutil.rmtree(root)
    assert root_state() == "missing"
    root.write_text("a file", encoding="utf-8")
    assert root_state() == "missing"


def test_the_last_folder_that_was_removed_from_another_is_missing(root: Path) -> None:
    yesterday = time.time() - 86_400
    for name in ("last-used", "metadata.json"):
        os.utime(storage_layout.index_folder(root) / name, (yesterday, yesterday))
    shutil.rmtree(root)
    assert root_state() == "missing"


def test_a_folder_below_an_empty_mount_point_cannot_be_reached(root: Path) -> None:
    shutil.rmtree(root)
    long_ago = time.time() - 1_000_000
    os.utime(root.parent, (long_ago, long_ago))
    assert root_state() == "unreachable"


def test_a_folder_whose_disk_is_gone_cannot_be_reached(root: Path) -> None:
    shutil.rmtree(root.parent)
    assert root_state() == "unreachable"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the system lets this user in everywhere")
def test_a_folder_without_permission_cannot_be_reached(root: Path) -> None:
    root.parent.chmod(0)
    try:
        assert root_state() == "unreachable"
    finally:
        root.parent.chmod(0o700)
