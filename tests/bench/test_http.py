"""The benchmark of the server over HTTP runs and prints its tables; the figures themselves are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository import REPOSITORY
from tests.sample_data import write_tree

pytestmark = pytest.mark.soak  # all benchmarks together take a minute


def test_the_server_over_http_is_measured_beside_an_empty_tool(tmp_path: Path) -> None:
    corpora = tmp_path / "corpora"
    write_tree(corpora / "small", {f"module{n}.py": f"def function{n}():\n    return {n}\n" for n in range(20)})
    page = tmp_path / "page.md"
    page.write_text("<!-- bench http: start -->\nold\n<!-- bench http: end -->\n", encoding="utf-8")
    command = [sys.executable, "-m", "bench.http", str(corpora), "--files", "10", "--seconds", "0.6", "--rounds", "1"]
    done = subprocess.run(
        [*command, "--clients", "4", "--markdown", str(page)],
        cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for measure in ("an empty tool of the SDK", "behind our gate", "`search_code`", "requests/s", "99th percentile"):
        assert measure in done.stdout
    written = page.read_text(encoding="utf-8")
    assert "| errors | 0 | 0 |" in written
    assert "old" not in written
    assert str(corpora) not in written
