"""A client that disconnects or cancels stops the work for its own request only."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.end_to_end.crash.project import make_project
from tests.http.http_server import Served, Speaker, parse_events
from tests.mcp.stdio.stdio_client import NEWER, OLDER, is_alive, wait_until

FILES = 1000
"""Enough that indexing them takes longer than anything a test does meanwhile."""
SMALL = "small"
CANCELLED = -32800
NAMES = [f"orchard{number}" for number in range(5)]


@pytest.fixture(scope="module")
def orchards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of projects that take a while to index, one for each test."""
    folder = tmp_path_factory.mktemp("orchards")
    roots = [make_project(folder / name, FILES) for name in NAMES] + [make_project(folder / SMALL, 6)]
    with Served(*roots, home=folder) as served:
        yield served
        assert "Traceback" not in served.stderr


@pytest.fixture
def orchard(orchards: Served, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a project that no other test has touched."""
    yield NAMES.pop()
    for worker in orchards.workers():
        os.kill(worker, signal.SIGCONT)


def test_a_client_that_vanishes_stops_its_indexing(orchards: Served, orchard: str, revision: str) -> None:
    speaker = Speaker(orchards, revision)
    line, _, worker = speaker.index_and_hold(project=orchard)
    line.vanish()
    wait_until(lambda: not is_alive(worker))
    assert speaker.use("get_index_status", project=orchard)["status"] != "ready"


def test_a_client_that_cancels_stops_its_indexing_and_is_told_so(orchards: Served, orchard: str) -> None:
    speaker = Speaker(orchards, OLDER)
    line, number, worker = speaker.index_and_hold(project=orchard)
    with line:
        speaker.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        assert line.last_message()["error"]["code"] == CANCELLED
        wait_until(lambda: not is_alive(worker))


def test_a_session_that_ends_stops_its_indexing(orchards: Served, orchard: str) -> None:
    speaker = Speaker(orchards, OLDER)
    line, _, worker = speaker.index_and_hold(project=orchard)
    with line:
        assert orchards.ask("DELETE", "/mcp", **speaker.headers).status == 200
        wait_until(lambda: not is_alive(worker))


def test_nobody_else_can_cancel_it(orchards: Served, orchard: str) -> None:
    speaker = Speaker(orchards, OLDER)
    line, number, worker = speaker.index_and_hold(project=orchard)
    with line:
        for revision in (OLDER, NEWER):
            stranger = Speaker(orchards, revision)
            stranger.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            stranger.post({**stranger.message("tools/list"), "id": number})
        assert is_alive(worker)
        os.kill(worker, signal.SIGCONT)
        assert line.last_message()["result"]["structuredContent"]["status"] == "success"


def test_a_question_whose_client_has_gone_is_not_asked_any_more(orchards: Served) -> None:
    """The call would have waited for an answer as long as the server ran."""
    speaker = Speaker(orchards, OLDER, can_ask=True)
    message = speaker.message("tools/call", name="create_index", arguments={"project": SMALL})
    line = speaker.start(message)
    asked = next(parse_events(next(line.parts(line.begin().headers))))
    assert asked["method"] == "elicitation/create"
    line.vanish()
    wait_until(lambda: speaker.post({**message, "method": "ping"}).status == 200)  # the call's id is free again
    speaker.post({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {}}})
    assert speaker.use("get_index_status", project=SMALL)["status"] == "not_found"
