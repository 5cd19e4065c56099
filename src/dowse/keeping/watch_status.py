"""The status of watching an index, by this process or by another one."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dowse.errors import DowseError
from dowse.indexes.freshness.pending_paths import read_pending_paths
from dowse.indexes.index import ProjectIndex
from dowse.settings import Strategy
from dowse.system.platform import Lock

WatchMode = Literal["watching", "polling", "elsewhere", "off"]

MAX_COMPARED_PATHS = 1000
"""Paths compared before an answer: 0.06 ms each. With more pending, none is compared."""


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
    pending = pending_names(project, read_pending_paths(project.folder))
    lease = watch_lease(project.folder)
    if not lease.path.exists() or not lease.is_taken():
        return WatchStatus("off", strategy, "no server is running for this project", pending)
    return WatchStatus("elsewhere", strategy, f"by {lease.owner()}", pending)


def is_much(project: ProjectIndex, paths: Collection[str]) -> bool:
    """Return whether more may have changed at some paths than is compared before an answer, as in any folder."""
    return len(paths) > MAX_COMPARED_PATHS or any(map(project.is_folder, paths))


def pending_names(project: ProjectIndex, paths: Collection[str]) -> tuple[str, ...]:
    """Return the files at some pending paths that differ from the index, in order.

    The root, as a dot, stands for files that are denied by now, and for all files where the paths cannot be compared: any
    of them may be denied, and a folder may have more files than are compared before an answer.
    """
    if not paths or is_much(project, paths):
        return (".",) if paths else ()
    try:
        drift = project.drift_at(paths)
    except (DowseError, OSError):
        return (".",)
    return tuple(sorted({*project.named(drift.gone), *(entry.path for entry in (*drift.changed, *drift.new))}))
