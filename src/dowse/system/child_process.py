"""The supervisor of child processes: start one of our own programs, exchange messages with it, and end it."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, Any, cast

from dowse.system.child_messages import read_message, write_message
from dowse.system.platform import IS_LINUX

STOP_SECONDS = 1.0
"""How long a process may take to save its work before it is killed."""
MAX_CRASHES = 5
"""Crashes in a row after which a process is not started for a while."""
FIRST_DELAY_SECONDS = 1.0
"""Time before a restart after the first crash; it doubles with each next one."""
STEADY_SECONDS = 60.0
"""After a run of this length a crash counts as the first one again."""
GIVEN_UP_SECONDS = 3600.0
"""How long a process is not started after too many crashes."""
_SHOWN_BYTES = 300

Message = tuple[dict[str, Any], bytes]
INVALID_MESSAGES = (OSError, ValueError, TypeError, RecursionError)
"""The errors of a process that has ended or sends nonsense."""


def own_program(module: str, *arguments: str) -> list[str]:
    """Return the command line that runs a module of ours."""
    # -P keeps the working directory, which may be an untrusted project, out of the import path.
    return [sys.executable, "-P", "-m", module, *arguments]


class ChildProcess:
    """A process that ends when this one does. Raises OSError if it cannot be started."""

    def __init__(self, command: Sequence[str], *, keeps_output: bool = True, **variables: str) -> None:
        pipe, no_window = subprocess.PIPE, getattr(subprocess, "CREATE_NO_WINDOW", 0)
        with contextlib.ExitStack() as stack:
            self._output = stack.enter_context(_open_output()) if keeps_output else None
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                command, stdin=pipe, stdout=pipe, stderr=self._output or subprocess.DEVNULL,
                env=os.environ | variables, creationflags=no_window,
            )  # fmt: skip
            stack.pop_all()
        self._stdin, self._stdout = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self.last_words = ""
        """The last line that it printed, once it has ended."""
        self.id = self._process.pid
        self.started = time.monotonic()
        self._ending = threading.Lock()

    def send(self, fields: dict[str, Any], data: bytes = b"") -> None:
        """Send a message; wait while the process does not read."""
        write_message(self._stdin, fields, data)

    def receive(self) -> Message | None:
        """Wait for a message; None if the process has ended."""
        return read_message(self._stdout)

    def listen(self, handle: Callable[[dict[str, Any], bytes], None], note_end: Callable[[], None]) -> None:
        """Handle the messages of the process on a thread of their own, and note its end."""

        def run() -> None:
            try:
                while (message := self.receive()) is not None:
                    handle(*message)
            except INVALID_MESSAGES:
                self.kill()
            finally:
                self.wait()
                note_end()

        threading.Thread(target=run, daemon=True, name="child process").start()

    def end_input(self) -> None:
        """Let the process save its work and end."""
        with contextlib.suppress(OSError, ValueError):  # it may have ended, or be written to
            self._stdin.close()

    def stop(self) -> None:
        """End the process; kill it if that takes too long."""
        self.end_input()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self.wait()

    def kill(self) -> None:
        """Kill the process, whatever it does."""
        self._process.kill()

    def wait(self) -> int:
        """Wait until the process has ended, and return its exit code."""
        code = self._process.wait()
        self.end_input()
        self._stdout.close()
        with self._ending:  # the thread that listens may wait, too
            if self._output and not self._output.closed:
                with self._output as file:
                    file.seek(max(0, file.seek(0, os.SEEK_END) - _SHOWN_BYTES))
                    lines = file.read().decode("utf-8", "replace").split("\n")
                self.last_words = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return code

    def kill_and_measure(self) -> tuple[int, int]:
        """Kill the process if it runs; return its code and the most memory that it held, 0 if that is not known."""
        if not IS_LINUX:
            self.kill()
            return self._process.wait(), 0
        try:
            os.kill(self.id, signal.SIGKILL)  # `Popen.kill` would take the memory's figure with it
            _, status, usage = os.wait4(self.id, 0)
        except (ChildProcessError, ProcessLookupError):  # another thread has killed and awaited it
            return self._process.wait(), 0
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return self._process.returncode, usage.ru_maxrss * 1024


def _open_output() -> IO[bytes]:
    import tempfile  # a search without a model needs it not

    return tempfile.TemporaryFile()


class CrashDelay:
    """How long a process that has crashed is not started again."""

    def __init__(self) -> None:
        self.crashes = 0
        """Crashes in a row."""
        self._not_before = 0.0

    @property
    def may_start(self) -> bool:
        return time.monotonic() >= self._not_before

    @property
    def is_given_up(self) -> bool:
        """Whether the process has crashed so often that it is not started for a while."""
        return self._not_before - time.monotonic() > GIVEN_UP_SECONDS / 2

    def note_crash(self, lived_seconds: float = 0.0) -> None:
        """Delay the next start; longer after each crash of a process that did not live long."""
        self.crashes = 1 if lived_seconds >= STEADY_SECONDS else self.crashes + 1
        delay = FIRST_DELAY_SECONDS * 2 ** (self.crashes - 1)
        if self.crashes >= MAX_CRASHES:
            self.crashes, delay = MAX_CRASHES - 1, GIVEN_UP_SECONDS
        self._not_before = time.monotonic() + delay
