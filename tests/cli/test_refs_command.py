"""`dowse refs`: definitions and uses of a name."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.sample_data import write_tree


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    """Make a function and a file that calls it."""
    files = {"pyproject.toml": "", "apple.py": "def peel(): ...\n", "cook.py": "from apple import peel\n\npeel()\n"}
    return write_tree(tmp_path / "kitchen", files)


def test_definitions_and_uses_are_printed_as_an_assistant_gets_them(run: Run, kitchen: Path) -> None:
    ran = run("refs", "peel", kitchen)
    assert ran.out.splitlines() == [
        "peel: defined at", "  apple.py:1  def peel(): ...", "  2 uses in 1 file", "cook.py",
        "  1 from apple import peel", "  3 peel()",
    ]  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    assert "  1 more uses; narrow path" in run("refs", "apple.peel", kitchen, "--limit", "1").out


def test_an_unknown_name_ends_with_1_and_similar_names(run: Run, kitchen: Path) -> None:
    ran = run("refs", "peeel", kitchen)
    assert (ran.code, ran.out, ran.err) == (1, "", "peeel: nothing here is called that. Similar names: peel.\n")


def test_what_is_no_name_is_refused(run: Run, kitchen: Path) -> None:
    ran = run("refs", "def peel()", kitchen)
    assert ran.code == 2
    assert "is no name" in ran.err
