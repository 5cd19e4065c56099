"""`dowse docs list`, `search` and `read`: their output, exit codes and errors."""

import os
from pathlib import Path

import pytest

from dowse.types import View
from tests.cli.conftest import Run, run, start
from tests.sample_data import write_tree

__all__ = ["run", "start"]


def test_a_document_is_printed_as_an_assistant_gets_it(run: Run, start: Run, unindexed: Path) -> None:
    pruning = (unindexed / "guide/pruning.md").read_text(encoding="utf-8")
    for name in ("guide/pruning.md", "./guide/pruning.md", "docs://guide/pruning.md"):
        assert run("docs", "read", name, unindexed).out == pruning
    section = "## How\n\nCut above a bud with sharp secateurs.\n"
    for how in (("guide/pruning.md#how",), ("guide/pruning.md", "--section", "how"), ("docs://guide/pruning.md#how",)):
        assert run("docs", "read", how[0], unindexed, *how[1:]).out == section
    assert "Join a **scion**" in run("docs", "read", "guide/grafting.html", unindexed).out
    read = run("docs", "read", "guide/pruning.md#how", unindexed, "--json").json
    assert (read["uri"], read["text"]) == ("docs://guide/pruning.md", section)
    odd = b"a\r\nb\rc \xe2\x80\x8d\x1b[31m\xe2\x80\xae end"
    write_tree(unindexed, {"odd.txt": odd, "a#b.md": "# Odd\n"})
    assert start("docs", "read", "odd.txt", unindexed).out.encode("latin-1") == odd
    assert run("docs", "read", "a#b.md", unindexed).out == "# Odd\n"


def test_a_home_is_served_or_listed_only_when_it_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write_tree(tmp_path / "home", {"a.md": "# A\n"})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    for arguments in (("docs",), ("docs", "list"), ("docs", "search", "a"), ("docs", "read", "a.md")):
        ran = run(*arguments)
        assert ran.code == 2
        assert "The working directory is a home folder or a whole disk" in ran.err
    assert run("docs", "list", ".").out == "a.md  A\n"


def test_without_a_folder_it_is_the_one_we_are_in(run: Run, unindexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(unindexed)
    assert run("docs", "list").out == run("docs", "list", ".").out
    assert run("docs", "read", "memo.txt").out.startswith("Buy secateurs")


def test_a_folder_that_is_called_like_a_command_is_named_with_a_dot(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"list/a.md": "# A\n"})
    monkeypatch.chdir(tmp_path)
    assert run("docs", "list", "./list").out == "a.md  A\n"
    assert run("docs", "list", "list").out == "a.md  A\n"
    assert run("docs", "nowhere").code == 2
    assert "nowhere is not a folder" in run("docs", "nowhere").err


def test_what_is_being_indexed_is_not_forgotten_under_the_hands_of_who_does_it(
    run: Run, unindexed: Path, storage: Path
) -> None:
    from dowse.indexes.index import ProjectIndex
    from dowse.system.platform import Lock

    run("docs", "list", unindexed)
    turn = Lock(ProjectIndex(unindexed, View.DOCUMENTS).folder / "index.lock")
    turn.acquire(1)
    ran = run("forget", unindexed)
    assert ran.code == 3
    assert f"is being indexed by process {os.getpid()}" in ran.err
    assert run("projects").out.startswith(f"{unindexed}  4 documents, ")
    turn.release()
    assert run("forget", unindexed).code == 0
    assert list((storage / "indexes").iterdir()) == []
