"""Limits: slow, large, numerous or vanished clients do not keep the server from serving others."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.http.rate_limit import is_loopback
from tests.http.conftest import TOKEN
from tests.http.http_server import ACCEPT, Line, Served, Speaker, request
from tests.mcp.stdio.stdio_client import CLIENT, NEWER, OLDER, PATIENCE_SECONDS, wait_until

SECONDS = 1.0
"""The patience of the server in these tests."""
MAX_BODY_BYTES = 4 * 1024 * 1024
CONNECTIONS = 30
SESSIONS = 3
HEALTH = "GET /health HTTP/1.1\r\nHost: {}\r\n\r\n"


@pytest.fixture(scope="module")
def impatient(fruit: Path) -> Iterator[Served]:
    """A server with short time limits."""
    constants = {
        "dowse.http.mcp_endpoint.BODY_SECONDS": SECONDS,
        "dowse.http.uvicorn_server.REQUEST_HEAD_SECONDS": SECONDS,
        "dowse.http.uvicorn_server.REPLY_READ_SECONDS": SECONDS,
        "dowse.http.uvicorn_server.KEEP_ALIVE_SECONDS": SECONDS,
        "dowse.http.uvicorn_server.MAX_CONNECTIONS": CONNECTIONS,
        "dowse.http.mcp_endpoint.MAX_BODIES_BYTES": MAX_BODY_BYTES + 1,
        "dowse.http.mcp_endpoint.MAX_SESSIONS": SESSIONS,
    }
    with Served(fruit, constants=constants, home=fruit.parent) as served:
        yield served
        assert "Traceback" not in served.stderr


@pytest.fixture
def served(impatient: Served) -> Iterator[Served]:
    """The server with short limits; after the test it must still answer."""
    yield impatient
    impatient.assert_serves()


def head(served: Served, *more: str, method: str = "POST") -> bytes:
    lines = [f"{method} /mcp HTTP/1.1", f"Host: {served.name}", "Content-Type: application/json", f"Accept: {ACCEPT}"]
    return "\r\n".join([*lines, f"MCP-Protocol-Version: {NEWER}", *more, "", ""]).encode()


def drip(line: socket.socket, byte: bytes, stop: threading.Event) -> threading.Thread:
    """Send a byte again and again."""

    def send() -> None:
        try:
            while not stop.wait(0.05):
                line.sendall(byte)
        except OSError:
            pass

    thread = threading.Thread(target=send)
    thread.start()
    return thread


# Slow


@pytest.mark.parametrize(
    "first", [b"", b"P", b"POST /mcp HTTP/1.1\r\nHost: x\r\nX-Long: "], ids=["nothing", "a letter", "half"]
)
def test_a_head_that_does_not_come_is_not_waited_for(served: Served, first: bytes) -> None:
    with served.connect() as line:
        line.send(first)
        assert line.is_closed()


def test_a_head_that_comes_letter_by_letter_is_not_waited_for(served: Served) -> None:
    stop = threading.Event()
    with served.connect() as line:
        line.send(b"POST /mcp HTTP/1.1\r\nX-Long: ")
        thread = drip(line.socket, b"x", stop)
        assert line.is_closed()
        stop.set()
        thread.join()


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_a_body_that_does_not_come_is_not_waited_for(served: Served, method: str) -> None:
    assert served.say(head(served, "Content-Length: 100", method=method), b"{").error == (408, -32600)


@pytest.mark.parametrize(
    ("how", "byte"), [("Content-Length: 1000000", b" "), ("Transfer-Encoding: chunked", b"1\r\n \r\n")]
)
def test_a_body_that_never_ends_is_not_waited_for(served: Served, how: str, byte: bytes) -> None:
    stop = threading.Event()
    with served.connect() as line:
        line.send(head(served, how))
        thread = drip(line.socket, byte, stop)
        assert line.reply().status == 408
        assert line.is_closed()
        stop.set()
        thread.join()


def test_a_connection_that_is_not_used_is_closed(served: Served) -> None:
    with served.connect() as line:
        line.send(HEALTH.format(served.name).encode())
        assert line.reply().status == 200
        assert line.is_closed()


def test_a_reply_that_is_not_read_is_not_kept(served: Served) -> None:
    speaker = Speaker(served, NEWER)
    done = served.stderr.count("POST /mcp")
    message = {**speaker.message("tools/list"), "id": "x" * 3_000_000}
    named = {"Host": served.name, "Content-Type": "application/json", "Accept": ACCEPT, "Mcp-Method": "tools/list"}
    asked = request("POST", "/mcp", json.dumps(message).encode(), {**named, "MCP-Protocol-Version": NEWER})
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect((served.host, served.port))
        deaf.settimeout(5)
        sender = threading.Thread(target=lambda: send_all_that_is_taken(deaf, asked * 4))
        sender.start()
        wait_until(lambda: served.stderr.count("POST /mcp") > done)
        served.assert_serves()
        sender.join()


def send_all_that_is_taken(connected: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        connected.sendall(data)


# Large


def test_a_body_that_is_too_large_is_refused_by_its_length(served: Served) -> None:
    body = b" " * (MAX_BODY_BYTES + 1)
    assert served.say(head(served, f"Content-Length: {len(body)}"), body).error == (413, -32600)


def test_a_body_that_is_too_large_is_refused_by_its_end(served: Served) -> None:
    part = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with served.connect() as line:
        line.send(head(served, "Transfer-Encoding: chunked"))
        send_all_that_is_taken(line.socket, part * 80)
        assert line.reply().error == (413, -32600)


def test_a_body_that_is_just_not_too_large_is_read(served: Served) -> None:
    body = b" " * (MAX_BODY_BYTES - 1) + b"{"
    assert served.say(head(served, f"Content-Length: {len(body)}"), body).error == (400, -32700)


def test_bodies_that_are_too_large_together_are_refused(served: Served) -> None:
    def statuses() -> set[int]:
        with served.connect() as one, served.connect() as other:
            for line in (one, other):
                line.send(head(served, f"Content-Length: {MAX_BODY_BYTES}"), b" " * (MAX_BODY_BYTES - 1))
            return {one.reply().status, other.reply().status}

    wait_until(lambda: statuses() == {408, 503})  # again, where the first took too long before the second came


@pytest.mark.parametrize(
    "headers",
    [
        {f"X-{number}": "1" for number in range(2000)},
        {"X-Long": "x" * 100_000},
        {"Cookie": "x" * 33_000},
        {f"X-{number}": "1" for number in range(101)},
        {"x" * 40_000: "1"},
    ],
    ids=["many", "long", "a cookie", "too many by a few", "a long name"],
)
def test_too_many_headers_are_refused(served: Served, headers: dict[str, str]) -> None:
    with served.connect() as line:
        send_all_that_is_taken(line.socket, request("GET", "/health", b"", {"Host": served.name, **headers}))
        assert line.reply().status in (400, 431)


def test_a_long_target_is_refused(served: Served) -> None:
    with served.connect() as line:
        send_all_that_is_taken(line.socket, request("GET", "/health?" + "x" * 100_000, b"", {"Host": served.name}))
        assert line.reply().status in (400, 431)


# Many


def test_more_connections_than_there_may_be_are_told_to_come_back(served: Served) -> None:
    def is_full() -> bool:
        lines = [served.connect() for _ in range(CONNECTIONS)]
        try:
            return is_turned_away(served)
        finally:
            for line in lines:
                line.vanish()

    wait_until(is_full)  # again, where the first were closed before the last came
    wait_until(lambda: not is_turned_away(served))


def is_turned_away(served: Served) -> bool:
    """Return whether the next client gets a 503, or its connection is closed before that."""
    try:
        return served.say(HEALTH.format(served.name).encode()).status == 503
    except ConnectionError:
        return True


def test_more_sessions_than_there_may_be_are_refused_until_one_ends(served: Served) -> None:
    speakers = [Speaker(served, OLDER) for _ in range(SESSIONS)]
    hello = speakers[0].message("initialize", protocolVersion=OLDER, capabilities={}, clientInfo=CLIENT)
    assert served.post(hello).status == 503
    for speaker in speakers:
        assert served.ask("DELETE", "/mcp", **speaker.headers).status == 200
    Speaker(served, OLDER)


def test_one_client_on_another_machine_cannot_take_all_connections(fruit: Path) -> None:
    outside = address_of_this_machine()
    constants = {"dowse.http.uvicorn_server.MAX_CLIENT_CONNECTIONS": 3}
    options = ("--http", "0.0.0.0:0", "--allow-remote")
    with Served(fruit, options=options, constants=constants, home=fruit.parent, token=TOKEN) as served:
        lines = [Line(socket.create_connection((outside, served.port))) for _ in range(3)]
        with Line(socket.create_connection((outside, served.port), PATIENCE_SECONDS)) as line:
            assert line.reply().status == 503
        assert served.ask("GET", "/health").status == 200
        for line in lines:
            line.vanish()


def address_of_this_machine() -> str:
    """Return an address of this machine that is not loopback; finding the route sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("198.51.100.1", 9))
            found = str(asking.getsockname()[0])
        except OSError:
            found = "127.0.0.1"
    if is_loopback(found):
        pytest.skip("needs an address that other machines could reach")
    return found


def test_requests_in_one_go_are_answered_one_after_the_other(served: Served) -> None:
    speaker = Speaker(served, NEWER)
    messages = [speaker.message("tools/list") for _ in range(5)]
    health = HEALTH.format(served.name).encode()
    asked = b""
    for message in messages:
        body = json.dumps(message).encode()
        asked += head(served, f"Content-Length: {len(body)}", "Mcp-Method: tools/list") + body + health
    with served.connect() as line:
        line.send(asked)
        for message in messages:
            assert line.reply().message["id"] == message["id"]
            assert b'"status":"ok"' in line.reply().body


# Gone


@pytest.mark.parametrize("sent", [b"", b"POST /mcp HT", b"body"], ids=["before", "in the head", "in the body"])
def test_a_client_that_goes_before_it_has_asked_is_no_matter(served: Served, sent: bytes) -> None:
    said = len(served.stderr)
    line = served.connect()
    line.send(sent if sent != b"body" else head(served, "Content-Length: 100") + b"{")
    line.vanish()
    if sent == b"body":
        wait_until(lambda: "POST /mcp 0" in served.stderr[said:])


def test_what_is_no_http_is_refused(served: Served) -> None:
    for said in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
        b"HELO x\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\0" * 99,
    ):
        with served.connect() as line:
            line.send(said, b"\r\n\r\n")
            assert line.reply().status in (400, 421)
            assert line.is_closed()


def test_two_lengths_are_not_believed(served: Served) -> None:
    for lengths in (("Content-Length: 2", "Content-Length: 40"), ("Content-Length: -1",), ("Content-Length: 2, 3",)):
        assert served.say(head(served, *lengths), b"{}").status == 400
