"""The benchmark runs and prints its tables; the figures themselves are not tested."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository import REPOSITORY
from tests.sample_data import write_tree

pytestmark = pytest.mark.soak  # all benchmarks together take a minute


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    code = {f"small+code/src/module{n}.py": f"def function{n}():\n    return {n}\n" * 9 for n in range(20)}
    docs = {f"small+docs/page{n}.md": f"# Page {n}\n\nSome words about {n}.\n" * 9 for n in range(10)}
    return write_tree(tmp_path / "corpora", {**code, **docs, "small+docs/picture.md": b"\0not text"})


def bench(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "bench", *map(str, arguments)]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False)


def test_every_corpus_and_size_is_measured_and_shown_beside_the_goals(corpora: Path, tmp_path: Path) -> None:
    page, figures = tmp_path / "page.md", tmp_path / "figures.json"
    page.write_text("Before.\n<!-- bench: start -->\nold\n<!-- bench: end -->\nAfter.\n", encoding="utf-8")

    done = bench(corpora, "--no-semble", "--sizes", "20", "--rounds", "1", "--json", figures, "--markdown", page)

    assert done.returncode == 0, done.stderr
    for heading in ("20 files: 20 text files", "small+code: 20 text files", "small+docs: 10 text files"):
        assert heading in done.stdout
    for measure in ("full index, files/s", "no change", "one changed file", "peak memory", "index ÷ text", "to reach"):
        assert measure in done.stdout
    results = json.loads(figures.read_text(encoding="utf-8"))["results"]
    assert [rounds[0]["files"] for result in results for rounds in result["rounds"].values()] == [20, 20, 10]
    written = page.read_text(encoding="utf-8")
    assert written.startswith("Before.\n")
    assert written.endswith("\nAfter.\n")
    assert "| full index, files/s |" in written
    assert "old" not in written
    assert str(corpora) not in written


def test_one_corpus_can_be_measured_alone(corpora: Path) -> None:
    done = bench(corpora, "--no-semble", "--only", "small+docs", "--rounds", "1")
    assert "small+docs: 10 text files" in done.stdout, done.stderr
    assert "small+code" not in done.stdout


def test_a_missing_folder_is_explained_and_installed_packages_are_taken_instead(tmp_path: Path) -> None:
    done = bench(tmp_path / "absent", "--no-semble", "--sizes", "20", "--only", "20", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    assert f"There are no corpora in {tmp_path / 'absent'}" in done.stderr
    assert "clone public repositories" in done.stderr
    assert "20 files: 20 text files" in done.stdout


def test_a_page_without_markers_is_left_as_it_is(corpora: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Nothing to replace.\n", encoding="utf-8")
    done = bench(corpora, "--no-semble", "--only", "small+docs", "--rounds", "1", "--markdown", page)
    assert done.returncode != 0
    assert "has no lines <!-- bench: start -->" in done.stderr
    assert page.read_text(encoding="utf-8") == "Nothing to replace.\n"


def test_search_is_measured_too(corpora: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.search", str(corpora), "--eval", str(tmp_path / "absent"), "--sizes", "20"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert "Speed in a warm process" in done.stdout
    assert "no index yet, first hits" in done.stdout


def test_the_first_answer_is_measured(tmp_path: Path) -> None:
    laid_out = write_tree(tmp_path / "laid-out", {"small/src/login.py": "def login(): ...\n", "small/b.py": "x = 1\n"})
    query = {"id": "1", "query": "login", "category": "symbol", "relevant": [{"path": "src/login.py"}], "secondary": []}
    judged = write_tree(tmp_path / "eval", {"code-search/queries.jsonl": json.dumps(query | {"repo": "small"}) + "\n"})
    command = [sys.executable, "-m", "bench.cold", "--eval", str(judged), "--code-search", str(laid_out)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("the first answer")]
    assert line.split()[-2:] == ["1.000", "100%"]


def test_the_server_is_measured_over_stdio(corpora: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- bench serve: start -->\nold\n<!-- bench serve: end -->\n", encoding="utf-8")
    command = [sys.executable, "-m", "bench.serve", str(corpora), "--starts", "1", "--searches", "20"]
    done = subprocess.run(
        [*command, "--markdown", str(page)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for measure in (
        "start until",
        "start ÷ import",
        "stdin closed",
        "memory after",
        "schemas of all tools",
        "to reach",
    ):
        assert measure in done.stdout
    written = page.read_text(encoding="utf-8")
    assert "20 questions to each tool" in written
    assert "| `search_docs` |" in written
    assert "old" not in written
    assert str(corpora) not in written


def test_encoding_is_measured(corpora: Path) -> None:
    command = [sys.executable, "-m", "bench.encoding", str(corpora), "--files", "5", "--searches", "1"]
    done = subprocess.run(command, check=True, cwd=REPOSITORY, capture_output=True, text=True)
    assert "memory of the worker, highest PSS" in done.stdout


def test_freshness_is_measured(corpora: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- bench freshness: start -->\nold\n<!-- bench freshness: end -->\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "bench.freshness",
        str(corpora),
        "--saves",
        "1",
        "--idle",
        "0.1",
        "--watched",
        "20",
    ]
    subprocess.run([*command, "--markdown", str(page)], check=True, cwd=REPOSITORY)
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert "save until a search finds it" in text
