"""Nothing outside of a repository is read, and nothing of it runs."""

import os
import subprocess
from pathlib import Path

import pytest

from dowse.errors import Failed, NoHistory
from dowse.searching.history import git_objects
from dowse.searching.history.git_objects import find_repository, open_objects
from dowse.system.platform import IS_LINUX
from dowse.system.sandbox import sandbox_support
from tests.searching.history.conftest import OpenHistory, subjects
from tests.searching.history.repositories import Change, add_commits, git, make_repository

FIRST = Change("Charge the customer once", {"pay.py": "def charge():\n    bill()\n"})
SECOND = Change("Charge the customer twice", {"pay.py": "def charge():\n    bill()\n    bill()\n"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shop", [FIRST, SECOND])


def test_no_program_of_a_repository_runs(
    tmp_path: Path, root: Path, opened: OpenHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary, program = tmp_path / "ran", tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n", encoding="utf-8")
    program.chmod(0o755)
    keys = (
        "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.alternateRefsCommand",
        "credential.helper", "diff.external", "diff.x.command", "diff.x.textconv", "filter.x.smudge", "filter.x.clean",
        "gpg.program", "gpg.ssh.program", "pager.log", "alias.diff-tree", "alias.rev-list", "uploadpack.packObjectsHook",
    )  # fmt: skip
    settings = "".join(f'[{key.rpartition(".")[0].replace(".", chr(32) + chr(34), 1)}{chr(34) * (key.count(".") > 1)}]\n'
                       f"{key.rpartition('.')[2]} = {program}\n" for key in keys)  # fmt: skip
    config = root / ".git" / "config"
    config.write_text(config.read_text(encoding="utf-8") + settings + "[log]\nshowSignature = true\n", encoding="utf-8")
    (root / ".git" / "info" / "attributes").write_text("* diff=x filter=x\n", encoding="utf-8")
    (root / ".gitattributes").write_text("* diff=x filter=x\n", encoding="utf-8")
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman"):
        (root / ".git" / "hooks" / hook).symlink_to(program)
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_ASKPASS"):
        monkeypatch.setenv(name, str(program))
    assert git(root, "config", "diff.x.textconv") == str(program), "the settings are read by git itself"
    assert subjects(opened(root)) == ["Charge the customer twice", "Charge the customer once"]
    assert opened(root).coverage().with_symbols == 2
    assert not canary.exists()


def test_a_configuration_that_includes_a_file_outside_is_not_read(
    tmp_path: Path, root: Path, opened: OpenHistory
) -> None:
    """git would stop at a file that is no configuration, and wait for a pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    config = root / ".git" / "config"
    config.write_text(f"[include]\npath = {pipe}\n[core\nthis is broken", encoding="utf-8")
    assert subjects(opened(root)) == ["Charge the customer twice", "Charge the customer once"]


def test_replacements_and_grafts_are_not_applied(root: Path, opened: OpenHistory) -> None:
    git(root, "replace", "HEAD", "HEAD~1")
    (root / ".git" / "info" / "grafts").write_text(f"{git(root, 'rev-parse', 'HEAD')}\n", encoding="utf-8")
    assert subjects(opened(root)) == ["Charge the customer twice", "Charge the customer once"]


def test_objects_outside_are_not_read(tmp_path: Path, root: Path) -> None:
    other = make_repository(tmp_path / "other", [Change("A secret of others", {"a": "b"})])
    (root / ".git" / "objects" / "info" / "alternates").write_text(f"{other}/.git/objects\n", encoding="utf-8")
    with pytest.raises(NoHistory, match="borrows objects of another one"):
        find_repository(root)
    (root / ".git" / "objects" / "info" / "alternates").unlink()
    (root / ".git" / "objects" / "ff").mkdir(exist_ok=True)
    (root / ".git" / "objects" / "ff" / ("0" * 38)).symlink_to(other / ".git" / "HEAD")
    with pytest.raises(NoHistory, match="are links"):
        find_repository(root)


@pytest.mark.parametrize("lead", ["\n" * ((1 << 20) + 10), " \n", "# a comment\n"])
def test_no_list_of_other_repositories_is_followed(tmp_path: Path, root: Path, lead: str) -> None:
    """Neither one that begins with a megabyte of nothing, nor one that is written after the check."""
    other = make_repository(tmp_path / "other", [Change("A secret of others", {"a": "b"})])
    repository = find_repository(root)
    alternates = root / ".git" / "objects" / "info" / "alternates"
    alternates.write_text(f"{lead}{other}/.git/objects\n", encoding="utf-8")
    with pytest.raises(NoHistory, match="borrows objects of another one"):
        find_repository(root)
    stolen = git(other, "rev-parse", "HEAD")
    with open_objects(repository) as objects, pytest.raises(Failed):
        objects.output("cat-file", "-p", stolen, max_bytes=1000)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("place", ["info/alternates", "pack/multi-pack-index", "HEAD"])
def test_a_pipe_in_the_place_of_a_file_is_not_opened(root: Path, place: str) -> None:
    head = git(root, "rev-parse", "HEAD")
    objects = root / ".git" / "objects"
    pipe = objects / head[:2] / head[2:] if place == "HEAD" else objects / place
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    with pytest.raises(NoHistory, match=r"are not regular files|borrows objects"):
        find_repository(root)


@pytest.mark.skipif(not sandbox_support().files, reason="the system has no Landlock")
def test_git_can_read_no_file_but_objects(tmp_path: Path, root: Path) -> None:
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    with open_objects(find_repository(root)) as objects:
        for file in (tmp_path / "secret", root / ".git" / "config", Path("/etc/passwd")):
            with pytest.raises(Failed, match="Permission denied"):
                objects.output("hash-object", "--no-filters", str(file), max_bytes=100)


@pytest.mark.skipif(not IS_LINUX, reason="only Linux limits the memory of another process")
def test_git_has_limited_memory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_commits(root, [Change("Add a large file", {"large.bin": os.urandom(40 << 20)})])
    with open_objects(find_repository(root)) as objects:
        assert objects.output("cat-file", "-p", "HEAD:large.bin", max_bytes=1000)[1]
        monkeypatch.setattr(git_objects, "GIT_MEMORY_BYTES", 24 << 20)
        with pytest.raises(Failed, match="memory"):
            objects.output("diff-tree", "-p", "--text", "--root", "HEAD", max_bytes=100 << 20)


@pytest.mark.parametrize("place", ["objects", ".git", "HEAD"])
def test_a_link_in_the_place_of_a_part_is_not_followed(tmp_path: Path, root: Path, place: str) -> None:
    part = root / place if place == ".git" else root / ".git" / place
    part.rename(tmp_path / "elsewhere")
    part.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NoHistory, match="git cannot read the history"):
        find_repository(root)


@pytest.mark.parametrize("head", ["ref: ../../other/.git/refs/heads/main", "ref: refs/heads/none", "x", "", "\0", "-h"])
def test_a_broken_head_is_no_history(tmp_path: Path, root: Path, head: str) -> None:
    make_repository(tmp_path / "other", [Change("A secret of others", {"a": "b"})])
    (root / ".git" / "HEAD").write_text(head, encoding="utf-8")
    with pytest.raises(NoHistory, match="git cannot read the history"):
        find_repository(root)


def test_a_git_file_that_leads_to_a_stranger_is_not_followed(tmp_path: Path, root: Path) -> None:
    lure = tmp_path / "lure"
    lure.mkdir()
    (lure / ".git").write_text(f"gitdir: {root}/.git\n", encoding="utf-8")
    with pytest.raises(NoHistory, match="does not name this one in turn"):
        find_repository(lure)


def test_a_worktree_has_its_own_head(tmp_path: Path, root: Path, opened: OpenHistory) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side", "HEAD~1")
    add_commits(root, [Change("On the side", {"side.py": "x"})], "side")
    assert subjects(opened(tmp_path / "tree")) == ["On the side", "Charge the customer once"]


def test_folders_without_commits_are_no_history(tmp_path: Path) -> None:
    with pytest.raises(NoHistory, match="not in a git repository"):
        find_repository(tmp_path)
    empty = make_repository(tmp_path / "empty", [])
    with pytest.raises(NoHistory, match="has no commits"):
        find_repository(empty)
    bare = tmp_path / "bare"
    subprocess.run(["git", "init", "-q", "--bare", bare], check=True)
    with pytest.raises(NoHistory, match="not in a git repository"):
        find_repository(bare)


def test_what_git_says_has_no_absolute_path(root: Path) -> None:
    with open_objects(find_repository(root)) as objects, pytest.raises(Failed) as failed:
        objects.output("cat-file", "-p", f"{root}/secret", max_bytes=100)
    assert "git cannot read the history" in str(failed.value)
    assert "/" not in str(failed.value)


def test_without_git_there_is_a_message(root: Path, opened: OpenHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoHistory, match="git is not installed"):
        opened(root)


def test_a_submodule_and_sha256_are_read(tmp_path: Path, root: Path, opened: OpenHistory) -> None:
    long = tmp_path / "long"
    long.mkdir()
    git(long, "init", "-q", "-b", "main", "--object-format=sha256")
    add_commits(long, [FIRST])
    assert subjects(opened(long)) == ["Charge the customer once"]
    outer = make_repository(tmp_path / "outer", [Change("Begin", {"a": "b"})])
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "shop")
    assert len(find_repository(outer / "shop").head) == 40
