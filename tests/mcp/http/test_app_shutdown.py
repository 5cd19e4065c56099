"""A signal stops the server and all its processes, cleanly and soon, whatever it is doing."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.end_to_end.crash.project import make_project
from tests.mcp.http.http_server import ACCEPT, CHUNKED, Connection, HttpClient, HttpServer, encode_request, with_hyphens
from tests.mcp.stdio.stdio_client import NEWER, OLDER, is_alive, wait_until

GRACE = {"dowse.mcp.http.app.GRACE_SECONDS": 1.0}
SOON_SECONDS = 30
"""Generous: the tests only check that nothing waits for ever."""


@pytest.fixture
def orchards(tmp_path: Path) -> list[Path]:
    """A project for each revision, which take a while to index."""
    return [make_project(tmp_path / revision, 600) for revision in (OLDER, NEWER)]


def open_stream(server: HttpServer) -> Connection:
    """Open the stream on which a client of the older protocol receives notifications."""
    client, connection = HttpClient(server, OLDER), server.connect()
    named = {"Host": server.name, "Accept": ACCEPT, **with_hyphens(client.headers)}
    connection.send(encode_request("GET", "/mcp", b"", named))
    assert connection.read_head().status == 200
    return connection


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_the_server_leaves_with_streams_open_and_says_nothing_of_it(root: Path, how: signal.Signals) -> None:
    with HttpServer(root, constants={"dowse.mcp.http.app.GRACE_SECONDS": 1000.0}) as server:
        streams = [open_stream(server) for _ in range(3)]
        idle = server.connect()
        began = time.monotonic()
        assert server.stop(how) == 0
        assert time.monotonic() - began < SOON_SECONDS  # a stream has no grace
        for connection in (*streams, idle):
            assert connection.is_closed()
            connection.drop()
        assert "Traceback" not in server.stderr
        assert "ERROR" not in server.stderr.upper()


def test_requests_that_go_on_are_cut_off_with_their_workers(orchards: list[Path]) -> None:
    with HttpServer(*orchards, constants=GRACE) as server:
        held = [HttpClient(server, root.name).suspend_indexing(project=root.name) for root in orchards]
        assert server.stop(signal.SIGTERM) == 0
        for connection, _, _ in held:
            with connection:
                assert list(connection.body_parts(CHUNKED)) is not None  # the stream has an end
        wait_until(lambda: not any(is_alive(worker) for _, _, worker in held))
        assert "Traceback" not in server.stderr


def test_requests_that_end_in_time_are_answered(orchards: list[Path]) -> None:
    with HttpServer(*orchards, constants={"dowse.mcp.http.app.GRACE_SECONDS": 60.0}) as server:
        held = [HttpClient(server, root.name).suspend_indexing(project=root.name) for root in orchards]
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refused(server))
        for connection, _, worker in held:
            os.kill(worker, signal.SIGCONT)
            with connection:
                assert connection.last_message()["result"]["structuredContent"]["status"] == "success"
        assert server.process.wait(SOON_SECONDS) == 0


def is_refused(server: HttpServer) -> bool:
    """Return whether the server refuses connections."""
    try:
        server.connect().drop()
    except OSError:
        return True
    return False


def test_an_open_question_does_not_hold_the_server(root: Path) -> None:
    with HttpServer(root, constants=GRACE) as server:
        client = HttpClient(server, OLDER, can_ask=True)
        connection = client.start(client.message("tools/call", name="create_index", arguments={}))
        assert b"elicitation/create" in next(connection.body_parts(connection.read_head().headers))
        assert server.stop(signal.SIGTERM) == 0
        connection.drop()
        assert "Traceback" not in server.stderr
