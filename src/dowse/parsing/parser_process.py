"""One parser process as the process that uses it sees it."""

import contextlib
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse.errors import Failed, ParserEnded
from dowse.parsing.parser_limits import HAS_TIMER, WALL_SECONDS, cpu_seconds, memory_bytes
from dowse.system.child_process import INVALID_MESSAGES, ChildProcess, Message, own_program

PARSER_COMMAND = own_program("dowse.parsing.parser_worker")
START_SECONDS = 20.0
"""How long a process may take to start, which no file can influence; a busy machine takes seconds."""

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
    is_costly: bool = False
    """Whether the reason took time or memory up to a limit, or ended the process."""


class ParserProcess:
    """One parser process, used by one thread. Another thread may call `kill_if_overdue`."""

    def __init__(self) -> None:
        try:  # its time and memory are limited, so NumPy starts no threads there
            self._process = ChildProcess(PARSER_COMMAND, keeps_output=False, OPENBLAS_NUM_THREADS="1")
        except OSError as error:
            raise Failed(f"The parser process could not be started: {error.strerror}.") from error
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
        except INVALID_MESSAGES:
            message = None
        finally:
            self._deadline = None
        if message is None:
            return self._explain_end(request)
        fields, data = message
        self.is_usable = not fields.pop("is_last", False)
        problem = fields.get("problem", "")
        if problem == "memory":
            return ParserReply({}, problem=_too_much_memory(request), is_costly=True)
        return ParserReply(fields, data, f"cannot be parsed ({problem})" if problem else "")

    def kill_if_overdue(self, now: float) -> None:
        """Kill the process if it has not gone on with a file for too long.

        A process that a busy machine lets run now and then goes on: its processor time is limited by the system.
        """
        if self._deadline is not None and now > self._deadline:
            ticks = _processor_ticks(self._process.id) if HAS_TIMER else self._ticks
            if ticks == self._ticks:
                self._is_overdue = True
                self.kill()
            self._ticks, self._deadline = ticks, now + WALL_SECONDS

    def kill(self) -> None:
        """Kill the process, whatever it does; its file is not the reason."""
        self._was_killed = True
        self._process.kill()

    def close(self) -> None:
        self.is_usable = False
        self._process.stop()

    def _exchange(self, request: ParserRequest) -> Message | None:
        if not self._is_ready:
            self._deadline = time.monotonic() + START_SECONDS
            if self._process.receive() is None:
                return None
            self._is_ready = True
        self._deadline = time.monotonic() + WALL_SECONDS + cpu_seconds(len(request.data))
        self._process.send(request.fields, request.data)
        return self._process.receive()

    def _explain_end(self, request: ParserRequest) -> ParserReply:
        """Return what the file did to the process, which has ended or sends nonsense."""
        self.is_usable = False
        code, most_bytes = self._process.kill_and_measure()
        if not self._is_ready:
            raise ParserEnded(f"The parser process ended with code {code} before it read anything.")
        name = _signal_name(code)
        if name == "SIGPROF" or (self._is_overdue and not HAS_TIMER):
            problem = f"takes more than {cpu_seconds(len(request.data)):.1f} s to parse"
            return ParserReply({}, problem=problem, is_costly=True)
        if self._was_killed:
            raise ParserEnded("The parser process did not answer.")
        if name in _CRASHES:  # the libraries of the parsers crash when memory is refused
            has_memory = most_bytes < MEMORY_SHARE * memory_bytes(len(request.data))
            problem = "crashes its parser" if has_memory else _too_much_memory(request)
            return ParserReply({}, problem=problem, is_costly=True)
        raise ParserEnded(f"The parser process ended with code {code}.")


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
