"""What differs between Linux, macOS and Windows: opening files, locks, durability, signals.

Everything else in the package is written once for all three.
"""

import contextlib
import errno
import os
import platform
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import DiskFull, StoreBusy
from dowse.types import Stat

IS_WINDOWS = sys.platform == "win32"
NAMES_FOLD_CASE = sys.platform in ("win32", "darwin")
"""The usual file system finds `.env` when asked for `.ENV`."""

_FILE_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO swapped in after the check must not hang us
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)


def storage_root() -> Path:
    """Where all indexes live: `DOWSE_HOME`, or `~/.mcp/search`."""
    named = os.environ.get("DOWSE_HOME")
    return Path(named).expanduser().absolute() if named else Path.home() / ".mcp" / "search"


def stat_of(result: os.stat_result) -> Stat:
    """The part of a stat that tells whether a file may have changed."""
    numbers = (result.st_size, result.st_mtime_ns, result.st_ino, result.st_ctime_ns)
    return Stat(*map(_to_signed_64_bits, numbers))


def _to_signed_64_bits(number: int) -> int:
    """A number as 64 bits with a sign hold it: times after 2262 and huge inodes do not fit otherwise."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


@contextlib.contextmanager
def open_beneath(root: Path, relative: str) -> Iterator[int]:
    """Open a regular file below `root` for reading, following no symlink on the way.

    Each folder is opened relative to the one before, so that nothing swapped in between check
    and read can lead outside. Raises OSError: ELOOP or ENOTDIR where a symlink stands, EINVAL
    for what is not a regular file. `root` itself may be reached through symlinks: the user
    named it.
    """
    parts = relative.split("/")
    if not relative or any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise OSError(errno.EINVAL, "not a relative path", relative)
    descriptor = _open_by_parts(root, parts) if os.open in os.supports_dir_fd else _open_checked(root, parts)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", relative)
        yield descriptor
    finally:
        os.close(descriptor)


def _open_by_parts(root: Path, parts: list[str]) -> int:
    folder = os.open(root, _FOLDER_FLAGS & ~getattr(os, "O_NOFOLLOW", 0))
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = below
        _require_regular(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False), parts[-1])
        return os.open(parts[-1], _FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _open_checked(root: Path, parts: list[str]) -> int:
    """Windows has no openat: check every component, open, and check that it is the same file."""
    path = root
    for part in parts:
        path = path / part
        seen = path.lstat()
        if stat.S_ISLNK(seen.st_mode) or getattr(seen, "st_reparse_tag", None):
            raise OSError(errno.ELOOP, "symbolic link", str(path))
    _require_regular(seen, parts[-1])
    descriptor = os.open(path, _FILE_FLAGS)
    opened = os.fstat(descriptor)
    real = os.path.realpath(path)
    if (opened.st_ino, opened.st_dev) != (seen.st_ino, seen.st_dev) or not _is_below(real, os.path.realpath(root)):
        os.close(descriptor)
        raise OSError(errno.ELOOP, "changed while it was opened", str(path))
    return descriptor


def _require_regular(seen: os.stat_result, name: str) -> None:
    if stat.S_ISLNK(seen.st_mode):
        raise OSError(errno.ELOOP, "symbolic link", name)
    if not stat.S_ISREG(seen.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", name)


def _is_below(path: str, root: str) -> bool:
    try:
        return os.path.commonpath([path, root]) == root
    except ValueError:
        return False


def read_at_most(descriptor: int, limit: int) -> bytes:
    """Up to `limit` bytes from an open file."""
    pieces = []
    while limit > 0 and (piece := os.read(descriptor, min(limit, 1 << 20))):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)


def make_private_folder(path: Path) -> None:
    """Make a folder, and its parents, that only the user can enter."""
    missing = [path, *path.parents]
    for folder in reversed([p for p in missing if not p.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file so that a crash leaves the old or the new content, never a part of it."""
    with disk_errors(path):
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable; Windows does so by itself."""
    if IS_WINDOWS:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def disk_errors(where: Path) -> Iterator[None]:
    """Turn "no space" into an error that says so and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"No space left on the disk that holds {where}. Free some space and run the command again; nothing was lost."
            ) from error
        raise


class Lock:
    """An exclusive lock between processes that dies with its owner.

    The lock is on a byte range of an open file, never on the file's existence, so there is no
    stale lock to clean up. The file holds who has it, for the message of whoever waits.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        return self._descriptor is not None

    def owner(self) -> str:
        """Who holds or last held it, as written by them."""
        try:
            return self.path.read_text(encoding="utf-8", errors="replace").strip() or "another process"
        except OSError:
            return "another process"

    def try_acquire(self) -> bool:
        """Take the lock if it is free."""
        if self._descriptor is not None:
            return False
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _lock_descriptor(descriptor)
        except OSError:
            os.close(descriptor)
            return False
        with contextlib.suppress(OSError):  # the note is a courtesy; the lock is held without it
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, f"process {os.getpid()}".encode())
        self._descriptor = descriptor
        return True

    def is_taken(self) -> bool:
        """Whether some process, or this one, holds the lock now; those who ask do not get in each other's way."""
        if self.is_held:
            return True
        try:
            descriptor = os.open(self.path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            return False
        try:
            _lock_descriptor(descriptor, is_shared=True)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def acquire(self, wait_seconds: float) -> None:
        """Take the lock within a bounded time or raise StoreBusy, naming the owner."""
        deadline = time.monotonic() + wait_seconds
        pause = 0.002
        while not self.try_acquire():
            if time.monotonic() >= deadline:
                raise StoreBusy(
                    f"The index is being written by {self.owner()}. Wait for it to finish, or stop it, and try again."
                )
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)

    def release(self) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @contextlib.contextmanager
    def held(self, wait_seconds: float) -> Iterator[None]:
        """Hold the lock for the length of a block."""
        self.acquire(wait_seconds)
        try:
            yield
        finally:
            self.release()


if sys.platform == "win32":
    import msvcrt

    def _lock_descriptor(descriptor: int, *, is_shared: bool = False) -> None:  # noqa: ARG001 - Windows has none
        # A byte far beyond the owner's note, so that the note can be read while it is locked.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock_descriptor(descriptor: int, *, is_shared: bool = False) -> None:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def start_in_background(command: list[str]) -> int:
    """Start a program that goes on when we end, quietly and at low priority; its process id."""
    flags = {"creationflags": 0x00000008 | 0x00000200} if IS_WINDOWS else {"start_new_session": True}
    # Detached on purpose: nobody waits for it, and its handle must not complain about that.
    process = subprocess.Popen(  # noqa: S603 - our own program, no shell
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=True, **flags
    )
    process.returncode = 0
    return process.pid


def lower_priority() -> None:
    """Give way to whatever else runs on the machine."""
    if hasattr(os, "nice"):
        os.nice(5)


POWER_SUPPLIES = Path("/sys/class/power_supply")


def is_on_battery(supplies: Path = POWER_SUPPLIES) -> bool:
    """Whether the machine runs on its battery; no, where nobody can tell."""
    try:
        if sys.platform == "darwin":
            return _mac_is_on_battery()
        return _windows_is_on_battery() if IS_WINDOWS else _linux_is_on_battery(supplies)
    except (OSError, AttributeError):
        return False


def _linux_is_on_battery(supplies: Path) -> bool:
    found = [_read_supply(folder) for folder in supplies.iterdir()]
    if any(supply["type"] != "Battery" and supply["online"] == "1" for supply in found):
        return False
    # The battery of a mouse says `Device`, and empties beside any wall socket.
    return any(
        supply["type"] == "Battery" and supply["scope"] != "Device" and supply["status"] == "Discharging"
        for supply in found
    )


def _read_supply(folder: Path) -> dict[str, str]:
    facts = dict.fromkeys(("type", "online", "scope", "status"), "")
    for name in facts:
        with contextlib.suppress(OSError):
            facts[name] = (folder / name).read_text(encoding="ascii", errors="replace").strip()
    return facts


def _mac_is_on_battery() -> bool:
    import ctypes

    power = ctypes.CDLL("/System/Library/Frameworks/IOKit.framework/IOKit")
    power.IOPSGetTimeRemainingEstimate.restype = ctypes.c_double
    unlimited = -2.0  # what it says at a wall socket
    return bool(power.IOPSGetTimeRemainingEstimate() != unlimited)


def _windows_is_on_battery() -> bool:
    import ctypes

    status = (ctypes.c_ubyte * 12)()  # SYSTEM_POWER_STATUS; its first byte is 0 away from a wall socket
    known = ctypes.windll.kernel32.GetSystemPowerStatus(ctypes.byref(status))  # type: ignore[attr-defined,unused-ignore]
    return bool(known) and status[0] == 0


def is_arm() -> bool:
    """Whether this processor is an ARM."""
    return platform.machine().lower() in ("aarch64", "arm64")


def interrupt_on_terminate() -> None:
    """Let a polite kill end a command the way Ctrl-C does: what is done is kept."""
    if hasattr(signal, "SIGTERM"):
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def release_memory() -> None:
    """Give memory that was used for a moment back to the system, where the C library would keep it (glibc does)."""
    if sys.platform == "linux":
        import ctypes  # here because hardly anybody needs it

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
