"""The status of watching an index, by this process or by another one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dowse.indexes.freshness.pending_paths import read_pending_paths
from dowse.indexes.index import ProjectIndex
from dowse.settings import Strategy
from dowse.system.platform import Lock

WatchMode = Literal["watching", "polling", "elsewhere", "off"]


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
    """Return how an index is kept fresh, as far as another process can know."""
    strategy = project.settings.indexing_strategy
    pending = tuple(path or "." for path in read_pending_paths(project.folder))
    lease = watch_lease(project.folder)
    if not lease.path.exists() or not lease.is_taken():
        return WatchStatus("off", strategy, "no server is running for this project", pending)
    return WatchStatus("elsewhere", strategy, f"by {lease.owner()}", pending)
