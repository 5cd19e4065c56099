"""The benchmark of the archives runs and prints its tables; the figures themselves are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository import REPOSITORY
from tests.sample_data import write_tree

pytestmark = pytest.mark.soak  # all benchmarks together take a minute


def test_archives_are_measured_and_citations_held_against_the_list(tmp_path: Path) -> None:
    peps = {
        f"peps/pep-000{n}.rst": f"PEP: {n}\nTitle: Number {n}\nStatus: Final\n\n\nText\n====\n\nSee :pep:`{n + 1}`.\n"
        for n in range(1, 6)
    }
    pages = {
        f"mdn/{n}.md": f"---\ntitle: Page {n}\nslug: Web/{n}\n---\n\n[next](/en-US/docs/Web/{n + 1})\n"
        for n in range(9)
    }
    corpora = write_tree(tmp_path / "corpora", {**peps, **pages})
    listed = "".join(f"pep-000{n}\tpep-000{n + 1}\trole\n" for n in range(1, 5))
    judged = write_tree(tmp_path / "eval", {"citations/peps-edges.tsv": listed})
    page = tmp_path / "page.md"
    page.write_text("<!-- bench archives: start -->\nold\n<!-- bench archives: end -->\n", encoding="utf-8")
    command = [sys.executable, "-m", "bench.archives", str(corpora), "--eval", str(judged), "--searches", "9"]
    done = subprocess.run(
        [*command, "--markdown", str(page)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    written = page.read_text(encoding="utf-8")
    assert "Archives of 14 documents" in written
    assert "| recall | 1.0000 | ≥ 0.98 |" in written
    assert "| precision | 1.0000 | ≥ 0.98 |" in written
    assert "old" not in written
    assert str(tmp_path) not in written
