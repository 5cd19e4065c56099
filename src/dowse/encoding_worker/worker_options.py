"""How an encoding process behaves; what a server tells it when it starts it."""

import json
from dataclasses import asdict, dataclass

from dowse.encoding_worker.backfill import BATCH_TEXTS
from dowse.platform import POWER_SUPPLIES

IDLE_SECONDS = 600.0
"""After so long without a question and without anything to do it ends; it comes back within two seconds."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """What differs from one encoding process to another."""

    idle_seconds: float = IDLE_SECONDS
    ignores_battery: bool = False
    """Somebody waits for it."""
    batch_texts: int = BATCH_TEXTS
    """Smaller after each crash: memory may have been short."""
    supplies: str = str(POWER_SUPPLIES)
    """Where the system tells whether it runs on battery."""

    def as_argument(self) -> str:
        """For the command line of the process."""
        return json.dumps(asdict(self))


def habits_in(argument: str) -> WorkerOptions:
    """The habits that a command line names."""
    return WorkerOptions(**json.loads(argument))
