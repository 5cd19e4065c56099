"""The benchmark of sites runs and prints its measures; the figures themselves are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository import REPOSITORY
from tests.sample_data import write_tree

pytestmark = pytest.mark.soak  # all benchmarks together take a minute


def test_a_site_is_measured_and_shown_beside_the_goals(tmp_path: Path) -> None:
    docs = {
        f"docs/page{n}.md": f"# Subject number{n} words\n\n" + f"Some words about thing{n} follow here. " * 9
        for n in range(12)
    }
    write_tree(tmp_path / "corpora", docs)
    page = tmp_path / "page.md"
    page.write_text("Before.\n<!-- bench sites: start -->\nold\n<!-- bench sites: end -->\nAfter.\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "bench.sites",
        str(tmp_path / "corpora"),
        "--asked",
        "3",
        "--fuse",
        "4",
        "--markdown",
        str(page),
    ]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=110)
    assert done.returncode == 0, done.stderr
    for measure in (
        "A site of 12 pages",
        "start until the first search",
        "median",
        "peak memory",
        "to reach",
        "in ten",
    ):
        assert measure in done.stdout
    written = page.read_text(encoding="utf-8")
    assert "| title |" in written
    assert "old" not in written
    assert str(tmp_path) not in written
