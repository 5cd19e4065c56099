"""Every program that measures runs, prints its tables and writes them into a page; the figures are not tested."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository import REPOSITORY
from tests.sample_data import write_tree

pytestmark = [pytest.mark.soak, pytest.mark.timeout(400)]  # all programs together take minutes

PEP = "PEP: {0}\nTitle: Number {0}\nStatus: Final\n\n\nText\n====\n\nSee :pep:`{1}`.\n"
PAGE = "---\ntitle: Page {0}\nslug: Web/{0}\n---\n\n[next](/en-US/docs/Web/{1})\n"
SUBJECT = "# Subject number{0} words\n\n" + "Some words about thing{0} follow here. " * 9


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    code = {f"small+code/src/module{n}.py": f"def function{n}():\n    return {n}\n" * 9 for n in range(20)}
    docs = {f"small+docs/page{n}.md": f"# Page {n}\n\nSome words about {n}.\n" * 9 for n in range(10)}
    return write_tree(tmp_path / "corpora", {**code, **docs, "small+docs/picture.md": b"\0not text"})


def bench(program: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", f"bench{program}", *map(str, arguments)]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False)


def measured(program: str, folder: Path, *arguments: object) -> str:
    """Run a program and return what it wrote between the markers of a page, which names no folder of this machine."""
    page = folder / "page.md"
    marker = f"bench{program.replace('.', ' ')}"
    page.write_text(f"Before.\n<!-- {marker}: start -->\nformer\n<!-- {marker}: end -->\nAfter.\n", encoding="utf-8")
    done = bench(program, *arguments, "--markdown", page)
    if "NotInstalled" in done.stderr:
        pytest.skip(f"NO REGISTRY: nothing could be installed ({done.stderr[-200:]})")
    assert done.returncode == 0, done.stderr
    written = page.read_text(encoding="utf-8")
    assert (written.startswith("Before.\n"), written.endswith("\nAfter.\n")) == (True, True)
    assert "former" not in written
    assert str(folder) not in written
    return written


def test_every_corpus_and_size_is_measured_and_shown_beside_the_goals(corpora: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    given = (corpora, "--no-semble", "--sizes", "20", "--rounds", "1", "--json", figures)
    written = measured("", tmp_path, *given)
    for heading in ("20 files: 20 text files", "small+code: 20 text files", "small+docs: 10 text files"):
        assert heading in written
    for measure in ("full index, files/s", "no change", "one changed file", "peak memory", "index ÷ text", "to reach"):
        assert measure in written
    results = json.loads(figures.read_text(encoding="utf-8"))["results"]
    assert [rounds[0]["files"] for result in results for rounds in result["rounds"].values()] == [20, 20, 10]


def test_a_missing_folder_is_explained_and_installed_packages_are_taken_instead(tmp_path: Path) -> None:
    done = bench("", tmp_path / "absent", "--no-semble", "--sizes", "20", "--only", "20", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    assert f"There are no corpora in {tmp_path / 'absent'}" in done.stderr
    assert "clone public repositories" in done.stderr
    assert "20 files: 20 text files" in done.stdout


@pytest.mark.parametrize(
    ("program", "options", "measures"),
    [
        (".search", ("--sizes", "20"), ("Speed in a warm process", "no index yet, first hits")),
        (
            ".serve",
            ("--starts", "1", "--searches", "20"),
            ("start ÷ import", "stdin closed", "memory after", "schemas of all tools", "to reach", "| `search_docs` |"),
        ),
        (".first_calls", ("--starts", "1"), ("first `search_code`", "first `search`", "≤ 60 ms")),
        (".encoding", ("--files", "5", "--searches", "1"), ("memory of the worker, highest PSS",)),
        (".encoders", (), ("| chunks/s |",)),
        (".freshness", ("--saves", "1", "--idle", "0.1", "--watched", "20"), ("save until a search finds it",)),
        (
            ".http",
            ("--files", "10", "--seconds", "0.6", "--rounds", "1", "--clients", "4"),
            ("an empty tool of the SDK", "behind our gate", "`search_code`", "99th percentile", "| errors | 0 | 0 |"),
        ),
    ],
)
def test_a_program_measures(
    program: str, options: tuple[str, ...], measures: tuple[str, ...], corpora: Path, tmp_path: Path
) -> None:
    written = measured(program, tmp_path, corpora, *options)
    assert [measure for measure in measures if measure not in written] == []


def test_the_first_answer_is_measured(tmp_path: Path) -> None:
    laid_out = write_tree(tmp_path / "laid-out", {"small/src/login.py": "def login(): ...\n", "small/b.py": "x = 1\n"})
    query = {"id": "1", "query": "login", "category": "symbol", "relevant": [{"path": "src/login.py"}], "secondary": []}
    judged = write_tree(tmp_path / "eval", {"code-search/queries.jsonl": json.dumps(query | {"repo": "small"}) + "\n"})
    written = measured(".cold", tmp_path, "--eval", judged, "--code-search", laid_out)
    (line,) = [line for line in written.splitlines() if line.startswith("| the first answer")]
    assert line.split()[-4:] == ["1.000", "|", "100%", "|"]


def test_archives_are_measured_and_citations_held_against_the_list(tmp_path: Path) -> None:
    files = {f"peps/pep-000{n}.rst": PEP.format(n, n + 1) for n in range(1, 6)}
    files |= {f"mdn/{n}.md": PAGE.format(n, n + 1) for n in range(9)}
    corpora = write_tree(tmp_path / "corpora", files)
    listed = "".join(f"pep-000{n}\tpep-000{n + 1}\trole\n" for n in range(1, 5))
    judged = write_tree(tmp_path / "eval", {"citations/peps-edges.tsv": listed})
    written = measured(".archives", tmp_path, corpora, "--eval", judged, "--searches", "9")
    for row in ("Archives of 14 documents", "| recall | 1.0000 | ≥ 0.98 |", "| precision | 1.0000 | ≥ 0.98 |"):
        assert row in written


def test_a_site_is_measured_beside_fuse(tmp_path: Path) -> None:
    corpora = write_tree(tmp_path / "corpora", {f"docs/page{n}.md": SUBJECT.format(n) for n in range(12)})
    written = measured(".sites", tmp_path, corpora, "--asked", "3", "--fuse", "4")
    for measure in ("A site of 12 pages", "start until the first search", "peak memory", "to reach", "| title |"):
        assert measure in written


def test_the_price_of_the_tools_is_measured_without_any_data(tmp_path: Path) -> None:
    assert "`--tools minimal`" in measured(".federation", tmp_path, tmp_path)
    assert "Fairness needs --eval" in bench(".federation", tmp_path).stderr


def test_sizes_and_starts_of_the_package_are_measured(tmp_path: Path) -> None:
    written = measured(".packaging", tmp_path, "--rounds", "1")
    for measure in ("the wheel", "≤ 230 MB", "numpy", "`dowse --version`", "÷ import mcp.server"):
        assert measure in written
