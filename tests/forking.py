"""A process that has every module loaded and forks for each command: on Linux a server starts in 0.1 s instead of 1.2 s.

The commands are processes of their own, with their own streams, environment and signals, and children of the test. With
FRESH=1 in the environment every command gets a new interpreter instead; both ways have to pass the same tests.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from typing import Any, cast

from tests import forker

PATIENCE_SECONDS = 60
Process = subprocess.Popen[bytes]


class _Forker:
    """The process that forks, which starts with the first command."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._requests: socket.socket | None = None
        self._lock = threading.Lock()

    def send(self, descriptors: list[int]) -> None:
        """Hand over the channel and the streams of a program."""
        with self._lock:
            if self._requests is None:
                self._start()
            assert self._requests is not None
            forker.send(self._requests, descriptors)

    def stop(self) -> None:
        """End the process; commands that run go on."""
        with self._lock:
            if self._requests is not None and self._process is not None:
                self._requests.close()
                self._process.wait()
                self._requests = self._process = None

    def _start(self) -> None:
        self._requests, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryDirectory() as home:
            self._process = subprocess.Popen(
                [sys.executable, "-P", forker.__file__, str(theirs.fileno()), forker.PADDING],
                stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                env={**os.environ, "HOME": home, "DOWSE_HOME": home, "OPENBLAS_NUM_THREADS": "1"},
            )  # fmt: skip


_FORKER = _Forker()
stop = _FORKER.stop


def start(*arguments: object, constants: Mapping[str, object] | None = None, **how: Any) -> Process:
    """Start `dowse`, with an interpreter of its own where its environment asks for one; `how` is as for `subprocess.Popen`.

    Other values for constants, by their full names, keep a test from waiting for the real ones.
    """
    words = [os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in arguments]
    how = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL) | how
    program = [*forker.WITH_CONSTANTS, json.dumps(dict(constants or {})), *words]
    return cast("Process", subprocess.Popen(program, **how))


def run(*arguments: object, given: bytes = b"", **how: Any) -> tuple[int, bytes, bytes]:
    """Run `dowse` with an input to its end; return its exit code, stdout and stderr. `how` is as for `start`."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin.write(given)
        stdin.seek(0)
        with start(*arguments, stdin=stdin.fileno(), stdout=out.fileno(), stderr=err.fileno(), **how) as command:
            try:
                code = command.wait(PATIENCE_SECONDS)
            except BaseException:
                command.kill()
                raise
        return code, os.pread(out.fileno(), 100_000_000, 0), os.pread(err.fileno(), 100_000_000, 0)


def is_fresh() -> bool:
    """Tell whether every command is to get a new interpreter."""
    return bool(os.environ.get(forker.FRESH))


@contextlib.contextmanager
def forking() -> Iterator[None]:
    """Fork for the programs of the package that this process starts; end the process that forks after its last command."""
    end = forker.fork_programs(_FORKER.send)
    try:
        yield
    finally:
        end()
        stop()
