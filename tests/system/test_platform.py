"""Locks that end with their owner, atomic writes, and opening without following links."""

import errno
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

from dowse.errors import DiskFull, NotWritable, StoreBusy
from dowse.system import platform
from dowse.system.platform import Lock, make_private_folder, open_beneath, read_at_most, storage_root, write_atomically

HOLD = """
import sys, time
from pathlib import Path
from dowse.system.platform import Lock
lock = Lock(Path(sys.argv[1]))
assert lock.try_acquire()
print("held", flush=True)
time.sleep(60)
"""


def test_a_lock_is_exclusive_and_names_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, file], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        lock = Lock(file)
        assert not lock.try_acquire()
        assert lock.is_taken()
        with pytest.raises(StoreBusy, match=f"process {holder.pid}"):
            lock.acquire(0.05)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    lock.acquire(5.0)
    assert lock.is_held
    assert not Lock(file).try_acquire()
    lock.release()
    assert not lock.is_taken()


def test_a_write_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "state.json"
    write_atomically(file, b"old")

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "broken disk")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os if name == "fsync" else Path, name, fail)
            with pytest.raises(OSError, match="broken disk"):
                write_atomically(file, b"new")
        assert file.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["state.json"]
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new"


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull, match="Free some space"):
        write_atomically(tmp_path / "x", b"y")


@pytest.mark.parametrize(
    ("number", "why"), [(errno.EROFS, "its file system is read-only"), (errno.EACCES, "permission denied")]
)
def test_a_folder_that_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, why: str
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    lock = Lock(tmp_path / "lock")
    assert lock.try_acquire()
    lock.release()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(NotWritable, match=f"{tmp_path} cannot be written: {why}. Make it writable, and try again"):
            lock.try_acquire()
        with pytest.raises(NotWritable, match=why):
            write_atomically(tmp_path / "x", b"y")
    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", refuse)
        with pytest.raises(NotWritable, match=why):
            make_private_folder(tmp_path / "a")


def test_a_write_removes_what_a_killed_one_left_and_nothing_of_a_living_one(tmp_path: Path) -> None:
    file, killed, living, other = (
        tmp_path / name for name in ("state.json", ".state.json.1.tmp", ".state.json.2.tmp", ".other.json.3.tmp")
    )
    for temporary in (killed, living, other):
        temporary.write_bytes(b"half")
    for temporary in (killed, other):
        os.utime(temporary, (time.time() - 2 * platform.LEFTOVER_SECONDS,) * 2)
    write_atomically(file, b"new")
    assert set(tmp_path.iterdir()) == {file, living, other}


def test_folders_of_ours_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    make_private_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_the_storage_root_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path))
    assert storage_root() == tmp_path
    monkeypatch.delenv("DOWSE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert storage_root() == tmp_path / ".mcp" / "search"


def read(root: Path, path: str) -> bytes:
    with open_beneath(root, path) as descriptor:
        return read_at_most(descriptor, 1000)


def test_a_file_below_the_root_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_bytes(b"content")
    assert read(tmp_path, "a/b.txt") == b"content"
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert read(tmp_path / "link", "b.txt") == b"content", "the root itself may be a link: the user named it"


@pytest.mark.parametrize("path", ["", ".", "..", "../x", "a/../b.txt", "/etc/passwd", "a//b.txt", "a/./b.txt", "b\0c"])
def test_a_path_that_is_not_plainly_below_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "b.txt").write_bytes(b"x")
    with pytest.raises(OSError, match="not a relative path"):
        read(tmp_path, path)


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (root / "real" / "file").write_bytes(b"fine")
    (root / "file").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(root / "real")
    for path in ("file", "folder/file"):
        with pytest.raises(OSError):  # noqa: PT011 - ELOOP or ENOTDIR, as the system likes
            read(root, path)


@pytest.mark.parametrize("path", ["pipe", "folder"])
def test_what_is_not_a_regular_file_is_not_opened(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        read(tmp_path, path)


def test_without_openat_every_component_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    (tmp_path / "secret").write_bytes(b"secret")
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (root / "real" / "file").write_bytes(b"fine")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(root / "real")
    assert read(root, "real/file") == b"fine"
    for path in ("link", "folder/file"):
        with pytest.raises(OSError, match="symbolic link"):
            read(root, path)
    assert (sys.platform in ("win32", "darwin")) == platform.NAMES_FOLD_CASE


class FakeLocks:
    """The locks of Windows: on a byte at the position of a descriptor. The real ones were not seen."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.held: dict[tuple[int, int], int] = {}

    def locking(self, descriptor: int, _mode: int, _count: int) -> None:
        place = os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR)
        holder = self.held.get(place)
        if holder is not None and holder != descriptor and _is_open(holder):
            raise OSError(errno.EACCES, "Permission denied")
        self.held[place] = descriptor


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module as Windows loads it."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", cast("ModuleType", FakeLocks()))
    spec = importlib.util.spec_from_file_location("platform_of_windows", platform.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_lock_of_windows_is_exclusive_and_its_owner_can_be_read(windows: ModuleType, tmp_path: Path) -> None:
    one, other = windows.Lock(tmp_path / "lock"), windows.Lock(tmp_path / "lock")
    assert one.try_acquire()
    assert not other.try_acquire()
    assert other.owner() == f"process {os.getpid()}"
    one.release()
    assert other.try_acquire()
    other.release()
    assert windows.NAMES_FOLD_CASE


def test_a_program_in_the_background_has_no_console_on_windows(
    windows: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, object] = {}

    class Started:
        pid, returncode = 7, None

        def __init__(self, _command: list[str], **options: object) -> None:
            asked.update(options)

    monkeypatch.setattr(subprocess, "Popen", Started)
    assert windows.start_in_background(["dowse"]) == 7
    assert asked["creationflags"] == 0x208
    assert "start_new_session" not in asked


@pytest.mark.parametrize(
    ("machine", "features", "expected"),
    [
        ("aarch64", "Features : fp asimd", True),
        ("x86_64", "flags : sse2 avx2 avx512_vnni", True),
        ("x86_64", "flags : sse2 avx2 avx_vnni", True),
        ("x86_64", "flags : sse2 avx2 avx512_4vnniw", False),
        ("AMD64", None, False),
    ],
)
def test_eight_bits_are_chosen_where_the_processor_multiplies_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str, features: str | None, expected: bool
) -> None:
    """Not seen on Windows and macOS, which have no such list: their x86 processors compute in floats."""
    monkeypatch.setattr("platform.machine", lambda: machine)
    listed = tmp_path / "cpuinfo"
    if features is not None:
        listed.write_text(features)
    assert platform.multiplies_eight_bits(listed) is expected
