"""The indexing strategies: pending paths are checked at once, when nothing changes for a while, or on a commit."""

from collections.abc import Mapping

from dowse.freshness.pending_paths import ChangeTimes
from dowse.settings import Settings

QUIET_SECONDS = 0.5
"""A changed path is not read until it has been unchanged for this long: a program may still be writing it."""
MAX_DELAY_SECONDS = 2.0
"""A path that keeps changing is read after this time anyway; other paths do not wait for it."""


def due_paths(
    settings: Settings,
    pending: Mapping[str, ChangeTimes],
    now: float,
    *,
    has_head_moved: bool = False,
    is_searching: bool = False,
) -> dict[str, ChangeTimes]:
    """Return the pending paths that have to be checked now.

    `has_head_moved` is true when git has checked out a commit, `is_searching` when a search waits.
    """
    if not pending:
        return {}
    if settings.indexing_strategy == "realtime":
        return {path: times for path, times in pending.items() if is_searching or _is_due(times, now)}
    if settings.indexing_strategy == "lazy":
        idle = now - max(times.last for times in pending.values())
        return dict(pending) if is_searching or idle >= settings.lazy_idle_threshold else {}
    return dict(pending) if has_head_moved else {}


def _is_due(times: ChangeTimes, now: float) -> bool:
    return now - times.last >= QUIET_SECONDS or now - times.first >= MAX_DELAY_SECONDS
