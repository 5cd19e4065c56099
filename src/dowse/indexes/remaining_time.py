"""How long indexing will take, judged by the files, and by what a run has done so far."""

import json
import time
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.store.local import LocalStore


BASE_SECONDS, SECONDS_PER_FILE, BYTES_PER_SECOND = 0.5, 0.002, 2_200_000
"""The time of a whole command that indexes and searches, on two cores: at most 30 % less than 16 projects of 8 to 352
files take (0.6 to 1.7 s), and rarely more."""
_FACT = "began"
MIN_SECONDS = 3.0
MIN_SHARE = 0.05
"""A run says nothing about its speed before it took so long and did so much; until then the sizes of the files do."""


def indexing_seconds(sizes: Sequence[int], slower: float = 1.0) -> float:
    """Return about how long indexing files of these sizes takes, or where other work makes it so many times slower."""
    return BASE_SECONDS + slower * (SECONDS_PER_FILE * len(sizes) + sum(sizes) / BYTES_PER_SECOND)


def record_start(store: "LocalStore", files: int, sizes: Sequence[int] = ()) -> None:
    """Record that a run begins now, with this many files in the index and files of these sizes to index."""
    store.set_fact(_FACT, json.dumps([time.time(), files, indexing_seconds(sizes) if sizes else 0.0]))


def seconds_left(store: "LocalStore", files: int, expected: int) -> int | None:
    """Return about how many seconds the run takes from now on; None if nothing can be said yet."""
    began, before, estimate = [*json.loads(store.fact(_FACT) or "[0, 0]"), 0.0][:3]
    elapsed, done = time.time() - began, files - before
    if not began or files >= expected:
        return None
    if elapsed < MIN_SECONDS or done <= MIN_SHARE * (expected - before):
        return ceil(estimate - elapsed) if elapsed < estimate / 2 else None  # later on, it was wrong
    return int(elapsed * (expected - files) / done)


def format_seconds_left(seconds: int | None) -> str:
    """Return a time as text, with a comma before it: `, about 20 s left`; nothing if it is not known."""
    if seconds is None:
        return ""
    return f", about {max(1, seconds)} s left" if seconds < 100 else f", about {round(seconds / 60)} min left"
