"""The indexing strategies: when pending paths are checked."""

from dataclasses import replace

from dowse.freshness.pending_paths import MAX_DELAY_SECONDS, QUIET_SECONDS, ChangeTimes, due_paths
from dowse.settings import Settings

REALTIME = Settings()
LAZY = replace(REALTIME, indexing_strategy="lazy", lazy_idle_threshold=30)
GIT = replace(REALTIME, indexing_strategy="git")


def test_nothing_pending_is_never_due() -> None:
    for settings in (REALTIME, LAZY, GIT):
        assert due_paths(settings, {}, 100.0, has_head_moved=True, is_searching=True) == {}


def test_realtime_waits_until_a_path_rests() -> None:
    pending = {"a.py": ChangeTimes(10.0, 10.0)}
    assert due_paths(REALTIME, pending, 10.0 + QUIET_SECONDS - 0.01) == {}
    assert due_paths(REALTIME, pending, 10.0 + QUIET_SECONDS) == pending


def test_a_path_that_never_rests_neither_starves_nor_delays_the_others() -> None:
    restless, resting = ChangeTimes(10.0, 12.9), ChangeTimes(10.0, 10.0)
    assert due_paths(REALTIME, {"log.txt": ChangeTimes(12.5, 12.9), "a.py": resting}, 13.0) == {"a.py": resting}
    assert due_paths(REALTIME, {"log.txt": restless}, 10.0 + MAX_DELAY_SECONDS) == {"log.txt": restless}
