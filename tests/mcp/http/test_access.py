"""Access control: requests need a known Host, an allowed Origin, and the token where one is set."""

import socket
from pathlib import Path

import pytest

from tests.mcp.http.conftest import TOKEN, start_shared_server
from tests.mcp.http.http_server import ACCEPT, HttpClient, HttpServer, encode_request
from tests.mcp.stdio.stdio_client import NEWER

ORIGIN = "https://example.org"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def with_port(server: HttpServer, host: str) -> str:
    return host.replace("PORT", str(server.port))


# Host


def test_a_request_that_calls_us_by_name_is_let_in(server: HttpServer) -> None:
    for host in (
        "127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT", "LocalHost:PORT", "127.0.0.1", "localhost:1",
        "search.example.org",
    ):  # fmt: skip
        assert server.send_request("GET", "/health", Host=with_port(server, host)).status == 200


def test_a_request_that_calls_us_otherwise_is_refused(server: HttpServer) -> None:
    for host in (
        "evil.example", "evil.example:PORT", "127.0.0.1.evil.example", "127.0.0.1.evil.example:PORT", "localhost.",
        "localhost.evil.example", "localhost@evil.example", "evil.example@localhost", "user:pass@127.0.0.1", "127.0.0.1:",
        "127.0.0.1:abc", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80:80", "127.0.0.2", "127.1", "0x7f.0.0.1",
        "2130706433", "0.0.0.0", "0", "[::1", "::1", "[::1]evil.example", "[::1].evil.example", "[::ffff:127.0.0.1]",
        "127.0.0.1/evil.example", "127.0.0.1?evil", "127.0.0.1#evil", "127.0.0.1\\evil", "127.0.0.1 evil", "127.0.0.1,evil",
        "", " ", "*", "null", "xn--lcalhost-4fb", "l\u00f6calhost", "127.0.0.1\u00a0", "search.example.org.evil.example",
    ):  # fmt: skip
        assert server.send_request("POST", "/mcp", b"{}", Host=with_port(server, host)).status in (400, 421)


def test_a_request_without_a_host_is_refused(server: HttpServer) -> None:
    assert server.send_bytes(b"GET /health HTTP/1.1\r\n\r\n").status == 400
    assert server.send_bytes(b"GET /health HTTP/1.0\r\n\r\n").status == 421


def test_a_request_with_two_hosts_is_refused(server: HttpServer) -> None:
    host = f"Host: {server.name}\r\n".encode()
    assert server.send_bytes(b"GET /health HTTP/1.1\r\n" + host + b"Host: evil.example\r\n\r\n").status == 400
    assert server.send_bytes(b"GET /health HTTP/1.0\r\n" + host + host + b"\r\n").status == 400


def test_a_target_that_is_not_a_path_is_refused(server: HttpServer) -> None:
    for target in ["http://evil.example/mcp", "http://127.0.0.1/mcp", "evil.example:80", "*", "mcp"]:
        assert server.send_request("POST", target, b"{}", Content_Type="application/json").status == 400


def test_with_allow_remote_any_name_is_ours_but_nothing_that_is_no_name(guarded: HttpServer) -> None:
    token = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.send_request("GET", "/health", Host="search.intern:8080", **token).status == 200
    assert guarded.send_request("GET", "/health", Host="<script>", **token).status == 421


# Origin


def test_our_own_page_and_a_named_one_may_ask(server: HttpServer) -> None:
    for origin in ["http://127.0.0.1:PORT", "https://127.0.0.1:PORT", ORIGIN]:
        client = HttpClient(server, NEWER, Origin=with_port(server, origin))
        assert "result" in client.call("tools/list")


def test_a_strange_page_may_not(server: HttpServer) -> None:
    for method in ("GET", "POST", "OPTIONS", "DELETE"):
        for origin in (
            "null", "", "https://evil.example", "http://127.0.0.1", "http://127.0.0.1:1", "http://localhost:PORT",
            "http://127.0.0.1:PORT.evil.example", "http://127.0.0.1.evil.example:PORT", "ftp://127.0.0.1:PORT",
            "http://127.0.0.1:PORT/", "http://example.org", "https://example.org:444", "https://example.org:443",
            "https://example.org.evil.example", "https://evilexample.org", "https://example.org/", "https://EXAMPLE.org",
            "https://example.org https://evil.example", "file://", "chrome-extension://abcdef",
        ):  # fmt: skip
            reply = server.send_request(method, "/mcp", Origin=with_port(server, origin))
            assert reply.status == 403
            assert not [name for name in reply.headers if name.startswith("access-control")]


def test_a_second_origin_does_not_hide_behind_a_named_one(server: HttpServer) -> None:
    head = f"GET /health HTTP/1.1\r\nHost: {server.name}\r\nOrigin: {ORIGIN}\r\nOrigin: https://evil.example\r\n\r\n"
    assert server.send_bytes(head.encode()).status == 403


# CORS


def test_a_named_page_can_read_why_it_was_refused(server: HttpServer) -> None:
    reply = server.send_request("POST", "/mcp", b"{", Origin=ORIGIN, Content_Type="application/json")
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (400, ORIGIN)


def test_nobody_else_gets_a_header_of_cors(server: HttpServer, guarded: HttpServer) -> None:
    own = f"http://{server.name}"
    for reply in (
        server.send_request("GET", "/health"),
        server.send_request("OPTIONS", "/mcp", Origin=own),
        guarded.send_request("GET", "/"),
    ):
        assert not [name for name in reply.headers if name.startswith("access-control")]


# The token


def test_the_token_opens_the_door(guarded: HttpServer) -> None:
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert "result" in HttpClient(guarded, NEWER, Authorization=f"{scheme} {TOKEN}").call("tools/list")


def test_nothing_else_does(guarded: HttpServer) -> None:
    for given in (
        None, "", "Bearer", "Bearer ", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Bearer {TOKEN.upper()}", TOKEN,
        f"Basic {TOKEN}", f"Token {TOKEN}", f"Bearer\u00a0{TOKEN}", "Bearer \u00e9\u00ff", f"Bearer {TOKEN} {TOKEN}",
        f"Bearer, {TOKEN}", f"Bearer {TOKEN[:8]}", "Bearer " + "x" * 20_000,
    ):  # fmt: skip
        headers = {"Authorization": given} if given is not None else {}
        reply = guarded.post(LIST, **headers)
        assert reply.error == (401, -32600)
        assert reply.headers["www-authenticate"] == "Bearer"


def test_there_is_no_way_around_the_door(guarded: HttpServer) -> None:
    for path in [f"/mcp?token={TOKEN}", f"/mcp?access_token={TOKEN}", "/%6dcp", "/mcp/", "//mcp", "/x"]:
        assert guarded.send_request("POST", path, b"{}", Content_Type="application/json").status == 401


def test_a_client_that_looks_for_a_way_to_get_a_token_is_told_that_there_is_none(guarded: HttpServer) -> None:
    assert guarded.send_request("GET", "/.well-known/oauth-protected-resource/mcp").status == 404


def test_a_token_is_in_no_log(guarded: HttpServer) -> None:
    guarded.post(LIST, Authorization="Bearer wrong-token-of-someone")
    assert TOKEN not in guarded.stderr
    assert "wrong-token" not in guarded.stderr


# Requests that run nothing


def test_a_form_of_a_web_page_runs_nothing(server: HttpServer) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None, "",
    "application/jsonx", "text/plain; application/json", "application/json, text/plain"):  # fmt: skip
        client = HttpClient(server, NEWER)
        message = client.message("tools/list")
        headers = {
            **client.headers_for(message),
            "Accept": ACCEPT,
            **({"Content_Type": kind} if kind is not None else {}),
        }
        with server.connect() as connection:
            named = {"Host": server.name, **{name.replace("_", "-"): value for name, value in headers.items()}}
            connection.send(encode_request("POST", "/mcp", str(message).encode(), named))
            assert connection.read_reply().error == (415, -32600)


def test_a_message_may_name_its_charset(server: HttpServer) -> None:
    client = HttpClient(server, NEWER)
    message = client.message("tools/list")
    headers = client.headers_for(message)
    assert server.post(message, **{**headers, "Content_Type": "Application/JSON; charset=utf-8"}).status == 200


def test_a_get_runs_nothing(server: HttpServer, revision: str) -> None:
    for path in ["/mcp", "/mcp?method=tools/list", "/mcp?jsonrpc=2.0&id=1&method=tools/list"]:
        reply = server.send_request("GET", path, Accept=ACCEPT, MCP_Protocol_Version=revision)
        assert reply.status in (400, 405)
        assert b"result" not in reply.body


def test_other_methods_are_refused(server: HttpServer) -> None:
    for method in ["HEAD", "PUT", "PATCH", "TRACE", "CONNECT", "PROPFIND", "post", "X" * 100]:
        with server.connect() as connection:
            connection.send(encode_request(method, "/mcp", b"", {"Host": server.name}))
            assert connection.read_head().status == 405


def test_other_paths_are_not_there(server: HttpServer) -> None:
    for path in ["/favicon.ico", "/mcp/x", "/../etc/passwd", "/%2e%2e/%00", "/health/../mcp", "/\u00ff"]:
        reply = server.send_request("GET", path)
        assert reply.status in (400, 404)
        assert b"passwd" not in reply.body


def test_a_websocket_is_refused(server: HttpServer) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Key": "x", "Sec_WebSocket_Version": "13"}
    assert server.send_request("GET", "/mcp", **headers).status in (400, 405, 406)


def test_nothing_that_is_asked_for_becomes_a_header(server: HttpServer) -> None:
    for path in (
        "/health%0d%0aSet-Cookie:%20a=b",
        "/mcp/%0d%0aLocation:%20http://evil.example/",
        "//evil.example/%0d%0a/",
    ):
        reply = server.send_request("GET", path)
        assert "set-cookie" not in reply.headers
        assert "evil" not in reply.headers.get("location", "").partition("%")[0]


def test_a_server_on_ipv6_answers_to_its_address(fruit: Path) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("needs IPv6")
    with start_shared_server(fruit, "--http", "[::1]:0") as server:
        assert server.url.startswith("http://[::1]:")
        server.assert_serves()
