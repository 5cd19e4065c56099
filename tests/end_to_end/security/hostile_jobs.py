"""What a parser process tries once a file has taken it over: each attempt returns if it succeeds."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "mount": 165, "unshare": 272, "setns": 308,
        "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "keyctl": 250, "open_by_handle_at": 304, "execveat": 322,
    },
    "aarch64": {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "mount": 40, "unshare": 97, "setns": 268,
        "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "keyctl": 219, "open_by_handle_at": 265, "execveat": 281,
    },
}  # fmt: skip


def call(name: str | int, *arguments: Any) -> None:
    """Call the system; raise OSError if it refuses with EPERM, and return if it looks at the arguments at all."""
    number = NUMBERS[os.uname().machine][name] if isinstance(name, str) else name
    if libc.syscall(number, *arguments) < 0 and ctypes.get_errno() == 1:
        raise PermissionError(1, "refused")


def in_child(action: Callable[[], object]) -> None:
    """Do something in a child process; raise PermissionError if it fails there."""
    if (child := os.fork()) == 0:
        try:
            action()
        except BaseException:
            os._exit(1)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise PermissionError(1, "refused in the child")


def attempts(place: Path) -> dict[str, Callable[[], object]]:
    """Return what is tried; the place has a file `secret.txt` and is writable for the user."""
    secret, parent = place / "secret.txt", os.getppid()
    tcp, udp, unix, netlink = socket.AF_INET, socket.SOCK_DGRAM, socket.AF_UNIX, 16
    found: dict[str, Callable[[], object]] = {
        "read passwd": Path("/etc/passwd").read_bytes,
        "read a project": secret.read_bytes,
        "read through /proc/self/root": Path(f"/proc/self/root{secret}").read_bytes,
        "read through dots": Path(f"/usr/lib/../..{secret}").read_bytes,
        "read the home": lambda: os.listdir(Path.home()),
        "list the root": lambda: os.listdir("/"),
        "list the project": lambda: os.listdir(place),
        "read the parent's environment": Path(f"/proc/{parent}/environ").read_bytes,
        "read the parent's memory": lambda: os.open(f"/proc/{parent}/mem", os.O_RDONLY),
        "read the first process": Path("/proc/1/cmdline").read_bytes,
        "read the kernel's memory": lambda: os.open("/dev/kmem", os.O_RDONLY),
        "read the terminal": lambda: os.open("/dev/tty", os.O_RDONLY),
        "write a file": lambda: (place / "new").write_bytes(b"x"),
        "write a temporary file": lambda: Path("/tmp/dowse-escaped").write_bytes(b"x"),
        "write shared memory": lambda: Path("/dev/shm/dowse-escaped").write_bytes(b"x"),
        "write the package": lambda: os.open(sys.modules["dowse"].__file__ or "", os.O_WRONLY),
        "write the grammars": lambda: (Path(os.environ["DOWSE_HOME"]) / "grammars" / "x").write_bytes(b"x"),
        "write the index": lambda: (Path(os.environ["DOWSE_HOME"]) / "x").write_bytes(b"x"),
        "append": lambda: os.open(secret, os.O_WRONLY | os.O_APPEND),
        "truncate": lambda: os.truncate(secret, 0),
        "delete": secret.unlink,
        "rename": lambda: secret.rename(place / "other"),
        "make a folder": (place / "folder").mkdir,
        "make a link": lambda: (place / "link").symlink_to(secret),
        "make a hard link": lambda: os.link(secret, place / "hard"),
        "make a pipe": lambda: os.mkfifo(place / "pipe"),
        "change the mode": lambda: secret.chmod(0o777),
        "change the owner": lambda: os.chown(secret, os.getuid(), os.getgid()),
        "change the time": lambda: os.utime(secret, (1, 1)),
        "set an attribute": lambda: os.setxattr(secret, "user.x", b"1"),
        "tcp": lambda: socket.socket(tcp),
        "udp": lambda: socket.socket(tcp, udp),
        "unix socket": lambda: socket.socket(unix),
        "netlink": lambda: socket.socket(netlink, socket.SOCK_RAW),
        "socket pair": socket.socketpair,
        "start a program": lambda: subprocess.run(["/bin/true"], check=True),
        "start a shell": lambda: in_child(lambda: os.execv("/bin/sh", ["sh", "-c", "true"])),
        "spawn": lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0),
        "replace itself": lambda: os.execv(sys.executable, [sys.executable, "-V"]),
        "run a file in memory": lambda: call("execveat", os.memfd_create("x"), b"", None, None, 0x1000),
        "copy a program and run it": lambda: shutil.copy("/bin/true", place / "true"),
        "signal the parent": lambda: os.kill(parent, 0),
        "end the parent": lambda: in_child(lambda: os.kill(parent, signal.SIGTERM)),
        "read in a child": lambda: in_child(secret.read_bytes),
        "open a socket in a child": lambda: in_child(socket.socket),
        "trace the parent": lambda: call("ptrace", 16, parent, None, None),
        "read another's memory": lambda: call("process_vm_readv", parent, None, 0, None, 0, 0),
        "write another's memory": lambda: call("process_vm_writev", parent, None, 0, None, 0, 0),
        "mount": lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
        "a new namespace": lambda: call("unshare", 0x10000000),
        "another's namespace": lambda: call("setns", 0, 0),
        "open by handle": lambda: call("open_by_handle_at", -100, None, 0),
        "load a filter": lambda: call("bpf", 0, None, 0),
        "measure": lambda: call("perf_event_open", None, 0, 0, -1, 0),
        "faults": lambda: call("userfaultfd", 0),
        "keys": lambda: call("keyctl", 0, -3, 0),
        "io_uring": lambda: call(425, 8, None),
    }
    return found


def prepare(fields: dict[str, Any]) -> None:
    """Load nothing."""


def run_job(fields: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Try one thing, or list what can be tried."""
    tried = attempts(Path(fields["place"]))
    if fields["job"] == "list":
        return {"names": list(tried)}, b""
    try:
        tried[fields["job"]]()
    except OSError as error:
        return {"refused": str(error)}, data
    return {"refused": ""}, data
