"""Messages as lines of JSON: whatever a client writes is taken or refused, and whatever we say can be written.

The SDK's own transport drops a line that it cannot read, so that a client waits for an answer that never
comes, and ends when a reply holds half a character, as the name of a file that is not UTF-8 does.
"""

import json
from typing import Any

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from dowse.errors import InvalidMessage


def parse_line(line: bytes) -> JSONRPCMessage:
    """The message in a line. Bytes and escapes that are no characters are replaced."""
    text = line.decode("utf-8-sig", "replace")
    try:
        return jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return _parse_repaired(text)


def format_line(message: JSONRPCMessage) -> bytes:
    """A message as one line. What is no character is written as a question mark."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        text = json.dumps(message.model_dump(by_alias=True, exclude_unset=True), ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace") + b"\n"


def _parse_repaired(text: str) -> JSONRPCMessage:
    """The message once more, with the halves of characters replaced that JavaScript makes when it cuts a text."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidMessage(_error_response(PARSE_ERROR, "This is not JSON.", None)) from None
    whole = json.dumps(given, ensure_ascii=False).encode("utf-8", "replace")
    try:
        return jsonrpc_message_adapter.validate_json(whole, by_name=False)
    except ValueError:
        raise InvalidMessage(_error_response(INVALID_REQUEST, "This is not a JSON-RPC message.", given)) from None


def _error_response(code: int, why: str, given: Any) -> JSONRPCError:
    """An error for the request that was given, or for nobody: an id without a method may be one of our own."""
    name = given.get("id") if isinstance(given, dict) and "method" in given else None
    named = name if isinstance(name, str | int) and not isinstance(name, bool) else None
    return JSONRPCError(jsonrpc="2.0", id=named, error=ErrorData(code=code, message=why))
