"""A cage for processes that read strangers' bytes: they may read what they need, and write, connect and start nothing.

On Linux it is made of Landlock and a seccomp filter. Elsewhere there is none, and `sandbox_support` says so.
The module imports nothing of dowse: as a program, `sandbox.py READABLE… -- WRITABLE… -- COMMAND…`, it runs a command
in such a cage.
"""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from functools import cache

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""The system calls of Landlock, which have the same numbers on all processors."""
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_READ = _READ_FILE | _READ_DIR
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
"""The rights that a single file can have."""
_FIRST_RIGHTS = (1 << 13) - 1
_RIGHTS_ADDED = {2: 1 << 13, 3: _TRUNCATE, 5: _IOCTL}
"""The rights that later versions of Landlock know."""
_NETWORK_VERSION, _SCOPE_VERSION = 4, 6
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
"""Let a system call happen, or answer EPERM."""


_PROCESSORS = {
    "x86_64": (
        0xC000003E,
        (59, 322),
        (41, 53, 42, 49, 44, 46, 62, 101, 310, 311, 304, 321, 298, 323, 250, 248, 249, 272, 308, 165),
        (90, 91, 268, 92, 93, 94, 260, 132, 235, 261, 280, 188, 189, 190),
    ),
    "aarch64": (
        0xC00000B7,
        (221, 281),
        (198, 199, 203, 200, 206, 211, 129, 117, 270, 271, 265, 280, 241, 282, 219, 217, 218, 97, 268, 40),
        (52, 53, 54, 55, 88, 5, 6, 7),
    ),
}
"""For each processor its number, and the numbers of system calls:

- execve, execveat;
- socket, socketpair, connect, bind, sendto, sendmsg, kill, ptrace, process_vm_readv, process_vm_writev,
  open_by_handle_at, bpf, perf_event_open, userfaultfd, keyctl, add_key, request_key, unshare, setns, mount;
- the family of chmod, chown, utime and setxattr, which Landlock does not know.
"""
_EVERYWHERE = (425, 426, 427, 452)
"""io_uring, which could do what the filter refuses, and fchmodat2."""


class SandboxSupport:
    """The parts of a sandbox that this system has."""

    def __init__(self, files: int, *, calls: bool) -> None:
        self.files = files
        """The version of Landlock; 0 if there is none."""
        self.calls = calls
        """Whether system calls are filtered."""

    def text(self) -> str:
        """Say in words what holds."""
        files = "read only what they need and write nothing" if self.files else "can read and write what you can"
        calls = "connect to nothing" if self.calls or self.files >= _NETWORK_VERSION else "can use the network"
        return f"Processes that read files of strangers {files}, and {calls}."


@cache
def sandbox_support() -> SandboxSupport:
    """Return what the system offers."""
    if not sys.platform.startswith("linux"):
        return SandboxSupport(0, calls=False)
    version = _library().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return SandboxSupport(max(0, version), calls=os.uname().machine in _PROCESSORS)


def interpreter_folders() -> list[str]:
    """Return the folders that Python needs to import modules, and the files of the system that libraries read."""
    libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store", "/etc/ld.so.cache"]
    devices = ["/dev/urandom", "/proc/self", "/proc/cpuinfo", "/sys/devices/system/cpu"]
    return [*filter(os.path.isabs, sys.path), __file__.rpartition("/dowse/")[0], *libraries, *devices]


def restrict_process(readable: Iterable[str], writable: Iterable[str] = (), *, may_execute: bool = False) -> bool:
    """Take all rights from this process but reading some places and writing others; return whether that holds.

    Only the calling thread and what it starts are restricted, so this comes before any other thread.
    """
    support = sandbox_support()
    if not support.files:
        return False
    library = _library()
    if library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return False
    return _restrict_files(support.files, readable, writable, may_execute=may_execute) and (
        not support.calls or _filter_calls(may_execute=may_execute)
    )


def _restrict_files(version: int, readable: Iterable[str], writable: Iterable[str], *, may_execute: bool) -> bool:
    library = _library()
    rights = _FIRST_RIGHTS | sum(bit for since, bit in _RIGHTS_ADDED.items() if version >= since)
    network = 0b11 if version >= _NETWORK_VERSION else 0
    scopes = 0b11 if version >= _SCOPE_VERSION else 0
    words = [rights, *([network] if network else ()), *([scopes] if scopes else ())]
    attributes = struct.pack(f"={len(words)}Q", *words)
    rules = library.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    if rules < 0:
        return False
    try:
        reading = _READ | (_EXECUTE if may_execute else 0)
        for path, wanted in [
            *((path, reading) for path in readable),
            *((path, rights & ~_EXECUTE) for path in writable),
        ]:
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:  # a place that is not there needs no rule
                continue
            try:
                allowed = wanted if stat.S_ISDIR(os.fstat(place).st_mode) else wanted & _OF_FILES
                rule = struct.pack("=Qi", allowed & rights, place)
                library.syscall(_ADD_RULE, rules, 1, rule, ctypes.c_uint32(0))
            finally:
                os.close(place)
        return bool(library.syscall(_RESTRICT_SELF, rules, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(rules)


def _filter_calls(*, may_execute: bool) -> bool:
    audit, execute, refused, marks = _PROCESSORS[os.uname().machine]
    numbers = [*refused, *marks, *_EVERYWHERE, *(() if may_execute else execute)]
    # Load the processor, refuse another one; load the number, refuse those of another table, and each of the list.
    refuse_at = 5 + len(numbers)
    steps = [(0x20, 0, 0, 4), (0x15, 0, refuse_at - 2, audit), (0x20, 0, 0, 0)]
    steps.append((0x35, refuse_at - 4, 0, 0x40000000))
    steps += [(0x15, refuse_at - 5 - at, 0, number) for at, number in enumerate(numbers)]
    steps += [(0x06, 0, 0, _ALLOW), (0x06, 0, 0, _REFUSE)]
    program = b"".join(struct.pack("=HBBI", *step) for step in steps)
    kept = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HL", len(steps), ctypes.addressof(kept))
    return bool(_library().prctl(_SET_SECCOMP, _FILTER, header, 0, 0) == 0)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def caged(command: Sequence[str], readable: Iterable[str], writable: Iterable[str]) -> list[str]:
    """Return a command line that runs a command in a cage; the command itself where there is none."""
    if not sandbox_support().files:
        return list(command)
    return [sys.executable, "-I", "-S", __file__, *readable, "--", *writable, "--", *command]


def main(arguments: Sequence[str]) -> None:
    """Run the command of a command line in a cage."""
    first = arguments.index("--")
    second = arguments.index("--", first + 1)
    command = arguments[second + 1 :]
    system = ["/usr", "/lib", "/lib64", "/bin", "/nix/store", "/opt", "/etc/ld.so.cache", "/proc/self"]
    system.append(os.path.realpath(command[0]).rsplit("/", 2)[0])
    restrict_process([*arguments[:first], *system], [*arguments[first + 1 : second], os.devnull], may_execute=True)
    os.execv(command[0], list(command))  # noqa: S606 - no shell


if __name__ == "__main__":
    main(sys.argv[1:])
