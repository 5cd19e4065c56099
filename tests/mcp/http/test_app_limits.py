"""Limits: slow, large, numerous or vanished clients do not keep the server from serving others."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.mcp.http.access import is_loopback
from tests.mcp.http.conftest import TOKEN
from tests.mcp.http.http_server import ACCEPT, Connection, HttpClient, HttpServer, encode_request
from tests.mcp.stdio.stdio_client import CLIENT, NEWER, OLDER, PATIENCE_SECONDS, wait_until

SECONDS = 1.0
"""The time limits of the server in these tests."""
MAX_BODY_BYTES = 4 * 1024 * 1024
CONNECTIONS = 30
SESSIONS = 3
HEALTH = "GET /health HTTP/1.1\r\nHost: {}\r\n\r\n"


@pytest.fixture(scope="module")
def impatient(fruit: Path) -> Iterator[HttpServer]:
    """A server with short time limits."""
    constants = {
        "dowse.mcp.http.mcp_endpoint.BODY_SECONDS": SECONDS,
        "dowse.mcp.http.app.REQUEST_HEAD_SECONDS": SECONDS,
        "dowse.mcp.http.app.REPLY_READ_SECONDS": SECONDS,
        "dowse.mcp.http.app.KEEP_ALIVE_SECONDS": SECONDS,
        "dowse.mcp.http.app.MAX_CONNECTIONS": CONNECTIONS,
        "dowse.mcp.http.mcp_endpoint.MAX_BODIES_BYTES": MAX_BODY_BYTES + 1,
        "dowse.mcp.http.mcp_endpoint.MAX_SESSIONS": SESSIONS,
    }
    with HttpServer(fruit, constants=constants, home=fruit.parent) as server:
        yield server
        assert "Traceback" not in server.stderr


@pytest.fixture
def server(impatient: HttpServer) -> Iterator[HttpServer]:
    """The server with short limits; after the test it must still answer."""
    yield impatient
    impatient.assert_serves()


def head(server: HttpServer, *more: str, method: str = "POST") -> bytes:
    lines = [f"{method} /mcp HTTP/1.1", f"Host: {server.name}", "Content-Type: application/json", f"Accept: {ACCEPT}"]
    return "\r\n".join([*lines, f"MCP-Protocol-Version: {NEWER}", *more, "", ""]).encode()


def drip(connection: socket.socket, byte: bytes, stop: threading.Event) -> threading.Thread:
    """Send a byte again and again."""

    def send() -> None:
        try:
            while not stop.wait(0.05):
                connection.sendall(byte)
        except OSError:
            pass

    thread = threading.Thread(target=send)
    thread.start()
    return thread


# Slow clients


def test_a_head_that_does_not_come_is_not_waited_for(server: HttpServer) -> None:
    for first in (b"", b"P", b"POST /mcp HTTP/1.1\r\nHost: x\r\nX-Long: "):
        with server.connect() as connection:
            connection.send(first)
            assert connection.is_closed()


def test_a_head_that_comes_letter_by_letter_is_not_waited_for(server: HttpServer) -> None:
    stop = threading.Event()
    with server.connect() as connection:
        connection.send(b"POST /mcp HTTP/1.1\r\nX-Long: ")
        thread = drip(connection.socket, b"x", stop)
        assert connection.is_closed()
        stop.set()
        thread.join()


def test_a_body_that_does_not_come_is_not_waited_for(server: HttpServer) -> None:
    for method in ("POST", "GET", "DELETE"):
        assert server.send_bytes(head(server, "Content-Length: 100", method=method), b"{").error == (408, -32600)


def test_a_body_that_never_ends_is_not_waited_for(server: HttpServer) -> None:
    for how, byte in (("Content-Length: 1000000", b" "), ("Transfer-Encoding: chunked", b"1\r\n \r\n")):
        stop = threading.Event()
        with server.connect() as connection:
            connection.send(head(server, how))
            thread = drip(connection.socket, byte, stop)
            assert connection.read_reply().status == 408
            assert connection.is_closed()
            stop.set()
            thread.join()


def test_a_connection_that_is_not_used_is_closed(server: HttpServer) -> None:
    with server.connect() as connection:
        connection.send(HEALTH.format(server.name).encode())
        assert connection.read_reply().status == 200
        assert connection.is_closed()


def test_a_reply_that_is_not_read_is_not_kept(server: HttpServer) -> None:
    client = HttpClient(server, NEWER)
    done = server.stderr.count("POST /mcp")
    message = {**client.message("tools/list"), "id": "x" * 3_000_000}
    named = {"Host": server.name, "Content-Type": "application/json", "Accept": ACCEPT, "Mcp-Method": "tools/list"}
    data = encode_request("POST", "/mcp", json.dumps(message).encode(), {**named, "MCP-Protocol-Version": NEWER})
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((server.host, server.port))
        connection.settimeout(5)
        sender = threading.Thread(target=lambda: send_until_closed(connection, data * 4))
        sender.start()
        wait_until(lambda: server.stderr.count("POST /mcp") > done)
        server.assert_serves()
        sender.join()


def send_until_closed(connected: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        connected.sendall(data)


# Large requests


def test_a_body_that_is_too_large_is_refused_by_its_length(server: HttpServer) -> None:
    """The body itself is not waited for; the server would answer 408."""
    for method, size in (("POST", MAX_BODY_BYTES + 1), ("POST", 10**19), ("GET", 100_000_000), ("DELETE", 100_000_000)):
        with server.connect() as connection:
            connection.send(head(server, f"Content-Length: {size}", method=method))
            assert connection.read_reply().error == (413, -32600)
            assert connection.is_closed()


def test_a_body_that_is_too_large_is_refused_by_its_end(server: HttpServer) -> None:
    part = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with server.connect() as connection:
        connection.send(head(server, "Transfer-Encoding: chunked"))
        send_until_closed(connection.socket, part * 80)
        assert connection.read_reply().error == (413, -32600)


def test_a_body_that_is_just_not_too_large_is_read(server: HttpServer) -> None:
    body = b" " * (MAX_BODY_BYTES - 1) + b"{"
    assert server.send_bytes(head(server, f"Content-Length: {len(body)}"), body).error == (400, -32700)


def test_bodies_that_are_too_large_together_are_refused(server: HttpServer) -> None:
    def statuses() -> set[int]:
        with server.connect() as one, server.connect() as other:
            for connection in (one, other):
                connection.send(head(server, f"Content-Length: {MAX_BODY_BYTES}"), b" " * (MAX_BODY_BYTES - 1))
            return {one.read_reply().status, other.read_reply().status}

    wait_until(lambda: statuses() == {408, 503})  # retried when the second body came too late


def test_too_many_headers_are_refused(server: HttpServer) -> None:
    for headers in (
        {f"X-{number}": "1" for number in range(2000)},
        {"X-Long": "x" * 100_000},
        {"Cookie": "x" * 33_000},
        {f"X-{number}": "1" for number in range(101)},
        {"x" * 40_000: "1"},
    ):
        with server.connect() as connection:
            send_until_closed(
                connection.socket, encode_request("GET", "/health", b"", {"Host": server.name, **headers})
            )
            assert connection.read_reply().status in (400, 431)


# Many requests


def test_more_connections_than_there_may_be_are_told_to_come_back(server: HttpServer) -> None:
    def is_full() -> bool:
        connections = [server.connect() for _ in range(CONNECTIONS)]
        try:
            return is_turned_away(server)
        finally:
            for connection in connections:
                connection.drop()

    wait_until(is_full)  # retried when the first connections were closed before the last was opened
    wait_until(lambda: not is_turned_away(server))


def is_turned_away(server: HttpServer) -> bool:
    """Return whether the next client gets a 503, or its connection is closed before that."""
    try:
        return server.send_bytes(HEALTH.format(server.name).encode()).status == 503
    except ConnectionError:
        return True


def test_more_sessions_than_there_may_be_are_refused_until_one_ends(server: HttpServer) -> None:
    clients = [HttpClient(server, OLDER) for _ in range(SESSIONS)]
    hello = clients[0].message("initialize", protocolVersion=OLDER, capabilities={}, clientInfo=CLIENT)
    assert server.post(hello).status == 503
    for client in clients:
        assert server.send_request("DELETE", "/mcp", **client.headers).status == 200
    HttpClient(server, OLDER)


def test_one_client_on_another_machine_cannot_take_all_connections(fruit: Path) -> None:
    outside = address_of_this_machine()
    constants = {"dowse.mcp.http.app.MAX_CLIENT_CONNECTIONS": 3}
    options = ("--http", "0.0.0.0:0", "--allow-remote")
    with HttpServer(fruit, options=options, constants=constants, home=fruit.parent, token=TOKEN) as server:
        connections = [Connection(socket.create_connection((outside, server.port))) for _ in range(3)]
        with Connection(socket.create_connection((outside, server.port), PATIENCE_SECONDS)) as connection:
            assert connection.read_reply().status == 503
        assert server.send_request("GET", "/health").status == 200
        for connection in connections:
            connection.drop()


def address_of_this_machine() -> str:
    """Return an address of this machine that is not loopback; finding the route sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))
            found = str(probe.getsockname()[0])
        except OSError:
            found = "127.0.0.1"
    if is_loopback(found):
        pytest.skip("needs an address that other machines could reach")
    return found


def test_requests_in_one_go_are_answered_one_after_the_other(server: HttpServer) -> None:
    client = HttpClient(server, NEWER)
    messages = [client.message("tools/list") for _ in range(5)]
    health = HEALTH.format(server.name).encode()
    data = b""
    for message in messages:
        body = json.dumps(message).encode()
        data += head(server, f"Content-Length: {len(body)}", "Mcp-Method: tools/list") + body + health
    with server.connect() as connection:
        connection.send(data)
        for message in messages:
            assert connection.read_reply().message["id"] == message["id"]
            assert b'"status":"ok"' in connection.read_reply().body


# Disconnects and invalid input


@pytest.mark.parametrize("sent", [b"", b"POST /mcp HT", b"body"], ids=["before", "in the head", "in the body"])
def test_a_client_that_goes_before_it_has_asked_is_no_matter(server: HttpServer, sent: bytes) -> None:
    logged = len(server.stderr)
    connection = server.connect()
    connection.send(sent if sent != b"body" else head(server, "Content-Length: 100") + b"{")
    connection.drop()
    if sent == b"body":
        wait_until(lambda: "POST /mcp 0" in server.stderr[logged:])


def test_what_is_no_http_is_refused(server: HttpServer) -> None:
    for data in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
        b"HELO x\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\0" * 99,
    ):
        with server.connect() as connection:
            connection.send(data, b"\r\n\r\n")
            assert connection.read_reply().status in (400, 421)
            assert connection.is_closed()


def test_two_lengths_are_not_believed(server: HttpServer) -> None:
    for lengths in (("Content-Length: 2", "Content-Length: 40"), ("Content-Length: -1",), ("Content-Length: 2, 3",)):
        assert server.send_bytes(head(server, *lengths), b"{}").status == 400
