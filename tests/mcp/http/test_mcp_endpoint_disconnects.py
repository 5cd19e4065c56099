"""A client that disconnects or cancels stops the work for its own request only."""

import contextlib
import os
import signal
from collections.abc import Iterator

import pytest

from tests.end_to_end.crash.project import make_project
from tests.mcp.http.http_server import HttpClient, HttpServer, parse_events
from tests.mcp.stdio.stdio_client import NEWER, OLDER, is_alive, wait_until

FILES = 600
"""Enough that indexing them takes longer than anything a test does meanwhile."""
SMALL = "small"
CANCELLED = -32800
NAMES = [f"orchard{number}" for number in range(5)]


@pytest.fixture(scope="module")
def orchards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server of projects that take a while to index, one for each test."""
    folder = tmp_path_factory.mktemp("orchards")
    roots = [make_project(folder / name, FILES) for name in NAMES] + [make_project(folder / SMALL, 6)]
    with HttpServer(*roots, home=folder) as server:
        yield server
        assert "Traceback" not in server.stderr


@pytest.fixture
def orchard(orchards: HttpServer, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a project that no other test has touched."""
    yield NAMES.pop()
    for worker in orchards.workers():
        with contextlib.suppress(ProcessLookupError):  # it may have ended just now
            os.kill(worker, signal.SIGCONT)


def test_a_client_that_vanishes_stops_its_indexing(orchards: HttpServer, orchard: str, revision: str) -> None:
    client = HttpClient(orchards, revision)
    connection, _, worker = client.suspend_indexing(project=orchard)
    connection.drop()
    wait_until(lambda: not is_alive(worker))
    assert client.call_tool("get_index_status", project=orchard)["status"] != "ready"


def test_a_client_that_cancels_stops_its_indexing_and_is_told_so(orchards: HttpServer, orchard: str) -> None:
    client = HttpClient(orchards, OLDER)
    connection, number, worker = client.suspend_indexing(project=orchard)
    with connection:
        client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        assert connection.last_message()["error"]["code"] == CANCELLED
        wait_until(lambda: not is_alive(worker))


def test_a_session_that_ends_stops_its_indexing(orchards: HttpServer, orchard: str) -> None:
    client = HttpClient(orchards, OLDER)
    connection, _, worker = client.suspend_indexing(project=orchard)
    with connection:
        assert orchards.send_request("DELETE", "/mcp", **client.headers).status == 200
        wait_until(lambda: not is_alive(worker))


def test_nobody_else_can_cancel_it(orchards: HttpServer, orchard: str) -> None:
    client = HttpClient(orchards, OLDER)
    connection, number, worker = client.suspend_indexing(project=orchard)
    with connection:
        for revision in (OLDER, NEWER):
            stranger = HttpClient(orchards, revision)
            stranger.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            stranger.post({**stranger.message("tools/list"), "id": number})
        assert is_alive(worker)
        os.kill(worker, signal.SIGCONT)
        assert connection.last_message()["result"]["structuredContent"]["status"] == "success"


def test_a_question_whose_client_has_gone_is_not_asked_any_more(orchards: HttpServer) -> None:
    """The call used to wait for an answer as long as the server ran."""
    client = HttpClient(orchards, OLDER, can_ask=True)
    message = client.message("tools/call", name="create_index", arguments={"project": SMALL})
    connection = client.start(message)
    question = next(parse_events(next(connection.body_parts(connection.read_head().headers))))
    assert question["method"] == "elicitation/create"
    connection.drop()
    wait_until(lambda: client.post({**message, "method": "ping"}).status == 200)  # the call's id is free again
    client.post({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {}}})
    assert client.call_tool("get_index_status", project=SMALL)["status"] == "not_found"
