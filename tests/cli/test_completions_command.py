"""Completions in real shells, and what a shell is told."""

import contextlib
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dowse.cli.command_list import COMMANDS
from dowse.cli.completions_command import SHELLS
from tests.cli.conftest import Run
from tests.sample_data import write_tree

NEEDS = {"bash": ("--norc", "--noprofile", "-i"), "zsh": ("-f", "-i")}


def ask(run: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> list[tuple[str, str, str]]:
    """Return what dowse tells PowerShell for a command line that ends at the cursor: kinds, values and help."""
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    monkeypatch.setenv("_DOWSE_COMPLETE", "powershell_complete")
    told = run().out.splitlines()
    return list(zip(told[::3], told[1::3], told[2::3], strict=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with a single folder in it, and with dowse on the PATH."""
    write_tree(tmp_path / "here", {"source-folder/a.py": "a = 1\n"})
    write_tree(tmp_path, {"bin/dowse": f'#!/bin/sh\nexec "{sys.executable}" -m dowse "$@"\n'})
    (tmp_path / "bin/dowse").chmod(0o755)
    return tmp_path / "here"


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"PATH": f"{folder.parent / 'bin'}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "ready> "}


@pytest.mark.parametrize("shell", NEEDS)
def test_a_terminal_completes_commands_options_and_folders(shell: str, folder: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    set_up = "autoload -Uz compinit; compinit -u -D; " if shell == "zsh" else ""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [shell, *NEEDS[shell]], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment(folder),
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        os.write(ours, f'{set_up}eval "$(dowse completions {shell})"; printf "%s" set; echo " up"\n'.encode())
        read_until(ours, "set up")
        for typed, completed in (
            ("dowse statu\t", "dowse status "),
            ("dowse search --rege\t", "dowse search --regex "),
            ("dowse index sour\t", "dowse index source-folder/"),
            ("dowse notes crea\t", "dowse notes create "),
        ):
            os.write(ours, typed.encode())
            read_until(ours, completed)
            os.write(ours, b"\x15")  # Ctrl-U removes the line
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def read_until(descriptor: int, wanted: str) -> None:
    """Read a terminal until it shows a text."""
    seen, deadline = "", time.monotonic() + 60
    while wanted not in seen:
        assert time.monotonic() < deadline, seen
        if select.select([descriptor], [], [], 1)[0]:
            with contextlib.suppress(OSError):
                seen += os.read(descriptor, 65536).decode(errors="replace")
        seen = re.sub(r"\x1b\[[\d;?]*[A-Za-z]|[\x07\x00]", "", seen)
        while "\b" in seen:
            seen = re.sub(r"[^\b]?\b", "", seen, count=1)


def test_fish_completes_commands_options_and_folders(folder: Path) -> None:
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    lines = ("dowse statu", "dowse search --rege", "dowse index sour", "dowse notes crea")
    script = "dowse completions fish | source; " + "; ".join(f'complete -C "{line}"' for line in lines)
    done = subprocess.run(
        ["fish", "--no-config", "-c", script], cwd=folder, env=environment(folder) | {"HOME": str(folder)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [
        "status", "--regex", "source-folder/", "create",
    ]  # fmt: skip


def test_a_shell_is_told_every_command_with_its_help(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    told = ask(run, monkeypatch, "dowse ")
    assert [value for _, value, _ in told] == list(COMMANDS)
    assert all(kind == "plain" and text for kind, _, text in told)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("dowse index ", "dir"),
        ("dowse why ", "file"),
        ("dowse related ", "file"),
        ("dowse related a.py ", "dir"),
        ("dowse site check ", "file"),
        ("dowse site build . -o ", "file"),
        ("dowse serve --site ", "file"),
        ("dowse archive index --urls ", "dir"),
    ],
)
def test_a_shell_completes_paths_itself(run: Run, monkeypatch: pytest.MonkeyPatch, line: str, kind: str) -> None:
    assert ask(run, monkeypatch, line) == [(kind, "", "_")]


def test_a_request_that_no_script_of_ours_makes_is_ignored(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_DOWSE_COMPLETE", "nonsense_source")
    assert (run("status").code, run("status").out) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_a_script(run: Run, shell: str) -> None:
    script = run("completions", shell).out
    assert f"{shell}_complete" in script
    assert "\x1b" not in script
    assert run("completions", shell, "--json").json["script"].strip("\n") == script.strip("\n")
