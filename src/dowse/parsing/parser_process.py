"""One parser process as the process that uses it sees it."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from dowse.errors import Failed, ParserEnded
from dowse.parsing.parser_limits import HAS_TIMER, WALL_SECONDS, cpu_seconds, memory_bytes
from dowse.parsing.parser_messages import read_message, write_message
from dowse.platform import IS_LINUX

# -P keeps the working directory, which may be an untrusted project, out of the import path.
PARSER_COMMAND = (sys.executable, "-P", "-m", "dowse.parsing.parser_worker")
START_SECONDS = 20.0
"""How long a process may take to start, which no file can influence; a busy machine takes seconds."""
STOP_SECONDS = 1.0
"""How long an idle process may take to end before it is killed."""

MEMORY_SHARE = 0.5
"""A process that crashes after it held this share of its memory crashes for lack of more: a growing list asks for as
much again as it has."""
_CRASHES = frozenset({"SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP"})


@dataclass(frozen=True, slots=True)
class ParserRequest:
    """A job for a parser process."""

    fields: dict[str, Any]
    data: bytes


@dataclass(frozen=True, slots=True)
class ParserReply:
    """The result of a job, or the reason why there is none."""

    fields: dict[str, Any]
    data: bytes = b""
    problem: str = ""
    """The reason why there is no result, as the end of a sentence about the file: `takes more than 1.5 s to parse`."""


class ParserProcess:
    """One parser process, used by one thread. Another thread may call `kill_if_overdue`."""

    def __init__(self) -> None:
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                PARSER_COMMAND, stdin=pipe, stdout=pipe, stderr=nowhere, creationflags=no_window, env=_environment()
            )
        except OSError as error:
            raise Failed(f"The parser process could not be started: {error.strerror}.") from error
        self._stdin, self._stdout = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._is_ready = False
        self._deadline: float | None = None
        self._is_overdue = self._was_killed = False
        self._ticks = 0
        """The processor time that it had taken when it was last overdue; 0 where the system does not tell."""
        self.is_usable = True

    def run(self, request: ParserRequest) -> ParserReply:
        """Do a job. Raise ParserEnded if the process ended for a reason that has nothing to do with the file."""
        try:
            message = self._exchange(request)
        except (OSError, ValueError, TypeError, RecursionError):
            message = None
        finally:
            self._deadline = None
        if message is None:
            return self._explain_end(request)
        fields, data = message
        self.is_usable = not fields.pop("is_last", False)
        problem = fields.get("problem", "")
        if problem == "memory":
            return ParserReply({}, problem=_too_much_memory(request))
        return ParserReply(fields, data, f"cannot be parsed ({problem})" if problem else "")

    def kill_if_overdue(self, now: float) -> None:
        """Kill the process if it has not gone on with a file for too long.

        A process that a busy machine lets run now and then goes on: its processor time is limited by the system.
        """
        if self._deadline is not None and now > self._deadline:
            ticks = _processor_ticks(self._process.pid) if HAS_TIMER else self._ticks
            if ticks == self._ticks:
                self._is_overdue = True
                self.kill()
            self._ticks, self._deadline = ticks, now + WALL_SECONDS

    def kill(self) -> None:
        """Kill the process, whatever it does; its file is not the reason."""
        self._was_killed = True
        self._process.kill()

    def close(self) -> None:
        """End the process."""
        self.is_usable = False
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()

    def _exchange(self, request: ParserRequest) -> tuple[dict[str, Any], bytes] | None:
        if not self._is_ready:
            self._deadline = time.monotonic() + START_SECONDS
            if read_message(self._stdout) is None:
                return None
            self._is_ready = True
        self._deadline = time.monotonic() + WALL_SECONDS + cpu_seconds(len(request.data))
        write_message(self._stdin, request.fields, request.data)
        return read_message(self._stdout)

    def _explain_end(self, request: ParserRequest) -> ParserReply:
        """Return what the file did to the process, which has ended or sends nonsense."""
        self.is_usable = False
        code, most_bytes = self._kill()
        if not self._is_ready:
            raise ParserEnded(f"The parser process ended with code {code} before it read anything.")
        name = _signal_name(code)
        if name == "SIGPROF" or (self._is_overdue and not HAS_TIMER):
            return ParserReply({}, problem=f"takes more than {cpu_seconds(len(request.data)):.1f} s to parse")
        if self._was_killed:
            raise ParserEnded("The parser process did not answer.")
        if name in _CRASHES:  # the libraries of the parsers crash when memory is refused
            has_memory = most_bytes < MEMORY_SHARE * memory_bytes(len(request.data))
            return ParserReply({}, problem="crashes its parser" if has_memory else _too_much_memory(request))
        raise ParserEnded(f"The parser process ended with code {code}.")

    def _kill(self) -> tuple[int, int]:
        """End the process, if it has not ended; return its code and the most memory that it held, 0 if that is not known."""
        if not IS_LINUX:
            self._process.kill()
            return self._process.wait(), 0
        try:
            os.kill(self._process.pid, signal.SIGKILL)  # `Popen.kill` would take the memory's figure with it
            _, status, usage = os.wait4(self._process.pid, 0)
        except (ChildProcessError, ProcessLookupError):  # the watching thread has killed and awaited it
            return self._process.wait(), 0
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return self._process.returncode, usage.ru_maxrss * 1024


def _environment() -> dict[str, str]:
    """Return the environment of a parser process: its time and memory are limited, so NumPy starts no threads there."""
    return os.environ | {"OPENBLAS_NUM_THREADS": "1"}


def _processor_ticks(process: int) -> int:
    """Return the processor time that a process has taken; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b") ")[2].split()
        return int(fields[11]) + int(fields[12])
    return 0


def _signal_name(code: int) -> str:
    """Return the name of the signal that ended a process; empty if none did."""
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name if code < 0 else ""
    return ""


def _too_much_memory(request: ParserRequest) -> str:
    return f"takes more than {memory_bytes(len(request.data)) // 1024**2} MB to parse"
