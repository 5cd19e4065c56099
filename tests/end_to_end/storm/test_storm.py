"""Random file changes: hits always match the files, and once changes stop nothing is missing."""

import contextlib
import json
import os
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.end_to_end.storm.busy_machine import busy_machine
from tests.end_to_end.storm.file_operations import RandomOperations
from tests.end_to_end.storm.index_comparison import contents_from_scratch, difference, indexed_contents
from tests.end_to_end.storm.search_thread import Search, SearchThread, incomplete_replies, is_complete, stale_hits
from tests.end_to_end.storm.servers import Server
from tests.sample_data import open_indexed

OPERATIONS = int(os.environ.get("STORM_OPERATIONS", "20000"))
"""A thousand in each project; they take half a minute."""
FIRST_SEED = int(os.environ.get("STORM_SEED", "10"))
IN_FLIGHT_SECONDS = 3.0
"""On a busy machine a thread may have received a change and not yet have reported it. A missed change would
be found only minutes later."""


def survive(
    folder: Path,
    seed: int,
    operations: int,
    pause_seconds: float = 0.05,
    count: int = 1,
    strategy: str = "realtime",
    searches: int = 0,
    *,
    is_busy: bool = False,
) -> Counter[str]:
    """Change files in batches; after each the index equals a new one, and no search showed stale text.

    Go on until this many operations and searches were made, and more searches than a tenth of the operations, beside other
    programs if the machine `is_busy`; there go on for a while until a reply was complete. Return how many were, and how
    many named something as pending.
    """
    project_files = RandomOperations(folder / "project", folder / "outside", seed)
    project = open_indexed(project_files.root)
    project.close()
    settings = project.folder / "config.json"
    settings.write_text(json.dumps({"indexingStrategy": strategy}), encoding="utf-8")
    finish = project_files.git_commit if strategy == "git" else lambda: None
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(project_files.root)) for _ in range(count)]
        done, replies, searches = 0, Counter[str](), max(searches, operations // 10 + 1)
        while done < operations or replies.total() < searches or (is_busy and not replies["complete"] and done < 200):
            with busy_machine(folder) if is_busy else contextlib.nullcontext():
                left = operations - done if done < operations else 48
                made, batch = run_batch(project_files, servers, left, pause_seconds)
            done += made
            replies.update("complete" if is_complete(search) else "pending" for search in batch)
            for server in servers:
                server.settle(project_files.token(), finish)
            check(project_files, batch, folder / "scratch", f"seed {seed}, after {done}")
            print(f"{done} operations, replies: {dict(replies)}")
        log = project.folder / "logs" / "dowse.log"
        log_text = log.read_text(encoding="utf-8") if log.exists() else ""
        assert "malformed" not in log_text + "".join(server.stderr for server in servers)
    return replies


def run_batch(
    project_files: RandomOperations, servers: list[Server], max_count: int, pause_seconds: float
) -> tuple[int, list[Search]]:
    """Change files while every server is searched; return the number of operations and the searches."""
    with contextlib.ExitStack() as stack:
        search_threads = [
            stack.enter_context(SearchThread(server, project_files, project_files.rng.randrange(10**9)))
            for server in servers
        ]
        made = project_files.run_operations(max_count, pause_seconds)
    return made, [search for search_thread in search_threads for search in search_thread.searches]


def check(project_files: RandomOperations, searches: list[Search], scratch: Path, when: str) -> None:
    """Assert that nothing is missing, no hit was stale, and no reply wrongly claimed a complete index."""
    story = f"{when}: {[operation.name for operation in project_files.history]}"
    project_files.files, expected = project_files.snapshot(), contents_from_scratch(project_files.root, scratch)
    deadline = time.monotonic() + IN_FLIGHT_SECONDS
    while (
        wrong := difference(found := indexed_contents(project_files.root), expected)
    ) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not wrong, f"{wrong}, {story}"
    assert not (stale := stale_hits(searches, project_files.history, project_files.files)), f"{stale}, {story}"
    files = {path: content for path, content in project_files.files.items() if path in found}
    assert not (untrue := incomplete_replies(searches, project_files.history, files)), f"{untrue}, {story}"
    project_files.history.clear()


def test_fifty_operations(tmp_path: Path) -> None:
    survive(tmp_path, seed=1, operations=50)


def test_a_busy_machine_hides_no_change(tmp_path: Path) -> None:
    assert survive(tmp_path, seed=2, operations=12, is_busy=True)["complete"]


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_ten_thousand_searches_on_a_busy_machine(tmp_path: Path) -> None:
    replies = survive(tmp_path, seed=3, operations=100, pause_seconds=0.4, count=4, searches=10_000, is_busy=True)
    assert replies["complete"] > replies["pending"]


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + OPERATIONS // 1000))
def test_a_thousand_operations(tmp_path: Path, seed: int) -> None:
    survive(tmp_path, seed, operations=1000, pause_seconds=0.02)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_two_thousand_operations_with_four_servers(tmp_path: Path) -> None:
    survive(tmp_path, seed=20, operations=2000, count=4)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("strategy", ["lazy", "git"])
def test_a_thousand_operations_with_another_strategy(tmp_path: Path, strategy: str) -> None:
    survive(tmp_path, seed=21, operations=1000, strategy=strategy)
