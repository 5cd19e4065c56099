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


def test_definitions_and_uses_are_printed_by_file(run: Run, kitchen: Path) -> None:
    ran = run("refs", "peel", kitchen)
    assert ran.out.splitlines() == [
        "apple.py:1: def peel(): ...  function", "", "cook.py", "     1  from apple import peel  import", "     3  peel()  call",
    ]  # fmt: skip
    assert (ran.code, ran.err.splitlines()[-1]) == (0, "2 uses in 1 file")
    second = run("refs", "apple.peel", kitchen, "--offset", "1", "--limit", "1")
    assert second.out.splitlines()[2:] == ["cook.py", "     3  peel()  call"]
    assert "more with --offset 1" in run("refs", "peel", kitchen, "--limit", "1").err


def test_an_unknown_name_ends_with_1_and_similar_names(run: Run, kitchen: Path) -> None:
    ran = run("refs", "peeel", kitchen)
    assert (ran.code, ran.out) == (1, "")
    assert "Nothing here is called 'peeel'. Similar names: peel." in ran.err


def test_what_is_no_name_is_refused(run: Run, kitchen: Path) -> None:
    ran = run("refs", "def peel()", kitchen)
    assert ran.code == 2
    assert "is no name" in ran.err
