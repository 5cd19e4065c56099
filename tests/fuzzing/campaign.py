"""A campaign against one target: many inputs in sacrificial processes, and for each failure the shortest input."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fuzzing.targets import FOLDER, TARGETS

SEEDS = Path(__file__).with_name("seeds")
WAIT_SECONDS = 60.0
"""The longest time without an answer, for inputs that wait instead of working."""
BATCH = 2000
MINIMISE_SECONDS = 120.0
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


def _run_child(target: str, seconds: float, *job: object) -> Iterator[tuple[int, str]]:
    """Do a job in a process; yield the inputs that failed, the one last that ended the process, then what is next."""
    with tempfile.TemporaryDirectory(prefix="fuzz", dir=FOLDER) as scratch, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            ["nice", sys.executable, "-m", "tests.fuzzing.child", target, *map(str, job)],
            stdout=subprocess.PIPE, stderr=errors, env=os.environ | {"FUZZ_SCRATCH": scratch}, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        try:
            output, waited = process.communicate(timeout=seconds + WAIT_SECONDS)[0], ""
        except subprocess.TimeoutExpired:
            process.kill()
            output, waited = process.communicate()[0], f"took over {WAIT_SECONDS:.0f} s of waiting"
        lines = [json.loads(line) for line in output.splitlines()]
        if not lines:
            errors.seek(0)
            raise RuntimeError(f"{target} does not start: {errors.read().decode()[-2000:]}")
    at = 0
    for at, problem in lines:
        if problem:
            yield at, problem
    code = process.returncode
    if waited or code:
        name = signal.Signals(-code).name if code < 0 else f"exit {code}"
        yield at, waited or ("took over 5 s" if -code == signal.SIGPROF else f"ended the process: {name}")
    yield at + 1, ""


def try_data(target: str, data: bytes) -> str:
    """Run one input; return how it failed, or an empty text."""
    with tempfile.NamedTemporaryFile(prefix="fuzz-input") as file:
        file.write(data)
        file.flush()
        return next(problem for _, problem in _run_child(target, 0, file.name))


@dataclass(frozen=True, slots=True)
class Result:
    """The number of inputs that ran, and one failure for each kind of problem."""

    inputs: int
    failures: list[Failure]


def run_campaign(name: str, inputs: int, seconds: float, seed: int) -> Result:
    """Run a target with a number of inputs, or until the time is over."""
    failures: dict[str, Failure] = {}
    deadline, done = time.monotonic() + seconds, 0
    while done < inputs and (left := deadline - time.monotonic()) > 0:
        for number, problem in _run_child(name, left, seed, done, min(done + BATCH, inputs), left):
            done = number
            if problem:
                failure = Failure(name, TARGETS[name].input(f"{seed} {name} {number}"), problem)
                failures.setdefault(failure.kind, failure)
    return Result(done, list(failures.values()))


def minimise(failure: Failure) -> Failure:
    """Return a shorter input that fails in the same way."""

    def fails(data: bytes) -> bool:
        problem = try_data(failure.target, data)
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
