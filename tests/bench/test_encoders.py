"""The benchmark of encoders runs and prints its tables."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository import REPOSITORY
from tests.sample_data import write_tree

pytestmark = pytest.mark.soak


def test_both_encoders_are_measured(tmp_path: Path) -> None:
    files = {f"small+code/src/module{n}.py": f"def function{n}():\n    return {n}\n" * 9 for n in range(20)}
    write_tree(tmp_path / "corpora", {**files})
    page = tmp_path / "page.md"
    page.write_text("<!-- bench encoders: start -->\nold\n<!-- bench encoders: end -->\n", encoding="utf-8")
    command = [sys.executable, "-m", "bench.encoders", str(tmp_path / "corpora"), "--markdown", str(page)]
    repository = REPOSITORY
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    written = page.read_text(encoding="utf-8")
    assert "| chunks/s |" in written
    assert "old" not in written
    assert str(tmp_path) not in written
