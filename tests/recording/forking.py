"""A process that has every module loaded and forks for each command, which makes commands five times faster.

With RECORDING_FRESH=1 in the environment every command gets a new interpreter instead; both have to say the same.
"""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.recording.projects import Place, python

_PROGRAM = """
import atexit, gc, importlib, json, os, pathlib, pkgutil, runpy, signal, socket, sys, threading, traceback

try:
    package = importlib.import_module("dowse")
    for module in pkgutil.walk_packages(package.__path__, "dowse."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
except BaseException:
    pathlib.Path(sys.argv[1] + ".failed").write_text(traceback.format_exc(), encoding="utf-8")
    sys.exit(1)
gc.collect()
gc.freeze()


def run(asked):
    for number, (path, flags) in enumerate(zip(asked["streams"], (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY))):
        os.dup2(os.open(path, flags), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["cwd"])
    sys.argv = ["dowse", *asked["arguments"]]
    code = 0
    try:
        runpy.run_module("dowse", run_name="__main__", alter_sys=True)
    except SystemExit as error:
        code = error.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def serve(connection):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    lines = connection.makefile("rw", encoding="utf-8")
    while line := lines.readline():
        child = os.fork()
        if not child:
            run(json.loads(line))
        lines.write(f"{child}\\n")
        lines.flush()
        lines.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\\n")
        lines.flush()
    os._exit(0)


signal.signal(signal.SIGCHLD, signal.SIG_IGN)
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
while True:
    connection, _ = listening.accept()
    if not os.fork():
        try:
            serve(connection)
        finally:
            os._exit(0)
    connection.close()
"""
PATIENCE_SECONDS = 60
FRESH = "RECORDING_FRESH"


@contextmanager
def forking(shared: Path) -> Iterator[None]:
    """Run the process that forks, for all folders of one recording."""
    if os.environ.get(FRESH):
        yield
        return
    process = subprocess.Popen(
        [python(), "-P", "-c", _PROGRAM, str(_socket_in(shared))],
        stdin=subprocess.DEVNULL, env={**Place(shared, shared).environment, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Forked:
    """A connection that runs commands one after the other."""

    def __init__(self, shared: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + PATIENCE_SECONDS
        self._socket.settimeout(PATIENCE_SECONDS)
        while True:
            with suppress(OSError):
                self._socket.connect(str(_socket_in(shared)))
                break
            if (failed := shared / "forking.failed").exists():
                raise ImportError(f"a module cannot be imported:\n{failed.read_text(encoding='utf-8')}")
            assert time.monotonic() < deadline, "the process that forks did not start"
            time.sleep(0.02)
        self._lines = self._socket.makefile("rw", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self._lines.close()
        self._socket.close()

    def run(self, asked: dict[str, Any]) -> int:
        """Run a command and return its exit code."""
        self.start(asked)
        return self.wait()

    def start(self, asked: dict[str, Any]) -> int:
        """Start a command and return the id of its process."""
        self._lines.write(json.dumps(asked) + "\n")
        self._lines.flush()
        return int(self._lines.readline())

    def wait(self) -> int:
        """Wait for the end of the started command and return its exit code."""
        return int(self._lines.readline())


class Fresh:
    """Runs each command in a new interpreter."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        pass

    def run(self, asked: dict[str, Any]) -> int:
        """Run a command and return its exit code."""
        self.start(asked)
        return self.wait()

    def start(self, asked: dict[str, Any]) -> int:
        """Start a command and return the id of its process."""
        given, told, warned = asked["streams"]
        with open(given, "rb") as stdin, open(told, "wb") as stdout, open(warned, "wb") as stderr:
            self._process = subprocess.Popen(
                [python(), "-P", "-m", "dowse", *asked["arguments"]],
                stdin=stdin, stdout=stdout, stderr=stderr, cwd=asked["cwd"], env=asked["environment"],
            )  # fmt: skip
        return self._process.pid

    def wait(self) -> int:
        """Wait for the end of the started command and return its exit code."""
        assert self._process
        return self._process.wait(PATIENCE_SECONDS)


def runner(place: Place) -> Forked | Fresh:
    """Return the way in which commands are run."""
    return Fresh() if os.environ.get(FRESH) else Forked(place.shared)


def _socket_in(shared: Path) -> Path:
    return shared / "forking"
