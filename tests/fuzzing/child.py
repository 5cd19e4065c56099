"""The process in which a target runs: `python -m tests.fuzzing.child TARGET`. It may hang, swell and crash.

It reads one job a line from stdin: `run SEED FIRST COUNT` or `try FILE`. It answers with one line for each input that
failed and `done COUNT` at the end of a job. The number of the input it is at stands in the file named by `FUZZ_PLACE`,
so that whoever started it knows which input ended it.
"""

import contextlib
import gc
import json
import mmap
import os
import random
import resource
import signal
import sys
import time
import traceback
from pathlib import Path

import dowse
from tests.fuzzing.targets import BROKEN, TARGETS, Target

MAX_SECONDS = 2.0
MAX_BYTES = 300_000_000
"""The time of the processor and the memory that one input may take."""
KILL_SECONDS = 2.5 * MAX_SECONDS
ADDRESS_SPACE_BYTES = 1_500_000_000
"""Beyond these the process ends, so that it cannot take the machine with it."""
MAX_THREADS = 60
"""With more, garbage is collected: indexes that could not be opened keep theirs until then, and each takes address space."""
PROCESSORS = 2
"""Libraries start a thread for each processor that they see, so with 16 the address space was soon used up."""


_PACKAGE = f"{Path(dowse.__file__).parent}{os.sep}"
"""The folder of our own code. The folder of the whole project may have the same name."""


class _Measure:
    """The limits of the inputs in this process."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._first_bytes = _peak_bytes()

    def problem(self, data: bytes) -> str:
        """Run one input; return how it failed, or an empty text."""
        signal.setitimer(signal.ITIMER_PROF, KILL_SECONDS)  # its signal ends the process, wherever it is
        started = time.process_time()
        try:
            self._target.run(data)
        except self._target.expected:
            pass
        except BaseException as error:
            return _describe(error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if (seconds := time.process_time() - started) > MAX_SECONDS:
            return f"took {seconds:.1f} s"
        grown = _peak_bytes() - self._first_bytes
        return f"took {grown / 1e6:.0f} MB" if grown > MAX_BYTES else ""


def _peak_bytes() -> int:
    """Return the most memory that this process took; `getrusage` would begin with that of the process that forked it."""
    with open("/proc/self/status", "rb") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(b"VmHWM"))


def _describe(error: BaseException) -> str:
    """Return the kind of an error and the last place of our own code that it passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(_PACKAGE)]
    place = f"{frames[-1].filename.removeprefix(_PACKAGE)}:{frames[-1].name}" if frames else "?"
    return f"{type(error).__name__} in {place}: {str(error)[:200]}"


def main(name: str) -> None:
    """Do jobs until stdin ends."""
    target = {**TARGETS, **BROKEN}[name]
    if hasattr(os, "sched_setaffinity"):
        seen = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, random.sample(seen, min(PROCESSORS, len(seen))))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(*target.expected):
        target.run(target.samples[0])  # loads everything
    print(json.dumps(["ready", 0, ""]), flush=True)
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * mmap.PAGESIZE
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESS_SPACE_BYTES, used + ADDRESS_SPACE_BYTES))
    measure = _Measure(target)
    with open(os.environ["FUZZ_PLACE"], "r+b") as file, mmap.mmap(file.fileno(), 8) as place:
        for line in sys.stdin:
            kind, *rest = json.loads(line)
            first, last = (rest[1], rest[1] + rest[2]) if kind == "run" else (0, 1)
            for number in range(first, last):
                place[:8] = number.to_bytes(8, "little")
                data = target.input(f"{rest[0]} {name} {number}") if kind == "run" else Path(rest[0]).read_bytes()
                if problem := measure.problem(data):
                    print(json.dumps(["failed", number, problem]), flush=True)
                    if problem.startswith("took"):
                        sys.exit(0)  # the peak of the memory never falls: go on in a new process
                if len(os.listdir("/proc/self/task")) > MAX_THREADS:
                    gc.collect()
            print(json.dumps(["done", last, ""]), flush=True)


if __name__ == "__main__":
    # Whatever a target prints goes to stderr.
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(answers, "w", encoding="utf-8")
    main(sys.argv[1])
