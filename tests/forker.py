"""The program of the process that has every module loaded and forks for each command; `tests/forking.py` starts it.

On Linux it makes them with `CLONE_PARENT`, so they are children of the test, which waits for them and kills them as if
it had started them with a new interpreter. The programs that a command starts itself, such as parser processes, are made
in the same way: each command has a process beside it, forked before any of its threads, that forks for it.
"""

import atexit
import ctypes
import functools
import gc
import importlib
import inspect
import json
import os
import pkgutil
import platform
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

FRESH = "FRESH"
"""The environment variable that asks for new interpreters."""
WITH_CONSTANTS = [
    sys.executable,
    "-P",
    "-c",
    r"""
import importlib, json, runpy, sys
for name, value in json.loads(sys.argv.pop(1)).items():
    module, _, constant = name.rpartition(".")
    setattr(importlib.import_module(module), constant, value)
runpy.run_module("dowse", run_name="__main__", alter_sys=True)
""",
]
"""The command line of `dowse`, with other values for constants as its first argument."""
_READ_AT_THE_START = ("PYTHON", "LC_", "LD_", "DYLD_")
"""Variables that are read before any module is loaded; a program for which one is set gets a new interpreter."""
_ENVIRONMENT = dict(os.environ)
_WAYS_TO_START = ([sys.executable, "-P", "-m"], [sys.executable, "-m"])
_PROGRAM = str(Path(sys.executable).with_name("dowse"))
_OWN_PACKAGES = ("dowse", "bench")
_STARTS_NOTHING = "dowse.parsing.parser_worker"
_CLONE = {"aarch64": 220, "x86_64": 56}.get(platform.machine()) if sys.platform == "linux" else None
_CLONE_PARENT = 0x8000
_HELPER = "tests.forker"
"""The command line of the process beside a command."""
PADDING = " " * 1000
"""An argument that leaves room for the command lines of the programs."""

Streams = list[int]
Send = Callable[[list[int]], None]

if sys.platform != "win32":
    import resource

    _LIMITS = [number for name, number in vars(resource).items() if name.startswith("RLIMIT_")]
    _USER = os.getuid(), os.geteuid(), os.getgid()


def can_fork(environment: Mapping[str, str]) -> bool:
    """Tell whether a program needs no interpreter of its own to see its environment."""
    if environment.get(FRESH) or not hasattr(os, "fork"):
        return False
    special = {name for name in environment if name.startswith(_READ_AT_THE_START)}
    return all(environment[name] == _ENVIRONMENT.get(name) for name in special)


def is_helper(process: int) -> bool:
    """Tell whether a child of a command is the process beside it, which forks for it, and no program of its own."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[0] == _HELPER.encode()
    except OSError:
        return False


def fork_programs(send: Send) -> Callable[[], None]:
    """Let a process that forks start the programs of the package that `subprocess` starts; return what ends that.

    `send` hands the descriptors of a channel and of three streams to that process, which makes children of ours.
    """
    if _CLONE is None:
        return lambda: None
    start_anew: Callable[..., None] = vars(subprocess.Popen)["_execute_child"]
    names = list(inspect.signature(start_anew).parameters)[1:]

    def start(process: Any, *values: Any) -> None:
        asked = dict(zip(names, values, strict=True))
        if not _is_own_program(asked):
            start_anew(process, *values)
            return
        streams = [
            asked[name] if asked[name] != -1 else n for n, name in enumerate(("p2cread", "c2pwrite", "errwrite"))
        ]
        process.pid = _send_program(asked, streams, send)
        process._child_created = True
        process._close_pipe_fds(
            *(asked[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite"))
        )

    setattr(subprocess.Popen, "_execute_child", start)  # noqa: B010 - mypy knows nothing of it
    return lambda: setattr(subprocess.Popen, "_execute_child", start_anew)


def _is_own_program(asked: dict[str, Any]) -> bool:
    is_ours = isinstance(asked["args"], list | tuple) and _module_of(asked["args"]) is not None
    is_plain = not asked["pass_fds"] and asked["preexec_fn"] is None and not asked["shell"]
    is_same_user = (os.getuid(), os.geteuid(), os.getgid()) == _USER and asked["uid"] is asked["gid"] is None
    return is_ours and is_plain and is_same_user and can_fork(os.environ) and can_fork(asked["env"] or os.environ)


def _module_of(words: Sequence[Any]) -> tuple[str, list[str]] | None:
    """Return the module of our own that a command line runs, and its arguments; None for other programs."""
    if words and words[0] == _PROGRAM:
        return "dowse", list(words[1:])
    if words[:4] == WITH_CONSTANTS:
        return "dowse", list(words[5:])
    for way in _WAYS_TO_START:
        module, *arguments = words[len(way) :] or [""]
        if list(words[: len(way)]) == way and str(module).split(".")[0] in _OWN_PACKAGES:
            return module, arguments
    return None


def _send_program(asked: dict[str, Any], streams: Streams, send: Send) -> int:
    """Ask for a program; return its process id."""
    fields = {
        "words": list(map(os.fsdecode, asked["args"])),
        "environment": dict(asked["env"] or os.environ),
        "cwd": os.fsdecode(asked["cwd"] or os.getcwd()),
        "has_own_session": asked["start_new_session"],
        "limits": [(number, *resource.getrlimit(number)) for number in _LIMITS],
        "niceness": os.nice(0),
    }
    line = json.dumps(fields) + "\n"  # before anything is sent: half a request would end the process that forks
    channel, theirs = socket.socketpair()
    with channel, theirs, channel.makefile("rw", encoding="utf-8") as lines:
        send([theirs.fileno(), *streams])
        theirs.close()
        lines.write(line)
        lines.flush()
        return int(lines.readline())


def _make_child_of_parent() -> int:
    """Fork a process whose parent is the parent of this one; return as `os.fork` does."""
    python = ctypes.PyDLL(None)
    python.PyOS_BeforeFork()
    child = python.syscall(_CLONE, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    (python.PyOS_AfterFork_Parent if child else python.PyOS_AfterFork_Child)()
    return int(child)


def _start_program(channel: socket.socket, streams: Streams) -> None:
    """Start a program as a child of the parent of this process, and tell its process id."""
    with channel, channel.makefile("rw", encoding="utf-8") as lines:
        asked = json.loads(lines.readline())
        child = _make_child_of_parent()
        if not child:
            lines.close()
            channel.close()
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
            for number, soft, hard in asked["limits"]:
                resource.setrlimit(number, (soft, hard))
            os.nice(asked["niceness"] - os.nice(0))
            _run_program(asked, streams)
        lines.write(f"{child}\n")


def _run_program(asked: dict[str, Any], streams: Streams) -> NoReturn:
    _enter(asked, streams)
    os.closerange(3, 1 << 16)
    words, found = asked["words"], _module_of(asked["words"])
    assert found is not None
    module, arguments = found
    if module != _STARTS_NOTHING:
        fork_programs(_keep_forking())
    if words[:4] == WITH_CONSTANTS:
        for name, value in json.loads(words[4]).items():
            owner, _, constant = name.rpartition(".")
            setattr(importlib.import_module(owner), constant, value)
        words = [_PROGRAM, *arguments]
    _show_command_line(words)
    if words[1:2] == ["-m"]:
        sys.path.insert(0, asked["cwd"])
    if module != "dowse":
        from dowse.parsing import parser_limits

        parser_limits.KEPT_BYTES += parser_limits.kept_bytes()  # the modules that a new interpreter would not have
        sys.modules.pop(module, None)  # it runs once more, as the main module
    _run_module(module, arguments)


def _show_command_line(words: list[str]) -> None:
    """Write a command line over that of this process, where other processes read it."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    line = b"\0".join(map(os.fsencode, words))[: end - start - 1]
    ctypes.memmove(start, line.ljust(end - start, b"\0"), end - start)


def _enter(asked: dict[str, Any], streams: Streams) -> None:
    """Take over the streams, the environment and the folder of a program."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in set(streams) - {0, 1, 2}:
        os.close(stream)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(  # type: ignore[misc]  # noqa: SIM115
        2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1
    )
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    os.chdir(asked["cwd"])
    if asked["has_own_session"]:
        os.setsid()


def _run_module(module: str, arguments: list[str]) -> NoReturn:
    sys.argv = ["dowse", *arguments]
    code: Any = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as error:
        code = error.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def _keep_forking() -> Send:
    """Fork a process that starts programs for this one as long as this one lives; return how to ask it."""
    ours, theirs = socket.socketpair()
    if not os.fork():
        ours.close()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        os.closerange(3, theirs.fileno())
        os.closerange(theirs.fileno() + 1, 1 << 16)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _show_command_line([_HELPER])
        _start_programs(theirs)
        os._exit(0)
    theirs.close()
    return lambda descriptors: send(ours, descriptors)


def send(requests: socket.socket, descriptors: list[int]) -> None:
    """Hand the channel and the streams of a program to the process that forks."""
    socket.send_fds(requests, [b"p"], descriptors)


def _start_programs(requests: socket.socket) -> None:
    """Start every program that is asked for, until nobody can ask any more."""
    while (received := socket.recv_fds(requests, 1, 4))[0]:
        _start_program(socket.socket(fileno=received[1][0]), received[1][1:])
        for descriptor in received[1][1:]:
            os.close(descriptor)


def _load() -> None:
    """Load every module of the package."""
    package = importlib.import_module("dowse")
    for module in pkgutil.walk_packages(package.__path__, "dowse."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    _read_tables()


def _read_tables() -> None:
    """Read the data files of the package, which takes a third of the processor time of a small command."""
    from dowse.parsing.grammars import find_bundle  # depends on the environment

    for name, module in list(sys.modules.items()):
        for value in list(vars(module).values()) if name.startswith("dowse.") else ():
            is_own = isinstance(value, functools._lru_cache_wrapper) and value.__module__ == name
            if is_own and not inspect.signature(value).parameters and value is not find_bundle:
                value()


def _save_coverage() -> None:
    """Save what `make coverage` has measured so far: each process that is forked would save it once more."""
    if (coverage := sys.modules.get("coverage")) and (current := coverage.Coverage.current()):
        current.save()


def main(requests: socket.socket) -> None:
    """Fork for every program that is asked for."""
    _load()
    _save_coverage()
    gc.collect()
    gc.freeze()
    _start_programs(requests)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
