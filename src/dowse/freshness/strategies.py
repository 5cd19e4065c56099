"""When pending paths are looked at: at once, when it is quiet, or on a commit. Pure functions of time."""

from collections.abc import Mapping

from dowse.freshness.pending_paths import ChangeTimes
from dowse.settings import Settings

QUIET_SECONDS = 0.5
"""A path that changed is left alone until nothing has happened to it for this long: somebody is writing."""
MAX_DELAY_SECONDS = 2.0
"""A path that never rests is looked at anyway; the others do not wait for it."""


def due_paths(
    settings: Settings, pending: Mapping[str, ChangeTimes], now: float, *, head_moved: bool = False, asked: bool = False
) -> dict[str, ChangeTimes]:
    """The pending paths whose time has come.

    `head_moved`: git has another commit checked out, or the same anew. `asked`: somebody searches.
    """
    if not pending:
        return {}
    if settings.indexing_strategy == "realtime":
        return {path: times for path, times in pending.items() if asked or _is_due(times, now)}
    if settings.indexing_strategy == "lazy":
        idle = now - max(times.last for times in pending.values())
        return dict(pending) if asked or idle >= settings.lazy_idle_threshold else {}
    return dict(pending) if head_moved else {}


def _is_due(times: ChangeTimes, now: float) -> bool:
    return now - times.last >= QUIET_SECONDS or now - times.first >= MAX_DELAY_SECONDS
