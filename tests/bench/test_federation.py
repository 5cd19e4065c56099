"""The benchmark of federated search runs without its data and names the missing folders."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository import REPOSITORY

pytestmark = pytest.mark.soak


def test_the_price_of_the_tools_is_measured_and_absent_data_is_explained(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- bench federation: start -->\nold\n<!-- bench federation: end -->\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "bench.federation", str(tmp_path), "--markdown", str(page)],
        cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Fairness needs --eval" in done.stderr
    assert "`--tools minimal`" in page.read_text(encoding="utf-8")
    assert "old" not in page.read_text(encoding="utf-8")
