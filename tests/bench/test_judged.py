"""The benchmark of search quality prints one table of all sets, and says what is missing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from bench.judged import KeptFigures

from tests.repository import REPOSITORY
from tests.sample_data import write_tree

FILES = {"src/login.py": "def login_user(): ...\n", "src/other.py": "x = 1\n"}
SETS = ("code-search", "issues", "scifact", "cisi", "cosqa-dev", "federated")
BEIR = {
    "corpus.jsonl": json.dumps({"_id": "7", "title": "Apples", "text": "def peel(apple): ..."}) + "\n",
    "queries.jsonl": json.dumps({"_id": "q", "text": "peel an apple"}) + "\n",
    "qrels.tsv": "query-id\tcorpus-id\tscore\nq\t7\t1\n",
}


def measure(folder: Path, *options: str, program: str = "judged") -> subprocess.CompletedProcess[str]:
    given = ["--eval", str(folder / "eval"), "--home", str(folder / "home"), *options]
    command = [sys.executable, "-m", f"bench.{program}", *given]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with queries of every set, and the files to search."""
    query = {"id": "1", "query": "login", "category": "symbol", "relevant": [{"path": "src/login.py"}], "secondary": []}
    issue = {"repo": "a/b", "text": "login_user - fails\n\nit -login", "gold": {"src/login.py": [1]}}
    issues = [json.dumps({**issue, "id": name}) for name in ("one", "two")]
    files = {f"{name}/{file}": text for name in ("scifact", "cisi", "cosqa-dev") for file, text in BEIR.items()}
    files |= {"code-search/queries.jsonl": json.dumps({**query, "repo": "small"}) + "\n"}
    write_tree(tmp_path / "eval", {**files, "issues/swe-bench-lite.jsonl": "\n".join(issues)})
    write_tree(tmp_path / "laid-out/small", FILES)
    write_tree(tmp_path / "checkouts/one", FILES)
    return tmp_path


@pytest.mark.soak
def test_all_sets_are_in_one_table_and_each_rule_is_taken_away(data: Path) -> None:
    done = measure(data, "--code-search", str(data / "laid-out"), "--checkouts", str(data / "checkouts"))
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if "1.0000 (1.000 to 1.000)" in line}
    assert list(rows) == ["code-search", "issues", "scifact", "cisi", "cosqa-dev"]
    assert all(row.count("1.0000 (") == 2 for row in rows.values())
    assert "DEFINITION = 0" in done.stdout
    assert "German" in done.stdout


@pytest.mark.soak  # the model takes half a minute
def test_the_model_takes_part_and_half_of_it_is_measured(data: Path) -> None:
    done = measure(data, "--code-search", str(data / "laid-out"), "--model", "--only", "code-search", "--no-ablations")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("1.0000 (") == 3
    done = measure(data, "--code-search", str(data / "laid-out"), "--only", "code-search", program="half_way")
    assert done.returncode == 0, done.stderr
    assert "code-search, in the order of use" in done.stdout


def test_figures_of_earlier_runs_are_kept_beside_those_of_one_set(tmp_path: Path) -> None:
    KeptFigures(tmp_path / "figures.json").add_cell("cisi", 2, "words", {"cisi": [1.0, 1.0]})
    KeptFigures(tmp_path / "figures.json").add_cell("cisi", 2, "model", {"cisi": [0.5, 0.5]})
    later = KeptFigures(tmp_path / "figures.json")
    later.add_cell("code-search", 1, "table", {"small": [1.0]})
    (table,) = later.tables()
    assert [row[:5] for row in table.rows[1:]] == [
        ("code-search", "1", "–", "1.0000 (1.000 to 1.000)", "–"),
        ("cisi", "2", "1.0000 (1.000 to 1.000)", "–", "0.5000 (0.500 to 0.500)"),
    ]


def test_missing_data_is_named(tmp_path: Path) -> None:
    done = measure(tmp_path, *(word for name in SETS for word in ("--only", name)))
    assert (done.returncode, done.stderr.count("is not measured")) == (0, 6)
