"""The benchmark of pasted issues prints its table, and says what is missing."""

import json
import subprocess
import sys
from pathlib import Path

from tests.repository import REPOSITORY
from tests.sample_data import write_tree


def measure(folder: Path) -> subprocess.CompletedProcess[str]:
    given = ["--eval", str(folder / "eval"), "--checkouts", str(folder / "checkouts"), "--home", str(folder / "home")]
    command = [sys.executable, "-m", "bench.issues", *given]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False)


def test_issues_are_measured_where_there_are_checkouts(tmp_path: Path) -> None:
    write_tree(tmp_path / "checkouts/one", {"src/login.py": "def login_user(): ...\n", "src/other.py": "x = 1\n"})
    issues = [
        {
            "id": name,
            "repo": "a/b",
            "commit": "",
            "text": "login_user - fails\n\nit -login",
            "gold": {"src/login.py": [1]},
        }
        for name in ("one", "two")
    ]
    write_tree(tmp_path / "eval", {"issues/swe-bench-lite.jsonl": "\n".join(map(json.dumps, issues))})
    done = measure(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 of 2 issues" in done.stdout
    assert done.stdout.count("100.0%") == 12


def test_missing_issues_are_explained(tmp_path: Path) -> None:
    done = measure(tmp_path)
    assert (done.returncode, "No issues are measured" in done.stderr) == (0, True)
