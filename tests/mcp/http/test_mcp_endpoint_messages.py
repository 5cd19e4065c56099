"""Messages that are wrong get the protocol's error, and the next one is answered."""

import json

import pytest

from tests.mcp.http.http_server import HttpClient, HttpServer
from tests.mcp.stdio.stdio_client import NEWER, OLDER

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
UNSUPPORTED_VERSION, HEADER_MISMATCH = -32022, -32020


@pytest.fixture
def client(server: HttpServer, revision: str) -> HttpClient:
    return HttpClient(server, revision)


def test_what_is_no_json_is_a_parse_error(client: HttpClient) -> None:
    for body in [b"", b"{", b"[", b"{not json}", b"\xff\xfe\x00", b"\x00" * 100, b"{" * 100_000, b"NaN" * 9]:
        reply = client.post(body)
        assert reply.error == (400, PARSE_ERROR)
        assert reply.message["id"] is None


def test_an_id_that_is_none_is_an_invalid_request(client: HttpClient) -> None:
    numbers: list[object] = [None, True, 1.5, [], {}]
    for number in numbers:
        reply = client.post({**client.message("tools/list"), "id": number})
        assert reply.error == (400, INVALID_REQUEST)


def test_an_answer_has_the_id_of_its_request(client: HttpClient) -> None:
    for number in [0, -1, 2**53, "", "a", "\u00e9\U0001f34e", "x" * 10_000]:
        answer = client.post({**client.message("tools/list"), "id": number}).message
        assert (type(answer["id"]), answer["id"]) == (type(number), number)
        assert answer["result"]["tools"]


def test_an_unknown_version_is_named_with_those_that_are_known(server: HttpServer) -> None:
    for version in ["1999-01-01", "2026-07-29", "9999-99-99", "newest", "2026-07-28 "[:-1] + "x", "\u00e9"]:
        client = HttpClient(server, NEWER)
        message = client.message("tools/list")
        message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = version
        reply = server.post(message, **{**client.headers_for(message), "MCP_Protocol_Version": version})
        assert reply.error == (400, UNSUPPORTED_VERSION)
        assert NEWER in reply.message["error"]["data"]["supported"]


def test_a_handshake_for_an_unknown_version_offers_one_that_is_known(server: HttpServer) -> None:
    parameters = {"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    reply = server.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters})
    assert reply.message["result"]["protocolVersion"] == OLDER


def test_headers_that_belie_the_message_are_refused(server: HttpServer) -> None:
    client = HttpClient(server, NEWER)
    message = client.message("tools/call", name="search_code", arguments={"query": "x"})
    reply = server.post(message, **{**client.headers_for(message), "Mcp_Name": "get_index_status"})
    assert reply.error == (400, HEADER_MISMATCH)


def test_a_session_that_nobody_has_is_not_found(server: HttpServer) -> None:
    for session in ["no-such-session", "", "0" * 32, "../..", "\u00e9", "x" * 10_000]:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        for method in ("POST", "GET", "DELETE"):
            reply = server.send_request(
                method, "/mcp", json.dumps(message).encode(), Content_Type="application/json",
                Accept="application/json, text/event-stream", Mcp_Session_Id=session,
            )  # fmt: skip
            assert reply.error == (404, INVALID_REQUEST)


def test_without_a_session_nothing_but_a_handshake_is_answered(server: HttpServer) -> None:
    reply = server.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
    assert reply.error == (400, INVALID_REQUEST)
    assert "mcp-session-id" not in reply.headers


def test_a_refused_handshake_names_no_session(server: HttpServer) -> None:
    """The SDK names the session that it has prepared, and which the next request would not find."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": OLDER}}
    for method, accept in (
        ("POST", "text/html"),
        ("GET", "text/html"),
        ("GET", "text/event-stream"),
        ("DELETE", "*/*"),
    ):
        reply = server.send_request(
            method, "/mcp", json.dumps(hello).encode(), Content_Type="application/json", Accept=accept
        )
        assert reply.status >= 400
        assert "mcp-session-id" not in reply.headers


def test_a_session_that_its_client_has_ended_is_not_found(server: HttpServer) -> None:
    client = HttpClient(server, OLDER)
    assert server.send_request("DELETE", "/mcp", **client.headers).status == 200
    assert client.send_request("tools/list").status == 404


def test_an_id_is_used_for_one_request_at_a_time(server: HttpServer) -> None:
    """The SDK gave the second request the stream of the first, whose client then waited for ever."""
    client = HttpClient(server, OLDER, can_ask=True)
    message = client.message("tools/call", name="delete_index", arguments={})
    with client.start(message) as connection:
        assert b"elicitation/create" in next(connection.body_parts(connection.read_head().headers))
        assert client.post({**message, "id": str(message["id"])}).error == (400, INVALID_REQUEST)
    other = HttpClient(server, OLDER)
    assert "result" in other.post({**other.message("tools/list"), "id": message["id"]}).message


@pytest.mark.parametrize("text", ["half \\ud83d of it", "\\uD83D\\uDE00", "\\u0000", "e\\u0301"])
def test_any_text_that_json_can_hold_can_be_searched_for(client: HttpClient, text: str) -> None:
    message = json.dumps(client.message("tools/call", name="search_code", arguments={"query": "TEXT"}))
    headers = client.headers_for(json.loads(message))
    client.headers = {**client.headers, **headers}
    reply = client.post(message.replace("TEXT", f"peel_apple {text}").encode())
    assert reply.message["result"]["structuredContent"]["totalResults"] == 1


def test_a_notification_gets_no_answer(client: HttpClient) -> None:
    reply = client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}})
    assert (reply.status, reply.body) == (202, b"")


def test_an_answer_to_a_question_that_nobody_asked_harms_nobody(client: HttpClient) -> None:
    reply = client.post({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}})
    assert reply.status in (202, 400)


def test_a_client_that_takes_no_answer_gets_none(server: HttpServer, revision: str) -> None:
    for accept in ["text/html", "", "application/json;q=0, image/png"]:
        client = HttpClient(server, revision)
        message = client.message("tools/list")
        assert server.post(message, **{**client.headers_for(message), "Accept": accept}).status == 406
