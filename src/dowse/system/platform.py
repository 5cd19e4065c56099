"""The differences between Linux, macOS and Windows: opening files, locks, durability, programs in the background.

The rest of the package is the same for all three systems.
"""

import contextlib
import errno
import glob
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import DiskFull, NotWritable, StoreBusy
from dowse.types import Stat

IS_LINUX, IS_MAC, IS_WINDOWS = (sys.platform == name for name in ("linux", "darwin", "win32"))
NAMES_FOLD_CASE = IS_WINDOWS or IS_MAC
"""True where the usual file system ignores the case of names and finds `.env` under `.ENV`."""

_FILE_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO swapped in after the check must not hang us
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)

PRIVATE_MODE, SHARED_MODE = 0o600, 0o666
"""The rights of a new file: the user alone, or all that the umask of the user allows."""
LEFTOVER_SECONDS = 3600.0
"""How long the temporary file of a write is kept that a process left; writing one takes less than a second."""
_MIN_FREE_BYTES = 65_536
"""With less space left a disk counts as full: SQLite needs about half of it to open a database for writing."""


def storage_root() -> Path:
    """Return the folder that holds all indexes: `DOWSE_HOME`, or `~/.mcp/search`."""
    named = os.environ.get("DOWSE_HOME")
    return Path(named).expanduser().absolute() if named else Path.home() / ".mcp" / "search"


def stat_of(result: os.stat_result) -> Stat:
    """Return the part of a stat, made just now, that shows whether a file may have changed."""
    numbers = (result.st_size, result.st_mtime_ns, result.st_ino, result.st_ctime_ns)
    size, mtime_ns, inode, ctime_ns = numbers if max(numbers) < 1 << 63 else map(_to_signed_64_bits, numbers)
    return Stat(size, mtime_ns, inode, ctime_ns, seen_ns=time.time_ns())


def _to_signed_64_bits(number: int) -> int:
    """Wrap a number into 64 signed bits; times after 2262 and very large inodes would not fit otherwise."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


@contextlib.contextmanager
def open_beneath(root: Path, relative: str) -> Iterator[int]:
    """Open a regular file below `root` for reading without following symlinks.

    Each folder is opened relative to its parent, so a symlink that appears between check and read
    cannot lead outside. Raise OSError: ELOOP or ENOTDIR for a symlink, EINVAL for anything that
    is not a regular file. The path of `root` itself may contain symlinks, because the user named it.
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
    """Check every component, open the file, and check that it is the same file. Windows has no openat."""
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
    """Read up to `limit` bytes from an open file."""
    pieces = []
    while limit > 0 and (piece := os.read(descriptor, min(limit, 1 << 20))):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)


def make_private_folder(path: Path) -> None:
    """Create a folder and its missing parents; only the user can enter them."""
    with disk_errors(path):
        for folder in reversed([p for p in (path, *path.parents) if not p.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)


def write_atomically(path: Path, data: bytes, *, is_durable: bool = True, mode: int = PRIVATE_MODE) -> None:
    """Replace a file. After a crash it has either the old or the new content, never a part of it.

    A file that is checked before it is used and can be made again need not be durable: it may be cut short then."""
    with disk_errors(path):
        _remove_leftovers(path)
        temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
                file.write(data)
                file.flush()
                if is_durable:
                    os.fsync(file.fileno())
            temporary.replace(path)  # after it is closed: Windows renames no open file
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        if is_durable:
            sync_folder(path.parent)


def _remove_leftovers(path: Path) -> None:
    """Remove the temporary files that killed processes left beside a file. A younger one may be of a living process."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        with contextlib.suppress(OSError):
            if leftover.stat().st_mtime < time.time() - LEFTOVER_SECONDS:
                leftover.unlink()


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable. Windows does this by itself."""
    if IS_WINDOWS:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def disk_errors(where: Path) -> Iterator[None]:
    """Turn the errors of a system that cannot write into DiskFull or NotWritable."""
    try:
        yield
    except OSError as error:
        if refusal := writing_error(error, where):
            raise refusal from error
        raise


def writing_error(error: OSError, where: Path | None = None) -> NotWritable | None:
    """Return the error that says why something cannot be written; None if the cause may be another one."""
    place = where or Path(error.filename or "this file")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full_error(place)
    if error.errno == errno.EROFS or (where and isinstance(error, PermissionError)):  # else it may have been read
        return _not_writable(place, is_read_only=error.errno == errno.EROFS)
    return None


def refusal_to_write(path: Path) -> NotWritable | None:
    """Return the error that says why nothing can be written to a file or beside it; None if it seems possible."""
    folder = next(folder for folder in path.parents if os.path.exists(folder))  # noqa: PTH110 - Path.exists may raise
    if not os.access(folder, os.W_OK | os.X_OK) or (os.path.exists(path) and not os.access(path, os.W_OK)):  # noqa: PTH110
        is_read_only = hasattr(os, "statvfs") and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
        return _not_writable(path, is_read_only=is_read_only)
    with contextlib.suppress(OSError):
        has_no_inode = hasattr(os, "statvfs") and (usage := os.statvfs(folder)).f_files and not usage.f_favail
        if has_no_inode or shutil.disk_usage(folder).free < _MIN_FREE_BYTES:
            return disk_full_error(path)
    return None


def disk_full_error(where: Path) -> DiskFull:
    """Return the error that names the disk without space."""
    return DiskFull(
        f"No space left on the disk that holds {where}. Free some space and run the command again; nothing was lost."
    )


def _not_writable(where: Path, *, is_read_only: bool) -> NotWritable:
    why = "its file system is read-only" if is_read_only else "permission denied"
    elsewhere = ", or move the storage root with DOWSE_HOME" if where.is_relative_to(storage_root()) else ""
    remedy = f"Make it writable{elsewhere}, and try again; nothing was lost."
    return NotWritable(f"{where} cannot be written: {why}. {remedy}")


class Lock:
    """An exclusive lock between processes, which the system releases when its owner ends.

    The lock is on a byte range of an open file and does not depend on the file's existence, so no
    stale lock can remain. The file names the owner, for the error messages of waiting processes.
    """

    def __init__(self, path: Path, mode: int = PRIVATE_MODE) -> None:
        self.path, self._mode = path, mode
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        return self._descriptor is not None

    def owner(self) -> str:
        """Return the name of the process that holds or last held the lock, as it wrote it."""
        try:
            return self.path.read_text(encoding="utf-8", errors="replace").strip() or "another process"
        except OSError:
            return "another process"

    def try_acquire(self) -> bool:
        """Take the lock if it is free, and return whether it was."""
        if self._descriptor is not None:
            return False
        with disk_errors(self.path.parent):
            descriptor = _open_lock_file(self.path, self._mode)
        try:
            _lock_descriptor(descriptor)
        except OSError as error:
            os.close(descriptor)
            if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):  # waiting would never end
                raise NotWritable(
                    f"Files cannot be locked in {self.path.parent}. Set DOWSE_HOME to a local disk."
                ) from error
            return False
        with contextlib.suppress(OSError):  # the name is for messages only; the lock is held without it
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, f"process {os.getpid()}".encode())
        self._descriptor = descriptor
        return True

    def is_taken(self) -> bool:
        """Return whether any process holds the lock now. Several processes can ask at the same time."""
        if self.is_held:
            return True
        try:
            descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError:  # there is no file that anyone could have locked
            return False
        try:
            _lock_descriptor(descriptor, is_shared=True)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def acquire(self, wait_seconds: float) -> None:
        """Take the lock within `wait_seconds`, or raise StoreBusy with the name of the owner."""
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


def _open_lock_file(path: Path, mode: int) -> int:
    """Open the file of a lock for writing. A folder or a broken link in its place is moved aside: it is nobody's data."""
    with contextlib.suppress(FileNotFoundError):  # there is none yet, or another process has moved it
        if not stat.S_ISREG(os.lstat(path).st_mode) and not path.is_file():
            path.rename(f"{path}.{time.time_ns()}.bak")
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), mode)


if sys.platform == "win32":
    import msvcrt

    def _lock_descriptor(descriptor: int, *, is_shared: bool = False) -> None:  # noqa: ARG001 - Windows has none
        # Lock a byte far beyond the owner's name, so that the name stays readable.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock_descriptor(descriptor: int, *, is_shared: bool = False) -> None:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def start_in_background(command: list[str]) -> int:
    """Start a program that outlives this process, without input and output, and return its process id."""
    from subprocess import DEVNULL, Popen  # here because few commands need it

    flags = {"creationflags": 0x00000008 | 0x00000200} if IS_WINDOWS else {"start_new_session": True}
    # The program is detached and never waited for; a return code keeps Popen from warning about that.
    process = Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, close_fds=True, **flags)  # noqa: S603 - ours
    process.returncode = 0
    return process.pid


def lower_priority() -> None:
    """Lower the priority of this process.

    By 10 steps: with 5, the first answers beside a build took 1.7 to 1.9 instead of 1.5 s on two cores.
    """
    if hasattr(os, "nice"):
        os.nice(10)


def multiplies_eight_bits(processors: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether eight bits are faster than floats: on ARM, and on x86 with VNNI, if the system lists its features."""
    import platform  # only the model needs it

    with contextlib.suppress(OSError):
        if "_vnni" in processors.read_text(encoding="utf-8", errors="replace"):
            return True
    return platform.machine().lower() in ("aarch64", "arm64")


def release_memory(arenas: int = 0) -> None:
    """Return freed memory to the system, which glibc would keep; let threads share so many arenas, if a number is given."""
    if IS_LINUX:
        import ctypes  # here because few commands need it

        with contextlib.suppress(OSError, AttributeError):
            if arenas:  # M_ARENA_MAX of malloc.h
                ctypes.CDLL(None).mallopt(-8, arenas)
            if arenas == 1:
                ctypes.CDLL(None).mallopt(-3, 1 << 17)  # M_MMAP_THRESHOLD: larger blocks are returned at once
            ctypes.CDLL(None).malloc_trim(0)
