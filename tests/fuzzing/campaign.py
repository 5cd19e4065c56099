"""A campaign against one target: many inputs in sacrificial processes, and for each failure the shortest input."""

import hashlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.fuzzing.targets import FOLDER, TARGETS

SEEDS = Path(__file__).with_name("seeds")
WAIT_SECONDS = 60.0
"""The longest time without an answer, for inputs that wait instead of working."""
BATCH = 200
MINIMISE_SECONDS = 60.0
NOTE = ".note"


@dataclass(frozen=True, slots=True)
class Failure:
    """An input that failed."""

    target: str
    data: bytes
    problem: str

    @property
    def kind(self) -> str:
        """The problem without its figures, the same for all inputs that fail for one reason."""
        return re.sub(r"[^\w:/. ]|\d+", "", self.problem.partition(": ")[0] if "took" not in self.problem else "took")


class Child:
    """A process that runs the inputs of one target, replaced when it ends."""

    def __init__(self, target: str, priority: int = 10) -> None:
        self._target, self._priority = target, priority
        self._place = tempfile.NamedTemporaryFile(prefix="fuzz")  # noqa: SIM115 - as long as the child
        self._scratch = tempfile.TemporaryDirectory(prefix="fuzz", dir=FOLDER)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the child
        self._place.write(bytes(8))
        self._place.flush()
        self._process: subprocess.Popen[str] | None = None
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self._end()
        self._place.close()
        self._stderr.close()
        self._scratch.cleanup()

    def try_data(self, data: bytes) -> str:
        """Run one input; return how it failed, or an empty text."""
        with tempfile.NamedTemporaryFile(prefix="fuzz-input") as file:
            file.write(data)
            file.flush()
            problems = [problem for _, problem in self._job(["try", file.name], 0, 1)]
        return problems[0] if problems else ""

    def run(self, seed: int, first: int, count: int) -> Iterator[tuple[int, str]]:
        """Run the inputs of a seed from a number on; yield the number and the problem of those that fail."""
        at, end = first, first + count
        while at < end:
            for number, problem in self._job(["run", seed, at, end - at], at, end):
                at = number + 1
                yield number, problem
            at = max(at, self._reached)

    def _job(self, job: list[object], first: int, end: int) -> Iterator[tuple[int, str]]:
        self._reached = first
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        while True:
            line = self._read_line(process)
            if line:
                kind, number, problem = json.loads(line)
                if kind == "done":
                    self._reached = end
                    return
                yield number, problem
                continue
            was_killed = process.poll() is None
            code = self._end()
            number = max(first, self._at())
            self._reached = number + 1
            if was_killed:
                yield number, f"took over {WAIT_SECONDS:.0f} s of waiting"
            elif code:
                name = signal.Signals(-code).name if code < 0 else f"exit {code}"
                yield number, "took over 5 s" if -code == signal.SIGPROF else f"ended the process: {name}"
            return

    def _at(self) -> int:
        return int.from_bytes(os.pread(self._place.fileno(), 8, 0), "little")

    def _started(self) -> "subprocess.Popen[str]":
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                ["nice", "-n", str(self._priority), sys.executable, "-m", "tests.fuzzing.child", self._target],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, text=True,
                env=os.environ | {"FUZZ_PLACE": self._place.name, "FUZZ_SCRATCH": self._scratch.name}, cwd=Path(__file__).parents[2],
            )  # fmt: skip
            if "ready" not in self._read_line(self._process):
                os.lseek(self._stderr.fileno(), 0, os.SEEK_SET)
                raise RuntimeError(f"{self._target} does not start: {self._stderr.read().decode()[-2000:]}")
        return self._process

    def _read_line(self, process: "subprocess.Popen[str]") -> str:
        """Return the next line, or nothing at the end of the process or where it makes no progress."""
        assert process.stdout is not None
        place = -1
        while b"\n" not in self._unread:
            if select.select([process.stdout], [], [], WAIT_SECONDS)[0]:
                part = os.read(process.stdout.fileno(), 1 << 16)
                if not part:
                    process.wait()
                    return ""
                self._unread += part
            elif place == (place := self._at()):
                return ""
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    def _end(self) -> int:
        if self._process is None:
            return 0
        process, self._process, self._unread = self._process, None, b""
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        return process.wait()


@dataclass(frozen=True, slots=True)
class Result:
    """The number of inputs that ran, and one failure for each kind of problem."""

    inputs: int
    failures: list[Failure]


def run_campaign(name: str, inputs: int, seconds: float, seed: int) -> Result:
    """Run a target with a number of inputs, or until the time is over."""
    target = TARGETS[name]
    failures: dict[str, Failure] = {}
    deadline, done = time.monotonic() + seconds, 0
    with Child(name) as child:
        while done < inputs and time.monotonic() < deadline:
            count = min(BATCH, inputs - done)
            for number, problem in child.run(seed, done, count):
                data = target.input(f"{seed} {name} {number}")
                failure = Failure(name, data, problem)
                failures.setdefault(failure.kind, failure)
            done += count
    return Result(done, list(failures.values()))


def minimise(failure: Failure) -> Failure:
    """Return a shorter input that fails in the same way."""
    with Child(failure.target) as child:

        def fails(data: bytes) -> bool:
            problem = child.try_data(data)
            return bool(problem) and Failure(failure.target, data, problem).kind == failure.kind

        if not fails(failure.data):
            return Failure(failure.target, failure.data, failure.problem + " (not again alone)")
        deadline = time.monotonic() + MINIMISE_SECONDS
        data = _shorten(failure.data, lambda shorter: time.monotonic() < deadline and fails(shorter))
    return Failure(failure.target, data, failure.problem)


def _shorten(data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    size = len(data) // 2
    while size:
        at = 0
        while at < len(data):
            shorter = data[:at] + data[at + size :]
            if fails(shorter):
                data = shorter
            else:
                at += size
        size //= 2
    return data


def keep(failure: Failure) -> Path:
    """Write an input to the seeds that every test run tries, with a note of how it failed."""
    folder = SEEDS / failure.target
    folder.mkdir(parents=True, exist_ok=True)
    words = re.sub(r"\W+", "-", failure.kind).strip("-").lower()[:60]
    file = folder / f"{words}-{hashlib.sha256(failure.data).hexdigest()[:8]}"
    file.write_bytes(failure.data)
    file.with_name(file.name + NOTE).write_text(failure.problem + "\n", encoding="utf-8")
    return file


def seeds(target: str) -> list[Path]:
    """Return the inputs that once failed."""
    return sorted(file for file in (SEEDS / target).glob("*") if file.suffix != NOTE)
