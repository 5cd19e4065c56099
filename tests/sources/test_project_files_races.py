"""Files and folders that are replaced by symlinks while they are read leak no byte."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.sources import ProjectFiles
from dowse.types import Entry, Verdict
from tests.sample_data import make_stat, write_tree
from tests.sources.repositories import source

ROUNDS = 1000
"""A reader that checks first and then opens by path fails within a few hundred rounds."""
SECRET = "TOP-SECRET"

SWAP_FILE = """
import os, sys
target, secret, spare = sys.argv[1:]
while True:
    os.symlink(secret, spare)
    os.replace(spare, target)
    with open(spare, "w") as file:
        file.write("harmless")
    os.replace(spare, target)
"""
SWAP_FOLDER = """
import os, sys
target, secret, spare = sys.argv[1:]
while True:
    os.rename(target, spare)
    os.symlink(secret, target)
    os.stat(target), os.stat(spare), os.stat(secret)  # give the reader a moment
    os.unlink(target)
    os.rename(spare, target)
    os.stat(target), os.stat(secret)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path, {"outside/a.py": SECRET, "outside/only-outside.py": SECRET})
    return write_tree(tmp_path / "root", {"folder/a.py": "harmless", "folder/deep/b.py": "harmless"})


@contextlib.contextmanager
def swapping(script: str, *paths: Path) -> Iterator[None]:
    """Run another process that swaps the paths as fast as it can."""
    process = subprocess.Popen([sys.executable, "-c", script, *map(str, paths)])
    try:
        yield
        assert process.poll() is None, "the swapping ended early"
    finally:
        process.kill()
        process.wait()


def read_until_both_were_met_often(project: ProjectFiles, path: str) -> None:
    """Read until the file was read in `ROUNDS` rounds, and refused in as many."""
    met = {list: 0, Verdict: 0}
    deadline = time.monotonic() + 20
    while min(met.values()) < ROUNDS and time.monotonic() < deadline:
        answer = project.read(Entry(path, "code", make_stat("")))
        met[type(answer)] += 1
        if isinstance(answer, list):
            assert SECRET.encode() not in answer[0].data
            assert answer[0].stat.size <= len("harmless")
        with contextlib.suppress(OSError):
            assert SECRET.encode() not in project.read_bytes(path)[0]
    assert min(met.values()) >= ROUNDS, met


def test_a_file_swapped_for_a_symlink_leaks_nothing(root: Path, tmp_path: Path) -> None:
    with swapping(SWAP_FILE, root / "folder/a.py", tmp_path / "outside/a.py", tmp_path / "spare"):
        read_until_both_were_met_often(source(root), "folder/a.py")


def test_a_folder_swapped_for_a_symlink_leaks_nothing(root: Path, tmp_path: Path) -> None:
    with swapping(SWAP_FOLDER, root / "folder", tmp_path / "outside", tmp_path / "spare"):
        read_until_both_were_met_often(source(root), "folder/a.py")


def test_a_folder_swapped_for_a_symlink_is_never_listed(root: Path, tmp_path: Path) -> None:
    project = source(root)
    with swapping(SWAP_FOLDER, root / "folder", tmp_path / "outside", tmp_path / "spare"):
        for _ in range(ROUNDS):
            assert "folder/only-outside.py" not in {item.path for item in project.entries()}
            assert not project.verdict("folder/only-outside.py").is_allowed
