"""JSON-RPC messages as lines of JSON.

Every line gets an answer, and every reply can be written. The SDK's own transport drops a line that it cannot parse,
so that the client waits forever, and fails when a reply contains a lone surrogate, as the name of a file that is not
UTF-8 does.
"""

import json
from typing import Any

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from dowse.errors import InvalidMessage


def parse_line(line: bytes) -> JSONRPCMessage:
    """Return the message in a line. Bytes and escapes that are not characters are replaced."""
    text = line.decode("utf-8-sig", "replace")
    try:
        return jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return _parse_repaired(text)


def format_line(message: JSONRPCMessage) -> bytes:
    """Return a message as one line. Lone surrogates become question marks."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        text = json.dumps(message.model_dump(by_alias=True, exclude_unset=True), ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace") + b"\n"


def _parse_repaired(text: str) -> JSONRPCMessage:
    """Return the message with lone surrogates replaced, which JavaScript leaves when it cuts a text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidMessage(_error_response(PARSE_ERROR, "This is not JSON.", None)) from None
    repaired = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    try:
        return jsonrpc_message_adapter.validate_json(repaired, by_name=False)
    except ValueError:
        raise InvalidMessage(_error_response(INVALID_REQUEST, "This is not a JSON-RPC message.", value)) from None


def _error_response(code: int, message: str, request: Any) -> JSONRPCError:
    """Return an error with the id of a request, if it has one; without a method the id may be one of our own."""
    found = request.get("id") if isinstance(request, dict) and "method" in request else None
    request_id = found if isinstance(found, str | int) and not isinstance(found, bool) else None
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))
