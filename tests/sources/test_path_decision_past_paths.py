"""Paths of old commits are judged by the rules of today."""

from pathlib import Path

import pytest

from dowse.settings import Settings
from dowse.sources.path_decision import PastPaths
from dowse.sources.policy import Policy
from tests.sample_data import write_tree


@pytest.mark.parametrize(
    ("path", "is_allowed"),
    [
        ("src/pay.py", True),
        ("gone/for/long.py", True),
        ("logo.png", True),
        (".env", False),
        ("old/.git/config", False),
        ("node_modules/a.js", False),
        ("plans/next.md", False),
        ("src/own/idea.md", False),
        ("tmp/x.py", False),
        ("../outside.py", False),
        ("src/../.env", False),
        ("a" + "/b" * 30, False),
    ],
)
def test_a_path_that_need_not_exist_is_judged_by_its_name(tmp_path: Path, path: str, is_allowed: bool) -> None:
    write_tree(tmp_path, {".gitignore": "tmp/\n", "src/.dowseignore": "own/\n", "src/pay.py": "x\n"})
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    paths = PastPaths(Policy(tmp_path, Settings(exclude=("plans/**",))))
    assert paths.allows(path) is is_allowed
    assert paths.allows(path) is is_allowed, "the same from memory"


def test_a_path_that_the_settings_do_not_include_is_not_shown(tmp_path: Path) -> None:
    paths = PastPaths(Policy(tmp_path, Settings(include=("src/**",))))
    assert [paths.allows(path) for path in ("src/gone.py", "docs/gone.md")] == [True, False]
