"""The benchmark of the package runs and prints its tables; the figures themselves are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest
from bench.installing import REPOSITORY

pytestmark = [pytest.mark.soak, pytest.mark.timeout(400)]


def test_sizes_and_starts_are_measured(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- bench packaging: start -->\nold\n<!-- bench packaging: end -->\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "bench.packaging", "--rounds", "1", "--markdown", str(page)],
        cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if "NotInstalled" in done.stderr:
        pytest.skip(f"NO REGISTRY: nothing could be installed ({done.stderr[-200:]})")
    assert done.returncode == 0, done.stderr
    written = page.read_text(encoding="utf-8")
    for measure in ("the wheel", "≤ 250 MB", "numpy", "`dowse --version`", "÷ import mcp.server"):
        assert measure in written
    assert "old" not in written
