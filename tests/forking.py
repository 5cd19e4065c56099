"""A process that has every module loaded and forks for each command: a server starts in 0.1 s instead of 1.2 s.

The commands are processes of their own, with their own streams, environment and signals. With FRESH=1 in the
environment every command gets a new interpreter instead; both ways have to pass the same tests.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import IO, Any, Self, cast

from tests import forker

_WITH_CONSTANTS = r"""
import importlib, json, runpy, sys
for name, value in json.loads(sys.argv.pop(1)).items():
    module, _, constant = name.rpartition(".")
    setattr(importlib.import_module(module), constant, value)
runpy.run_module("dowse", run_name="__main__", alter_sys=True)
"""
PATIENCE_SECONDS = 60


class _Forker:
    """The process that forks, which starts with the first command."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._lock = threading.Lock()

    def send(self, kind: bytes, descriptors: list[int]) -> None:
        """Hand over the channel and the streams of a command or of a program that a command would start."""
        with self._lock:
            if self._requests is None:
                self._start()
            assert self._requests is not None
            socket.send_fds(self._requests, [kind], descriptors)

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


class Forked:
    """A command of the program in a process of its own; it is used like `subprocess.Popen`."""

    def __init__(
        self,
        arguments: list[str],
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.DEVNULL,
        stderr: int = subprocess.DEVNULL,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        constants: Mapping[str, object] | None = None,
        start_new_session: bool = False,
    ) -> None:
        self.args = ["dowse", *arguments]
        self.returncode: int | None = None
        self._channel, theirs = socket.socketpair()
        self._lines = self._channel.makefile("rw", encoding="utf-8")
        with theirs, contextlib.ExitStack() as ends:
            self.stdin, given = _end(stdin, ends, is_input=True)
            self.stdout, told = _end(stdout, ends)
            self.stderr, warned = _end(stderr, ends) if stderr != subprocess.STDOUT else (None, told)
            _FORKER.send(forker.COMMAND, [theirs.fileno(), given, told, warned])
        asked = {
            "arguments": arguments,
            "environment": dict(os.environ if env is None else env),
            "cwd": cwd or os.getcwd(),
            "constants": dict(constants or {}),
            "has_own_session": start_new_session,
        }
        self._lines.write(json.dumps(asked) + "\n")
        self._lines.flush()
        self._channel.settimeout(PATIENCE_SECONDS)
        answer = json.loads(self._lines.readline())
        if isinstance(answer, str):
            self._close()
            raise ImportError(f"a module cannot be imported:\n{answer}")
        self.pid: int = answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        for stream in (self.stdout, self.stderr, self.stdin):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self.wait()

    def poll(self) -> int | None:
        """Return the exit code if the command has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the command and return its exit code."""
        if self.returncode is None:
            if not select.select([self._channel], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = int(self._lines.readline())
            self._close()
        return self.returncode

    def send_signal(self, how: int) -> None:
        """Send a signal, if the command has not ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, how)

    def terminate(self) -> None:
        """Ask the command to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the command at once."""
        self.send_signal(signal.SIGKILL)

    def _close(self) -> None:
        self._lines.close()
        self._channel.close()


def _end(kind: int, ends: contextlib.ExitStack, *, is_input: bool = False) -> tuple[IO[bytes] | None, int]:
    """Return our end of a stream, if it is a pipe, and the descriptor for the command."""
    if kind == subprocess.PIPE:
        read, write = os.pipe()
        ours, theirs = (write, read) if is_input else (read, write)
        ends.callback(os.close, theirs)
        return os.fdopen(ours, "wb" if is_input else "rb", buffering=-1), theirs
    if kind == subprocess.DEVNULL:
        nothing = os.open(os.devnull, os.O_RDWR)
        ends.callback(os.close, nothing)
        return None, nothing
    return None, kind


Process = Forked | subprocess.Popen[bytes]


def start(*arguments: object, constants: Mapping[str, object] | None = None, **how: Any) -> Process:
    """Start `dowse`, with an interpreter of its own where its environment asks for one; `how` is as for `Forked`.

    Other values for constants, by their full names, keep a test from waiting for the real ones.
    """
    words = [os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in arguments]
    how = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL) | how
    if is_fresh() or not forker.can_fork(how.get("env") or os.environ):
        program = [sys.executable, "-P", "-c", _WITH_CONSTANTS, json.dumps(dict(constants or {})), *words]
        return cast("subprocess.Popen[bytes]", subprocess.Popen(program, **how))
    return Forked(words, constants=constants, **how)


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
    """Fork for the programs that this process starts too; end the process that forks after its last command."""
    end = forker.fork_programs(lambda descriptors: _FORKER.send(forker.PROGRAM, descriptors))
    try:
        yield
    finally:
        end()
        stop()
