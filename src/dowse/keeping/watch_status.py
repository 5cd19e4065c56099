"""The status of watching an index, and the file in which one process publishes it for others."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dowse.errors import DowseError
from dowse.indexes.freshness.pending_paths import read_pending_paths
from dowse.indexes.index import ProjectIndex
from dowse.settings import Strategy, read_json
from dowse.system.platform import Lock, write_atomically

WatchMode = Literal["watching", "polling", "elsewhere", "off"]

_STATUS_FILE = "watcher.json"


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """How an index is kept fresh."""

    mode: WatchMode
    strategy: Strategy
    why: str = ""
    """Why the index is not watched, or what is done instead."""
    pending: tuple[str, ...] = ()
    last_error: str | None = None


def watch_lease(folder: Path) -> Lock:
    """Return the lock that the one process which keeps an index fresh holds."""
    return Lock(folder / "watch.lock")


def read_watch_status(project: ProjectIndex) -> WatchStatus:
    """Return how an index is kept fresh, as the process that does so has published it."""
    strategy = project.settings.indexing_strategy
    pending = tuple(path or "." for path in read_pending_paths(project.folder))
    lease = watch_lease(project.folder)
    if not lease.path.exists() or not lease.is_taken():
        return WatchStatus("off", strategy, "no server is running for this project", pending)
    why = f"by {lease.owner()}"
    with contextlib.suppress(DowseError, KeyError, TypeError):
        published = read_json(project.folder / _STATUS_FILE)
        why += f", {published['mode']}" + (f": {published['why']}" if published["why"] else "")
    return WatchStatus("elsewhere", strategy, why, pending)


def write_watch_status(project: ProjectIndex, status: WatchStatus) -> None:
    """Publish, for other processes, how the index is kept fresh."""
    with contextlib.suppress(DowseError, OSError):
        write_atomically(project.folder / _STATUS_FILE, json.dumps({"mode": status.mode, "why": status.why}).encode())


def remove_watch_status(project: ProjectIndex) -> None:
    """Remove the published status: no process keeps the index fresh any more."""
    with contextlib.suppress(OSError):
        (project.folder / _STATUS_FILE).unlink(missing_ok=True)
