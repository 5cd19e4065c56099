"""The process in which a target runs. It may hang, swell and crash.

`python -m tests.fuzzing.child TARGET SEED FIRST END SECONDS` tries inputs until the time is over,
`python -m tests.fuzzing.child TARGET FILE` tries one. Before each input its number is printed, and after one that
failed its number and its problem, so that it is known which input ended the process.
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


def _try(target: Target, data: bytes, first_bytes: int) -> str:
    """Run one input; return how it failed, or an empty text."""
    signal.setitimer(signal.ITIMER_PROF, KILL_SECONDS)  # its signal ends the process, wherever it is
    started = time.process_time()
    try:
        target.run(data)
    except target.expected:
        pass
    except BaseException as error:
        return _describe(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if (seconds := time.process_time() - started) > MAX_SECONDS:
        return f"took {seconds:.1f} s"
    grown = _peak_bytes() - first_bytes
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


def main(name: str, *job: str) -> None:
    """Try the inputs of a job, up to one that took too much: the peak of the memory never falls."""
    target = {**TARGETS, **BROKEN}[name]
    if hasattr(os, "sched_setaffinity"):
        seen = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, random.sample(seen, min(PROCESSORS, len(seen))))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(*target.expected):
        target.run(target.samples[0])  # loads everything
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * mmap.PAGESIZE
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESS_SPACE_BYTES, used + ADDRESS_SPACE_BYTES))
    first, end, seconds = (int(job[1]), int(job[2]), float(job[3])) if job[1:] else (0, 1, KILL_SECONDS)
    deadline, first_bytes, problem = time.monotonic() + seconds, _peak_bytes(), ""
    for number in range(first, end):
        if time.monotonic() > deadline or problem.startswith("took"):
            return
        print(json.dumps([number, ""]), flush=True)
        data = target.input(f"{job[0]} {name} {number}") if job[1:] else Path(job[0]).read_bytes()
        if problem := _try(target, data, first_bytes):
            print(json.dumps([number, problem]), flush=True)
        if len(os.listdir("/proc/self/task")) > MAX_THREADS:
            gc.collect()


if __name__ == "__main__":
    # Whatever a target prints goes to stderr.
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(answers, "w", encoding="utf-8")
    main(*sys.argv[1:])
