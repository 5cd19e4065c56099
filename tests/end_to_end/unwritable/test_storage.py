"""Searching needs no writing: a full disk, a read-only one and one of another user are searched as they are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MOUNTING = ["unshare", "--mount"] if hasattr(os, "getuid") and os.getuid() == 0 else ["unshare", "-Urm"]
USER = "root" if MOUNTING[1] == "--mount" and shutil.which("setpriv") else "other"


def can_mount() -> bool:
    try:
        command = [*MOUNTING, "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(
    not can_mount(), reason="NO MOUNTS HERE: disks are full and read-only only where one can be mounted"
)
def test_storage_that_cannot_be_written_is_searched(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    program = [sys.executable, "-m", "tests.end_to_end.unwritable.storage_scenario", "/mnt", USER]
    done = subprocess.run([*MOUNTING, *program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
