"""Where the repository lies, and the data to measure with beside it."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
EVAL = Path(os.environ.get("DOWSE_EVAL") or REPOSITORY.parent / "shared" / "eval")
