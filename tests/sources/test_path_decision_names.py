"""Hostile strings as file names and as paths: nothing breaks, and single decisions agree with the walk."""

import json
from pathlib import Path

import pytest

from dowse.settings import Settings
from dowse.sources.path_decision import PastPaths
from dowse.sources.policy import Policy
from dowse.types import Entry, Verdict
from tests.repository import EVAL
from tests.sample_data import write_tree
from tests.sources.repositories import can_make, decisions, source

COLLECTED = EVAL / "hostile" / "blns.json"
NAMES = [
    *(
        "-rf", "--help", "$(id)", "`id`", "a\nb", "a\tb", "\x1b[31mred", "a;b", "'", '"', "%s%n", "{{7*7}}",
        "<script>", "C:", "nul", "con.txt",
    ),
    *(
        "\u202etxt.exe", "\ufeff", "Ω", "ﷺ", "👩‍👩‍👧", "z̷a̸l̴g̵o", "!", "#", "[", "*", "?", "\\", "~", "%00",
        "%2e%2e", "..\\..", "...", ". ", " ",
    ),
]  # fmt: skip


def strings() -> list[str]:
    """Return our own strings, and those of the big list where it is available."""
    collected = json.loads(COLLECTED.read_text(encoding="utf-8")) if COLLECTED.is_file() else []
    return [*NAMES, *collected]


def test_a_file_of_any_name_is_read_or_refused_with_a_reason(tmp_path: Path) -> None:
    names = [name for name in dict.fromkeys(strings()) if can_make(tmp_path, name)]
    project = source(tmp_path)
    walked = decisions(project)
    assert set(walked) == set(names)
    for name, item in walked.items():
        answer = project.read(item) if isinstance(item, Entry) else item
        assert isinstance(answer, Verdict) or answer[0].data == b"text"
        assert project.verdict(name).is_allowed == isinstance(answer, list)  # fmt: skip


@pytest.mark.parametrize("prefix", ["", "src/", "../", "/"])
def test_asking_for_any_string_gives_a_verdict_that_can_be_printed(tmp_path: Path, prefix: str) -> None:
    project = source(tmp_path)
    for text in strings():
        verdict = project.verdict(prefix + text)
        assert verdict.path.encode() is not None
        assert verdict.reason or verdict.detail == "a folder"


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
