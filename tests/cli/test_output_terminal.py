"""Output in a terminal: file names and file contents cannot control it."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from dowse.cli import output
from dowse.cli.output import escape
from dowse.store import storage_layout
from tests.cli.conftest import Run
from tests.cli.terminal import in_terminal
from tests.sample_data import write_tree

HOSTILE = "x\x1b]0;owned\x07\x1b[2J\u202egnp\u200b\x9b31m\nnext"
ESCAPED = r"x\x1b]0;owned\x07\x1b[2J\u202egnp\u200b\x9b31m\nnext"
FORBIDDEN = ("\x1b]", "\x07", "\x1b[2J", "\u202e", "\u200b", "\x9b", "\nnext")


def assert_harmless(text: str) -> None:
    assert [found for found in FORBIDDEN if found in text.replace("\r\n", "\n")] == []


def index_settled(run: Run, root: Path) -> None:
    """Index files that are old enough for their timestamps to be trusted."""
    for file in root.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    run("index", root)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Make a project whose names all contain escape sequences."""
    return write_tree(
        tmp_path / HOSTILE,
        {
            "package.json": "{}\n",
            f"{HOSTILE}.py": f"def apple():\n\treturn 'juice {HOSTILE}'\n",
            f".env.{HOSTILE}": "TOKEN=1\n",
            f"{HOSTILE}.md": "# {0}\n\nquince {0}\n".format(HOSTILE.partition("\n")[0]),
        },
    )


def test_no_command_lets_a_name_steer_the_terminal(run: Run, hostile: Path) -> None:
    commands: list[tuple[object, ...]] = [
        ("index", hostile),
        ("status", hostile),
        ("projects",),
        ("why", hostile / f"{HOSTILE}.py"),
        ("why", hostile / f".env.{HOSTILE}"),
        ("why", "juice", hostile / f"{HOSTILE}.py"),
        ("search", "juice", hostile),
        ("search", "--exact", "juice", hostile),
        ("docs", "list", hostile),
        ("docs", "search", "quince", hostile),
        ("docs", "read", f"{HOSTILE}.md", hostile),
        ("doctor", hostile),
        ("status", hostile / HOSTILE),
        (HOSTILE,),
        ("index", f"--{HOSTILE}"),
        ("forget", hostile),
    ]
    for command in commands:
        screen = in_terminal(*command, columns=400)
        assert_harmless(screen.raw)
        assert ESCAPED in screen.raw or r"\x1b]0;owned" in screen.raw, command
        assert_harmless(run(*command, "--json").out)


def test_warnings_from_a_settings_file_are_escaped(run: Run, root: Path) -> None:
    run("index", root)
    write_tree(
        storage_layout.index_folder(root), {"config.json": '{"\\u001b]0;owned\\u0007": 1, "maxFiles": "\\u001b[2J"}'}
    )
    ran = run("status", root)
    assert "warning" in ran.err
    assert_harmless(ran.out + ran.err)


def test_a_bar_shows_a_name_as_it_is_and_does_not_stay_on_the_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "BAR_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with output.progress_bar("Indexing [red] :smile: \x1b]0;owned\x07") as progress:
        progress(1, 2)
    _, shown = capsys.readouterr()
    assert r"Indexing [red] :smile: \x1b]0;owned\x07" in shown
    assert shown.endswith("\x1b[2K")


def test_tabs_stay_in_code_and_are_escaped_in_names() -> None:
    assert escape("\tx\ty", keeps_tabs=True) == "\tx\ty"
    assert escape("a\tb\nc") == r"a\tb\nc"


def test_what_is_merely_foreign_is_shown_as_it_is() -> None:
    for text in ("日本 語", "naïve café", "a\u00a0b", "\u3000x", "🍎", "\ue0b0"):
        assert escape(text) == text


@pytest.mark.parametrize(
    ("typed", "options", "code", "shown"),
    [
        ("n\n", [], 1, "Cancelled; nothing was indexed.\r\n"),
        ("\x04", [], 1, "Cancelled"),
        ("n\n", ["--json"], 1, '"status": "cancelled"'),
        ("y\n", [], 0, "4 files"),
    ],
)
def test_only_a_yes_to_the_size_question_indexes(
    root: Path, storage: Path, typed: str, options: list[str], code: int, shown: str
) -> None:
    write_tree(storage, {"config.json": '{"maxFiles": 2}'})
    screen = in_terminal("index", root, *options, typed=typed)
    assert (screen.code, shown in screen.raw) == (code, True)
    assert screen.raw.count("Cancelled") <= 1
    assert "very large" in screen.raw
    assert "Continue? [y/N]" in screen.raw
    assert "Interrupted" not in screen.raw
    assert (storage_layout.index_folder(root) / "catalog.sqlite").exists() == (code == 0)


def test_a_search_shows_place_and_name_and_the_match_in_colour(run: Run, root: Path) -> None:
    index_settled(run, root)
    screen = in_terminal("search", "apple", root, "--code")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.raw)
    assert plain.startswith("src/apple.py:1-2  apple\r\n1 def apple():\r\n")
    assert "def \x1b[31m\x1b[1mapple\x1b[0m():" in screen.raw


def test_a_search_with_nothing_to_index_shows_no_bar(run: Run, root: Path) -> None:
    index_settled(run, root)
    assert "Indexing" not in in_terminal("search", "apple", root).raw


def test_colour_is_for_terminals_alone(run: Run, root: Path) -> None:
    assert "\x1b" not in run("search", "apple", root, "--wait").out


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_without_colours_gets_none(run: Run, root: Path, name: str, value: str) -> None:
    index_settled(run, root)
    variables: dict[str, Any] = {"NO_COLOR": "", "TERM": "xterm", name: value}
    screen = in_terminal("search", "apple", root, "--code", **variables)
    assert "def apple():" in screen.raw
    assert "\x1b" not in screen.raw


@pytest.mark.parametrize("columns", [60, 80, 132])
@pytest.mark.parametrize("line", ["a" * 900 + " apple " + "b" * 900, "\t\t\tapple = '日本語' " + "語" * 300])
def test_a_long_line_is_cut_around_the_match_to_the_width_of_the_terminal(
    run: Run, tmp_path: Path, columns: int, line: str
) -> None:
    root = write_tree(tmp_path / "long", {"a.py": f"x = 1  # {line}\n"})
    run("index", root)
    for how in ([], ["--exact"]):
        screen = in_terminal("search", "apple", root, *how, columns=columns)
        shown_lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text) for text in screen.lines if "…" in text]
        assert shown_lines
        assert all("apple" in text for text in shown_lines)
        assert all(sum(2 if ord(one) > 0x3000 else 1 for one in text) <= columns for text in shown_lines)


def test_the_help_of_a_bare_command_keeps_its_lines() -> None:
    screen = in_terminal()
    assert screen.code == 2
    assert "Usage: dowse [OPTIONS] COMMAND" in screen.lines[0]
    assert any(line.startswith("  search ") for line in screen.lines)
    assert os.linesep not in screen.lines[0]
