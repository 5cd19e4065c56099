"""How an index is kept fresh, as the status tells it and as one process tells the others."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dowse.errors import DowseError
from dowse.freshness.pending_paths import read_dirty
from dowse.indexes.index import ProjectIndex
from dowse.platform import Lock, write_atomically
from dowse.settings import Strategy, read_json

WatchMode = Literal["watching", "polling", "elsewhere", "off"]

_STATE = "watcher.json"


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """How an index is kept fresh, for the status."""

    mode: WatchMode
    strategy: Strategy
    why: str = ""
    """Why it is not watched, or what is done instead."""
    pending: tuple[str, ...] = ()
    last_error: str | None = None


def watch_lease(folder: Path) -> Lock:
    """What the one process holds that watches a project."""
    return Lock(folder / "watch.lock")


def watch_of(project: ProjectIndex) -> WatchStatus:
    """How an index is kept fresh, if some process does, as that process has written it down."""
    strategy, pending = project.settings.indexing_strategy, tuple(path or "." for path in read_dirty(project.folder))
    lease = watch_lease(project.folder)
    if not lease.path.exists() or not lease.is_taken():
        return WatchStatus("off", strategy, "no server is running for this project", pending)
    why = f"by {lease.owner()}"
    with contextlib.suppress(DowseError, KeyError, TypeError):
        told = read_json(project.folder / _STATE)
        why += f", {told['mode']}" + (f": {told['why']}" if told["why"] else "")
    return WatchStatus("elsewhere", strategy, why, pending)


def tell_watch(project: ProjectIndex, watch: WatchStatus) -> None:
    """Write down, for other processes, how the index is kept fresh."""
    with contextlib.suppress(DowseError, OSError):
        write_atomically(project.folder / _STATE, json.dumps({"mode": watch.mode, "why": watch.why}).encode())


def untell_watch(project: ProjectIndex) -> None:
    """Nobody keeps it fresh from here on."""
    with contextlib.suppress(OSError):
        (project.folder / _STATE).unlink(missing_ok=True)
