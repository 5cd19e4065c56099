"""The options of an encoding process, which its server passes on the command line."""

import json
from dataclasses import asdict, dataclass

from dowse.encoding_worker.backfill import BATCH_TEXTS
from dowse.power import POWER_SUPPLIES

IDLE_SECONDS = 600.0
"""An encoding process ends after this long without work or queries; starting it again takes two seconds."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """The options of one encoding process."""

    idle_seconds: float = IDLE_SECONDS
    ignores_battery: bool = False
    """Encode on battery as well, because a user waits for the result."""
    batch_texts: int = BATCH_TEXTS
    """Texts encoded at once. The client halves it after each crash, because memory may have been short."""
    supplies: str = str(POWER_SUPPLIES)
    """The folder in which the system reports whether it runs on battery."""

    def to_argument(self) -> str:
        """Return the options as one command-line argument."""
        return json.dumps(asdict(self))


def parse_options(argument: str) -> WorkerOptions:
    """Return the options in a command-line argument."""
    return WorkerOptions(**json.loads(argument))
