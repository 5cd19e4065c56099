"""Git's configuration, read and never executed."""

import os
from pathlib import Path

import pytest

from dowse.sources.repository import global_excludes_file, submodule_paths
from tests.sources.repositories import git, make_repository


def test_gitmodules_names_the_paths_of_submodules() -> None:
    for text, paths in (
        ('[submodule "x"]\n\tpath = libs/x\n\turl = ../x\n', {"libs/x"}),
        ('[submodule "a"]\npath=a\n[submodule "b"]\npath = b/\n', {"a", "b"}),
        ('[Submodule "x"] PATH = "with space" ; note\n', {"with space"}),
        ('[submodule "x"]\n path = a\\\nb\n', {"ab"}),
        ('[submodule "x"]\n path = "q\\"uote" # note\n', {'q"uote'}),
        ('[core]\n path = no\n[submodule "x"]\n url = path\n', set()),
        ('[submodule "x"]\r\n\tpath = crlf\r\n', {"crlf"}),
        ("nonsense = [ = \n[[[\n path\n", set()),
        ("", set()),
    ):
        assert submodule_paths(text) == paths


def test_the_users_excludes_are_where_their_configuration_says(tmp_path: Path) -> None:
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("[core]\n\texcludesFile = ~/my ignores\n", encoding="utf-8")
    assert global_excludes_file() == Path.home() / "my ignores"


def test_without_a_word_from_git_they_are_in_the_usual_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert global_excludes_file() == Path(os.environ["XDG_CONFIG_HOME"]) / "git" / "ignore"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert global_excludes_file() == Path.home() / ".config" / "git" / "ignore"


def test_without_git_they_are_in_the_usual_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert global_excludes_file() == Path(os.environ["XDG_CONFIG_HOME"]) / "git" / "ignore"


def test_a_repository_cannot_point_us_at_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(make_repository(tmp_path), "config", "core.excludesFile", "/etc/passwd")
    monkeypatch.chdir(tmp_path)
    assert global_excludes_file() == Path(os.environ["XDG_CONFIG_HOME"]) / "git" / "ignore"
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    assert global_excludes_file() == Path(os.environ["XDG_CONFIG_HOME"]) / "git" / "ignore"


def test_no_file_makes_the_search_for_submodules_slow() -> None:
    """A value of a megabyte took half a minute."""
    for value in ("a" * 300_000, "\\n" * 150_000, '"' * 300_001, '"' + "#" * 300_000, "\\" * 300_000):
        submodule_paths(f"[submodule]\npath = {value}")
    for text in ('[submodule "' * 25_000, "[" * 300_000, "[a" + " " * 300_000, "\\\n" * 150_000):
        submodule_paths(text)
