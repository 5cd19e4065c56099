"""Whatever happens to the files, what is found is there, and once it is quiet nothing is missing."""

import contextlib
import json
import time
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from tests.end_to_end.storm.file_operations import Storm
from tests.end_to_end.storm.index_comparison import difference, from_scratch, indexed
from tests.end_to_end.storm.search_thread import Search, Searcher, lies, stale_hits
from tests.end_to_end.storm.servers import Server

IN_FLIGHT_SECONDS = 3.0
"""Of a machine with much to do: a thread may have been told of a change and not yet have said so. What was
overlooked is found minutes later."""


def survive(
    folder: Path, seed: int, operations: int, pause_seconds: float = 0.05, count: int = 1, strategy: str = "realtime"
) -> None:
    """Change files in batches; after each the index equals a new one, and no search showed what was not there."""
    storm = Storm(folder / "project", folder / "elsewhere", seed)
    project = ProjectIndex(storm.root)
    project.update()
    project.close()
    settings = project.folder / "config.json"
    settings.write_text(json.dumps({"indexingStrategy": strategy}), encoding="utf-8")
    finish = storm.git_commit if strategy == "git" else lambda: None
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(storm.root)) for _ in range(count)]
        done = searches = 0
        while done < operations:
            made, asked = blow(storm, servers, operations - done, pause_seconds)
            done, searches = done + made, searches + len(asked)
            for server in servers:
                server.settle(storm.token(), finish)
            check(storm, asked, folder / "scratch", f"seed {seed}, after {done}")
        assert searches > operations / 10, "too few searches to prove anything"
        log = project.folder / "logs" / "dowse.log"
        told = log.read_text(encoding="utf-8") if log.exists() else ""
        assert "malformed" not in told + "".join(server.stderr for server in servers)


def blow(storm: Storm, servers: list[Server], most: int, pause_seconds: float) -> tuple[int, list[Search]]:
    """A part of the storm while every server is searched; how much was done, and what was asked."""
    with contextlib.ExitStack() as stack:
        searchers = [stack.enter_context(Searcher(server, storm, storm.dice.randrange(10**9))) for server in servers]
        made = storm.blow(most, pause_seconds)
    return made, [search for searcher in searchers for search in searcher.searches]


def check(storm: Storm, asked: list[Search], scratch: Path, when: str) -> None:
    """Nothing is missing, nothing was shown that was not there, nothing was said that was not true."""
    story = f"{when}: {[moment.name for moment in storm.moments]}"
    storm.files, wanted = storm.snapshot(), from_scratch(storm.root, scratch)
    deadline = time.monotonic() + IN_FLIGHT_SECONDS
    while (wrong := difference(held := indexed(storm.root), wanted)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not wrong, f"{wrong}, {story}"
    assert not (stale := stale_hits(asked, storm.moments, storm.files)), f"{stale}, {story}"
    files = {path: content for path, content in storm.files.items() if path in held}
    assert not (untrue := lies(asked, storm.moments, files)), f"{untrue}, {story}"
    storm.moments.clear()


def test_two_hundred_operations(tmp_path: Path) -> None:
    survive(tmp_path, seed=1, operations=200)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(10, 20))
def test_twenty_thousand_operations(tmp_path: Path, seed: int) -> None:
    survive(tmp_path, seed, operations=2000, pause_seconds=0.03)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_two_thousand_operations_with_four_servers(tmp_path: Path) -> None:
    survive(tmp_path, seed=20, operations=2000, count=4)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("strategy", ["lazy", "git"])
def test_a_thousand_operations_with_another_strategy(tmp_path: Path, strategy: str) -> None:
    survive(tmp_path, seed=21, operations=1000, strategy=strategy)
