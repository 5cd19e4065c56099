"""A signal stops the server and all its processes, cleanly and soon, whatever it is doing."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.end_to_end.crash.project import make_project
from tests.http.http_server import ACCEPT, CHUNKED, Line, Served, Speaker, request, with_hyphens
from tests.mcp.stdio.stdio_client import NEWER, OLDER, is_alive, wait_until

GRACE = {"dowse.http.uvicorn_server.GRACE_SECONDS": 1.0}
SOON_SECONDS = 30
"""Generous: what is tested is that nothing waits for ever."""


@pytest.fixture
def orchards(tmp_path: Path) -> list[Path]:
    """A project for each revision, which take a while to index."""
    return [make_project(tmp_path / revision, 1000) for revision in (OLDER, NEWER)]


def open_stream(served: Served) -> Line:
    """Open the stream on which a client of the older protocol receives notifications."""
    speaker, line = Speaker(served, OLDER), served.connect()
    named = {"Host": served.name, "Accept": ACCEPT, **with_hyphens(speaker.headers)}
    line.send(request("GET", "/mcp", b"", named))
    assert line.begin().status == 200
    return line


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_the_server_leaves_with_streams_open_and_says_nothing_of_it(root: Path, how: signal.Signals) -> None:
    with Served(root, constants={"dowse.http.uvicorn_server.GRACE_SECONDS": 1000.0}) as served:
        lines = [open_stream(served) for _ in range(3)]
        idle = served.connect()
        began = time.monotonic()
        assert served.leave(how) == 0
        assert time.monotonic() - began < SOON_SECONDS  # a stream has no grace
        for line in (*lines, idle):
            assert line.is_closed()
            line.vanish()
        assert "Traceback" not in served.stderr
        assert "ERROR" not in served.stderr.upper()


def test_requests_that_go_on_are_cut_off_with_their_workers(orchards: list[Path]) -> None:
    with Served(*orchards, constants=GRACE) as served:
        held = [Speaker(served, root.name).index_and_hold(project=root.name) for root in orchards]
        assert served.leave(signal.SIGTERM) == 0
        for line, _, _ in held:
            with line:
                assert list(line.parts(CHUNKED)) is not None  # the stream has an end
        wait_until(lambda: not any(is_alive(worker) for _, _, worker in held))
        assert "Traceback" not in served.stderr


def test_requests_that_end_in_time_are_answered(orchards: list[Path]) -> None:
    with Served(*orchards, constants={"dowse.http.uvicorn_server.GRACE_SECONDS": 60.0}) as served:
        held = [Speaker(served, root.name).index_and_hold(project=root.name) for root in orchards]
        served.process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refused(served))
        for line, _, worker in held:
            os.kill(worker, signal.SIGCONT)
            with line:
                assert line.last_message()["result"]["structuredContent"]["status"] == "success"
        assert served.process.wait(SOON_SECONDS) == 0


def is_refused(served: Served) -> bool:
    """Return whether the server refuses connections."""
    try:
        served.connect().vanish()
    except OSError:
        return True
    return False


def test_an_open_question_does_not_hold_the_server(root: Path) -> None:
    with Served(root, constants=GRACE) as served:
        speaker = Speaker(served, OLDER, can_ask=True)
        line = speaker.start(speaker.message("tools/call", name="create_index", arguments={}))
        assert b"elicitation/create" in next(line.parts(line.begin().headers))
        assert served.leave(signal.SIGTERM) == 0
        line.vanish()
        assert "Traceback" not in served.stderr
