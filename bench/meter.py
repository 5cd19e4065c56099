"""Measurement of a command: its time, and the peak memory of its process tree."""

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SAMPLE_SECONDS = 0.02
"""Short enough to catch the peaks of a run; sampling adds about 2 % to the command's processor time."""

_PROC = Path("/proc")
CAN_SAMPLE = (_PROC / "self" / "smaps_rollup").exists()


class CommandFailed(Exception):
    """A measured command failed; the message has the end of its output."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command."""

    seconds: float
    """Wall time, from before the start of the process to its end."""
    cpu_seconds: float | None
    """Processor time of the process and the children it waited for."""
    own_bytes: int | None
    """Peak of the memory that is not backed by files (Pss_Anon + Pss_Shmem), all processes together."""
    rss_bytes: int | None
    """Peak of the resident memory, shared pages counted in every process that has them."""
    output: str


def measure_command(command: list[str], environment: Mapping[str, str], cwd: Path | None = None) -> Run:
    """Run a command and measure it; its output must be short."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        child = subprocess.Popen(
            command, env=dict(environment), cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=errors
        )
        with Sampler(child.pid) as sampler:
            cpu_seconds, max_rss = _wait(child)
            seconds = time.perf_counter() - started
        for file in (output, errors):
            file.seek(0)
        if child.returncode:
            raise CommandFailed(f"{' '.join(command)} ended with {child.returncode}:\n{_last_lines(errors.read())}")
        rss = sampler.rss_bytes if CAN_SAMPLE else max_rss
        return Run(seconds, cpu_seconds, sampler.own_bytes or None, rss, output.read().decode())


def _wait(child: "subprocess.Popen[bytes]") -> tuple[float | None, int | None]:
    """Wait for a child; return its processor time and peak resident memory."""
    if not hasattr(os, "wait4"):
        child.wait()
        return None, None
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    is_mac = os.uname().sysname == "Darwin"
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if is_mac else 1024)


def _last_lines(output: bytes) -> str:
    return "\n".join(output.decode(errors="replace").splitlines()[-15:])


class Sampler:
    """A thread that samples the memory of a process tree and keeps the peaks."""

    def __init__(self, pid: int) -> None:
        self.own_bytes = self.rss_bytes = 0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Sampler":
        if CAN_SAMPLE:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if CAN_SAMPLE:
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            own, rss = memory(self._pid)
            self.own_bytes, self.rss_bytes = max(self.own_bytes, own), max(self.rss_bytes, rss)


def memory(pid: int) -> tuple[int, int]:
    """Return the present memory of a process tree, not file-backed and resident; 0 if the system does not report it."""
    processes = [memory_sizes(process) for process in process_tree(pid)]
    own = sum(size.get("Pss_Anon", 0) + size.get("Pss_Shmem", 0) for size in processes)
    return own, sum(size.get("Rss", 0) for size in processes)


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process and its descendants, as far as they still run."""
    yield pid
    try:
        for children in (_PROC / str(pid) / "task").glob("*/children"):
            for child in children.read_text(encoding="ascii").split():
                yield from process_tree(int(child))
    except OSError:
        return


def server_process() -> int:
    """Return the server that this process has started, not a parser process; this process where the system does not tell."""
    return next((pid for pid in process_tree(os.getpid()) if "\0dowse\0" in command_line(pid)), os.getpid())


def command_line(pid: int) -> str:
    """Return the arguments of a process, each with a NUL behind it; empty for a process that has ended."""
    try:
        return (_PROC / str(pid) / "cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def memory_sizes(pid: int) -> dict[str, int]:
    """Return the fields of smaps_rollup in bytes; empty for a process that has ended."""
    try:
        lines = (_PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return {}
    return {name: int(size.split()[0]) * 1024 for name, _, size in (line.partition(":") for line in lines)}
