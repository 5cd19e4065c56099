"""The walk: order, names, unreadable folders, and entries that are not files."""

import errno
import os
import socket
from pathlib import Path

import pytest

from dowse.errors import Failed
from dowse.sources.open_folders import OpenFolders
from dowse.types import Entry, Reason, Verdict
from tests.sample_data import write_tree
from tests.sources.repositories import decisions, refusal, source, visible_files


def test_files_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    names = ["a.py", "a/b.py", "a/b/c.py", "a-b.py", "B.py", "aa.py", "é.py", "z/1", "z.1", "build/x", "a!/y"]
    write_tree(tmp_path, dict.fromkeys(names, ""))
    paths = [item.path for item in source(tmp_path).entries()]
    assert paths == sorted(paths)
    assert len(paths) == len(names)


def test_an_entry_has_the_stat_of_its_file(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/b.py": "12345"})
    item = decisions(source(tmp_path))["a/b.py"]
    status = (tmp_path / "a/b.py").stat()
    assert isinstance(item, Entry)
    assert (item.stat.size, item.stat.mtime_ns, item.stat.inode) == (5, status.st_mtime_ns, status.st_ino)


def test_symlinks_to_files_folders_and_nowhere_are_left_out(tmp_path: Path) -> None:
    write_tree(tmp_path, {"root/real/a.py": "", "outside/secret.txt": ""})
    for name, target in {
        "file": "real/a.py",
        "folder": "real",
        "out": "../outside",
        "nowhere": "gone",
        "loop": "loop",
    }.items():
        (tmp_path / "root" / name).symlink_to(target)
    project = source(tmp_path / "root")
    assert visible_files(project) == ["real/a.py"]
    assert {refusal(project, name).reason for name in ("file", "folder", "out", "nowhere", "loop")} == {Reason.SYMLINK}


def test_the_root_may_be_reached_through_a_symlink(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real/a.py": ""})
    (tmp_path / "link").symlink_to("real")
    assert visible_files(source(tmp_path / "link")) == ["a.py"]


def test_pipes_and_sockets_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    os.mkfifo("pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert {refusal(source(tmp_path), name).reason for name in ("pipe.py", "socket.py")} == {Reason.SPECIAL}


def test_devices_are_left_out(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "zero.py", 0o666 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("making a device needs more rights")
    assert refusal(source(tmp_path), "zero.py").reason is Reason.SPECIAL


def test_a_name_that_is_not_utf8_is_left_out_and_can_be_printed(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"bad\xff.py")).touch()
        (tmp_path / os.fsdecode(b"folder\xff")).mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    items = decisions(source(tmp_path))
    assert {path: item.reason for path, item in items.items() if isinstance(item, Verdict)} == {
        "bad\\udcff.py": Reason.BAD_NAME,
        "folder\\udcff/": Reason.BAD_NAME,
    }


def test_a_folder_that_cannot_be_read_is_said_and_the_walk_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"a.py": "", "locked/b.py": "", "z.py": ""})
    refuse_to_open(monkeypatch, "locked", errno.EACCES)
    project = source(tmp_path)
    assert visible_files(project) == ["a.py", "z.py"]
    verdict = refusal(project, "locked/")
    assert (verdict.reason, verdict.detail) == (Reason.UNREADABLE, "Permission denied")
    assert project.verdict("locked/b.py").reason is Reason.UNREADABLE


def test_a_folder_that_vanishes_during_the_walk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"gone/b.py": "", "z.py": ""})
    refuse_to_open(monkeypatch, "gone", errno.ENOENT)
    assert refusal(source(tmp_path), "gone/").reason is Reason.VANISHED


def refuse_to_open(monkeypatch: pytest.MonkeyPatch, refused_name: str, number: int) -> None:
    """Make the system refuse one folder; tests may run as a user with access to everything."""
    enter = OpenFolders.enter

    def refusing(self: OpenFolders, name: str) -> None:
        if name == refused_name:
            raise OSError(number, os.strerror(number))
        enter(self, name)

    monkeypatch.setattr(OpenFolders, "enter", refusing)


def test_a_root_that_is_gone_is_no_empty_project(tmp_path: Path) -> None:
    write_tree(tmp_path, {"root/a.py": ""})
    project = source(tmp_path / "root")
    (item,) = project.entries()
    assert isinstance(item, Entry)
    (tmp_path / "root").rename(tmp_path / "away")
    for ask in (
        lambda: list(project.entries()),
        lambda: project.entry("a.py"),
        lambda: project.verdict("a.py"),
        lambda: project.read(item),
    ):
        with pytest.raises(Failed, match=r"root cannot be read \(No such file or directory\)"):
            ask()


def test_a_root_that_cannot_be_listed_is_no_empty_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"a.py": ""})

    def refusing(*args: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("dowse.sources.open_folders.os.scandir", refusing)
    with pytest.raises(Failed, match=r"cannot be read \(Input/output error\)"):
        list(source(tmp_path).entries())


def test_a_file_in_a_folder_that_may_not_be_opened_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"locked/deep/b.py": ""})
    system_open = os.open

    def refusing(path: str, *args: int, **more: int) -> int:
        if os.fspath(path) == "locked":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return system_open(path, *args, **more)

    monkeypatch.setattr("os.open", refusing)
    monkeypatch.setattr("os.supports_dir_fd", {*os.supports_dir_fd, refusing})
    project = source(tmp_path)
    for path in ("locked/deep/b.py", "locked/none", "locked"):
        assert project.verdict(path).reason is Reason.UNREADABLE
        answer = project.entry(path)
        assert isinstance(answer, Verdict)
        assert answer.reason is Reason.UNREADABLE


def test_a_walk_that_is_given_up_leaves_nothing_open(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{name}/deep/x.py": "" for name in "abc"})
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(20):
        next(source(tmp_path).entries())
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    assert after <= before + 1


def test_one_folder_can_be_walked_alone(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {".gitignore": "*.gen\n", "src/a.py": "", "src/b.gen": "", "src/deep/c.py": "", "other/d.py": ""}
    )
    items = [(item.path, type(item)) for item in source(tmp_path).entries("src")]
    assert items == [("src/a.py", Entry), ("src/b.gen", Verdict), ("src/deep/c.py", Entry)]


def test_a_folder_that_is_left_out_cannot_be_walked_alone_either(tmp_path: Path) -> None:
    write_tree(tmp_path, {"node_modules/x/a.js": ""})
    assert [item.reason for item in source(tmp_path).entries("node_modules/x") if isinstance(item, Verdict)] == [
        Reason.DENIED
    ]
