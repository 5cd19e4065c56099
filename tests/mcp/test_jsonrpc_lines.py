"""JSON-RPC lines: every input is parsed or refused, and every output can be parsed."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from dowse.errors import InvalidMessage
from dowse.mcp.jsonrpc_lines import MAX_LINE_BYTES, format_line, parse_line, read_message
from tests.mcp.stdio.stdio_client import parse_message


def assert_parsed_or_refused(line: bytes) -> None:
    try:
        parse_line(line)
    except InvalidMessage as error:
        parse_message(format_line(error.refusal))


@given(st.binary())
def test_any_bytes_are_a_message_or_refused(line: bytes) -> None:
    assert_parsed_or_refused(line)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["id", "method", "params", "error", "é"]), inner),
)


@settings(max_examples=50)
@given(_JSON)
def test_any_json_is_a_message_or_refused(given: Any) -> None:
    assert_parsed_or_refused(json.dumps(given).encode())


@given(st.text(st.characters(codec=None)))
def test_whatever_is_said_is_one_line_that_can_be_read(text: str) -> None:
    line = format_line(JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": text}))
    assert line.count(b"\n") == 1
    read = parse_message(line)["result"]["text"]
    assert read == text.encode("utf-8", "replace").decode()


def test_half_a_character_does_not_stop_a_request() -> None:
    message = parse_line(b'{"jsonrpc": "2.0", "id": 1, "method": "find", "params": {"query": "half \\ud83d of it"}}')
    assert isinstance(message, JSONRPCRequest)
    assert message.params == {"query": "half ? of it"}


def test_a_mark_of_byte_order_or_a_carriage_return_is_no_matter() -> None:
    for line in (b'\xef\xbb\xbf{"jsonrpc": "2.0", "method": "hey"}', b'{"jsonrpc": "2.0", "method": "hey"}\r\n'):
        assert parse_line(line) == JSONRPCNotification(jsonrpc="2.0", method="hey")


def test_a_refusal_names_the_request_where_there_is_one() -> None:
    for line, code, named in (
        (b"{not json", PARSE_ERROR, None),
        (b"[" * 100_000, PARSE_ERROR, None),
        (b"[]", INVALID_REQUEST, None),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "tools/list"}', INVALID_REQUEST, 7),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": [1]}', INVALID_REQUEST, "a"),
        (b'{"jsonrpc": "1.0", "id": true, "method": "tools/list"}', INVALID_REQUEST, None),
    ):
        with pytest.raises(InvalidMessage) as caught:
            parse_line(line)
        assert (caught.value.refusal.error.code, caught.value.refusal.id) == (code, named)


def test_a_refused_reply_does_not_look_like_the_reply_to_a_request_of_the_same_id() -> None:
    with pytest.raises(InvalidMessage) as caught:
        parse_line(b'{"jsonrpc": "2.0", "id": 1, "result": "not an object"}')
    assert caught.value.refusal.id is None


# Lines that are too long

LONG = "x" * MAX_LINE_BYTES
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


def test_a_line_that_is_too_long_is_refused_and_the_next_one_is_read() -> None:
    for message, named in (
        ({"jsonrpc": "2.0", "id": 7, "method": "find", "params": {"query": LONG}}, 7),
        ({"id": "a-7", "jsonrpc": "2.0", "method": "find", "params": {"query": LONG}}, "a-7"),
        ({"method": "find", "params": {"query": LONG, "id": 3}, "jsonrpc": "2.0", "id": 7}, 7),
        ({"method": "find", "params": {"query": LONG, "id": 3}}, None),
        ({"jsonrpc": "2.0", "id": 7, "result": {"text": LONG}}, None),
        (LONG, None),
    ):
        file = io.BytesIO(json.dumps(message).encode() + b"\n \n" + PING)
        with pytest.raises(InvalidMessage) as caught:
            read_message(file)
        assert (caught.value.refusal.error.code, caught.value.refusal.id) == (INVALID_REQUEST, named)
        assert "too long" in caught.value.refusal.error.message
        assert read_message(file) == parse_line(PING)
        assert read_message(file) is None


def test_a_line_that_is_just_not_too_long_is_read_with_or_without_its_end() -> None:
    longest = PING[:-2] + b" " * (MAX_LINE_BYTES - len(PING)) + b"}\n"
    assert len(longest) == MAX_LINE_BYTES
    assert read_message(io.BytesIO(longest)) == read_message(io.BytesIO(longest[:-1])) == parse_line(PING)


def test_a_line_that_is_too_long_may_be_the_last() -> None:
    file = io.BytesIO(LONG.encode() * 2)
    with pytest.raises(InvalidMessage):
        read_message(file)
    assert read_message(file) is None
