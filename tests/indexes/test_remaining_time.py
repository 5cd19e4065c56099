"""How long indexing will take: from what the run has done so far."""

import time
from math import ceil
from pathlib import Path

import pytest

from dowse.indexes.remaining_time import format_seconds_left, indexing_seconds, record_start, seconds_left
from dowse.store.local import LocalStore


def test_the_rest_takes_as_long_as_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, store = time.time(), LocalStore(tmp_path, lambda _: None)
    monkeypatch.setattr(time, "time", lambda: now)
    assert seconds_left(store, 10, 100) is None
    record_start(store, 50)
    assert seconds_left(store, 50, 100) is None
    now += 10
    assert seconds_left(store, 50, 100) is None
    assert seconds_left(store, 60, 100) == 40
    assert seconds_left(store, 100, 100) is None
    store.close()


def test_a_run_that_has_just_begun_takes_as_long_as_the_sizes_of_its_files_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, store = time.time(), LocalStore(tmp_path, lambda _: None)
    monkeypatch.setattr(time, "time", lambda: now)
    sizes = [100_000] * 100
    record_start(store, 0, sizes)
    assert seconds_left(store, 0, 100) == ceil(indexing_seconds(sizes))
    now += 0.6 * indexing_seconds(sizes)
    assert seconds_left(store, 1, 100) is None
    store.close()


def test_a_time_is_shown_as_text() -> None:
    for seconds, text in ((None, ""), (0, ", about 1 s left"), (20, ", about 20 s left"), (600, ", about 10 min left")):
        assert format_seconds_left(seconds) == text
