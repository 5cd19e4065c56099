"""Projects, homes and temporary files on real file systems of other kinds, where this machine can mount them.

Read-only and full disks are mounted by `tests/end_to_end/unwritable`, and a network without events is simulated by
`test_file_systems.py`. FAT itself and the file systems of macOS and Windows were not seen.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.conditions.mount_scenario import CANNOT_MOUNT, SMALL_DISKS

IS_ROOT = hasattr(os, "getuid") and os.getuid() == 0


@pytest.mark.skipif(not IS_ROOT, reason="NO MOUNTS HERE: only root can mount an image")
@pytest.mark.parametrize(
    "kind", ["casefold", *(pytest.param(kind, marks=pytest.mark.soak) for kind in ("seconds", *SMALL_DISKS))]
)
def test_a_project_on_a_mounted_image_is_searched(kind: str, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.end_to_end.conditions.mount_scenario", kind, str(tmp_path)]
    try:
        done = subprocess.run(["unshare", "--mount", *program], capture_output=True, text=True, check=False)
    except OSError:
        pytest.skip("NO MOUNTS HERE: there is no unshare")
    if done.returncode == CANNOT_MOUNT:
        pytest.skip(f"NO {kind.upper()} FILE SYSTEM HERE: the kernel does not mount it")
    assert done.returncode == 0, done.stdout + done.stderr
