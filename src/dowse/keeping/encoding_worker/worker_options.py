"""The options of an encoding process, which its server passes on the command line."""

import os
from dataclasses import dataclass, field

from dowse.keeping.encoding_worker.backfill import BATCH_TEXTS

IDLE_SECONDS = 120.0
"""An encoding process ends after this long without work or queries, and so do the 100 MB that it takes; starting it again
takes a second, in which queries go on without it."""
MAX_CORES = 4
"""The most cores that an encoding process uses."""


def count_cores(share: float = 1.0) -> int:
    """Return the number of cores that an encoding process may use, as a share of those that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MAX_CORES, int(cores * share)))


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """The options of one encoding process."""

    idle_seconds: float = IDLE_SECONDS
    cores: int = field(default_factory=lambda: count_cores(0.5))
    """Cores that are used at once: half of them in the background, and all of them when a user waits."""
    batch_texts: int = BATCH_TEXTS
    """Texts encoded at once on each core.

    After a crash, when memory may have been short, the client uses one core and halves this number.
    """
