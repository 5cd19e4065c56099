"""The card of a source: how far a run is, and what went wrong."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

from dowse.errors import Failed
from dowse.federation.federation_types import SourceStatus
from dowse.indexes.index_log import close_log, last_errors, open_log
from dowse.keeping.indexing_run import IndexingRun
from dowse.page.status_view import card_view
from dowse.system.child_process import ChildProcess
from dowse.types import Coverage

PLUM = SourceStatus("project", "project/plum", "ready", {"files": 10})


def test_a_run_says_how_far_it_is_and_a_failed_one_why() -> None:
    run = IndexingRun(Mock(spec=ChildProcess), done=3, total=10)
    growth = Coverage(3, 10, is_indexing=True, seconds_left=7)
    running = card_view(replace(PLUM, state="indexing", growth=growth), {}, run)
    assert '<progress aria-label="Indexed files" value="3" max="10"></progress>' in running
    assert "being indexed, 3 of 10 files, about 7 s left" in running
    assert "being indexed" in running
    assert "data-live" in running
    run.error = Failed("The disk is full.")
    run._ended.set()
    failed = card_view(PLUM, {"errors": ["2026-01-02 03:04:05,678: keeping fresh: <b>"]}, run)
    assert '<p class="warning">The disk is full.</p>' in failed
    assert "data-live" not in failed
    assert "Last errors (1)</summary><ul><li>2026-01-02 03:04:05,678: keeping fresh: &lt;b&gt;</li>" in failed


def test_the_last_errors_of_a_log_come_newest_first(tmp_path: Path) -> None:
    assert last_errors(tmp_path, 2) == []
    log = open_log(tmp_path)
    for number in range(3):
        log.error("problem %d", number)
        log.info("no ERROR here")
    close_log(tmp_path)
    assert [line.partition(": ")[2] for line in last_errors(tmp_path, 2)] == ["problem 2", "problem 1"]
