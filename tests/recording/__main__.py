"""Rewrite the golden files: `python -m tests.recording [--to DIR] [NAME...]`."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.forking import forking
from tests.recording.normalize import normalized
from tests.recording.projects import make_place, shared_folder
from tests.recording.scenarios import SCENARIOS

GOLDEN = Path(__file__).with_name("golden")
AT_ONCE = 3
"""The number of scenarios that are played in parallel: one for each of two cores, and one that waits."""


def record(name: str, shared: Path) -> str:
    """Play one scenario and return the text of its golden file."""
    place = make_place(shared, name.replace(".", "-"))
    return normalized(SCENARIOS[name](place), place.folder)


def main(arguments: list[str]) -> int:
    """Record the named scenarios, or all, and return the exit code."""
    target = GOLDEN
    if arguments[:1] == ["--to"]:
        target, arguments = Path(arguments[1]), arguments[2:]
    target.mkdir(exist_ok=True)
    started = time.monotonic()

    def write(name: str) -> str:
        begun = time.monotonic()
        (target / name).write_text(record(name, shared), encoding="utf-8")
        return f"{name} ({time.monotonic() - begun:.1f} s)"

    failures = 0
    with shared_folder() as shared, forking(), ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {name: pool.submit(write, name) for name in arguments or SCENARIOS}
        for name, future in futures.items():
            try:
                print(future.result(), flush=True)
            except Exception as error:  # the other scenarios are still recorded
                failures += 1
                print(f"{name} FAILED: {error}" if failures == 1 else f"{name} FAILED", flush=True)
    print(f"{time.monotonic() - started:.1f} s")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
