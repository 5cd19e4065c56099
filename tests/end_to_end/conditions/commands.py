"""Commands of dowse under conditions that the environment sets."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

WAIT_SECONDS = 120


class Ran(NamedTuple):
    """A command that ended."""

    code: int
    out: str
    err: str


def run_command(*arguments: object, **environment: str) -> Ran:
    """Run a command in an interpreter of its own; it must not end in a traceback."""
    return _run(arguments, environment, None)


def run_limited(limit: Callable[[], None], *arguments: object) -> Ran:
    """Run a command in a process that has called a function first, which limits it."""
    return _run(arguments, {}, limit)


def _run(arguments: tuple[object, ...], environment: dict[str, str], limit: Callable[[], None] | None) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "dowse", *map(str, arguments)],
        env=os.environ | environment, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False, preexec_fn=limit,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert "Unexpected" not in done.stderr, done.stderr
    assert "panicked" not in done.stderr, done.stderr
    assert done.returncode in (0, 1, 2, 3), done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def found_paths(query: str, root: Path, **environment: str) -> list[str]:
    """Search for a word; return the paths of the hits that have it."""
    ran = run_command("search", "--exact", query, root, "--json", **environment)
    return sorted({hit["path"] for hit in json.loads(ran.out).get("matches", ())}) if ran.out else []


def few_descriptors(count: int) -> Callable[[], None]:
    """Return a function that allows a new process only so many open files."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

    return limit
