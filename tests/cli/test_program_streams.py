"""Unusual streams and environments: always an exit code, at most one line, never a traceback."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dowse.store import storage_layout
from tests.cli.conftest import Run
from tests.sample_data import write_tree


@pytest.mark.parametrize(
    "command",
    [["index", ".", "--json"], ["projects"], ["--help"]],
)
def test_a_full_disk_behind_stdout_is_one_line_and_exit_code_3(
    run: Run, start: Run, root: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    run("index", root)
    monkeypatch.chdir(root)
    ran = start(*command, shell="> /dev/full")
    assert ran.code == 3
    assert ran.err.count("\n") == 1
    assert "No space left" in ran.err


def test_an_error_is_said_even_when_its_json_cannot_be_written(start: Run) -> None:
    ran = start("status", "/nowhere", "--json", shell="> /dev/full")
    assert (ran.code, ran.err) == (3, "dowse: /nowhere is not a folder.\n")


def test_a_python_without_the_texts_of_the_tools_is_refused(start: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server had no tools."""
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    ran = start("serve")
    assert (ran.code, ran.out, "Unset that." in ran.err) == (2, "", True)
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    assert start("--version").code == 0


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams_do_not_keep_a_command_from_its_work(start: Run, run: Run, root: Path, closed: str) -> None:
    ran = start("index", root, shell=closed)
    assert (ran.code, ran.err) == (0, "")
    assert run("doctor", root).code == 0


@pytest.mark.parametrize("command", [["projects", "--json"], ["--help"], ["search", "--exact", "e"]])
def test_a_reader_that_leaves_early_is_no_error(start: Run, run: Run, root: Path, command: list[str]) -> None:
    run("index", root)
    ran = start(*command, *([root] if command[0] == "search" else []), shell="| true")
    assert ran.code in (0, 141)
    assert "Traceback" not in ran.err
    assert "rror" not in ran.err


def test_a_listener_that_leaves_early_is_no_error(start: Run, root: Path) -> None:
    ran = start("index", root, shell="2>&1 >/dev/null | true")
    assert ran.code in (0, 141)


def test_names_that_are_not_utf_8_are_indexed_listed_and_escaped(start: Run, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/caf\xff"
    os.mkdir(odd)
    Path(os.fsdecode(odd), "a.py").write_text("apple = 1\n", encoding="utf-8")
    assert start("index", os.fsdecode(odd)).code == 0
    listed = start("projects", "--json")
    assert [os.fsencode(one["projectPath"]) for one in listed.json["projects"]] == [odd]
    assert r"caf\udcff  1 file" in start("projects").out
    assert start("search", "apple", os.fsdecode(odd), "--json").json["totalResults"] == 1


ALL_COMMANDS = """
import json, os, sys
from dowse.cli import main
from dowse.cli.program import prepare_streams
prepare_streams()  # as a command does, which is given no list of arguments
sys.exit(max(main([os.fsdecode(word.encode()) for word in words]) for words in json.loads(sys.argv[1])))
"""


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"PYTHONIOENCODING": "latin-1"}, marks=pytest.mark.soak),
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_an_old_encoding_breaks_neither_text_nor_json(start: Run, tmp_path: Path, environment: dict[str, str]) -> None:
    root = write_tree(tmp_path / "日本 é 🍎", {"a.md": "# 林檎 apple é\n"})
    commands: list[list[object]] = [["index", root], ["status", root], ["projects"], ["search", "apple", root]]
    commands.append(["why", root / "日本"])
    for how in ([], ["--json"]):
        words = json.dumps([[str(word) for word in [*command, *how]] for command in commands])
        program = [sys.executable, "-c", ALL_COMMANDS, words]
        done = subprocess.run(program, capture_output=True, env=os.environ | environment, check=False)
        assert done.returncode in (0, 1), done.stderr
        assert b"rror" not in done.stderr
    objects = re.split(r"(?<=^})\n", done.stdout.decode("ascii"), flags=re.MULTILINE)[:-1]
    assert [type(json.loads(one)) for one in objects] == [dict] * len(commands)


def test_a_home_that_nobody_has_is_wrong_usage(start: Run, run: Run) -> None:
    for command in ("index", "status", "forget", "why", "doctor"):
        ran = run(command, "~nouser/x")
        assert ran.code == 2
        assert "no such user" in ran.err
        assert ran.err.count("\n") == 1
    ran = start("projects", DOWSE_HOME="~nouser/x")
    assert (ran.code, "DOWSE_HOME" in ran.err, ran.err.count("\n")) == (2, True, 1)


def test_an_empty_name_is_not_the_working_folder(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    for command in ("index", "forget", "why"):
        assert run(command, "").code == 2
    assert not storage_layout.index_folder(root).exists()


@pytest.mark.parametrize("command", ["index", "search", "status"])
def test_a_folder_without_a_marker_is_said_to_be_taken(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    bare = write_tree(tmp_path / "bare", {"a.py": "apple = 1\n"})
    monkeypatch.chdir(bare)
    arguments = ["apple", "--wait"] if command == "search" else []
    ran = run(command, *arguments)
    marker_lines = [line for line in ran.err.splitlines() if "marker" in line]
    assert len(marker_lines) == 1
    assert str(bare) in marker_lines[0]
    assert "marker" not in run("status", bare).err, "a folder that was named needs no excuse"


def test_json_is_asked_for_only_before_the_double_dash(run: Run) -> None:
    assert run("status", "--", "--json").out == ""
    assert run("status", "/nowhere", "--json").json["error"]["code"] == "INVALID_ARGUMENT"


def test_json_of_lone_halves_can_be_read_back(run: Run, root: Path) -> None:
    ran = run("why", root / "a\udcff.py", "--json")
    assert json.loads(ran.out)["reason"] == "name is not UTF-8"
