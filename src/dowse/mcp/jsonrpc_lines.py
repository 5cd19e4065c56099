"""JSON-RPC messages as lines of JSON.

Every line gets an answer, and every reply can be written. The SDK's own transport drops a line that it cannot parse,
so that the client waits forever, and fails when a reply contains a lone surrogate, as the name of a file that is not
UTF-8 does.
"""

import codecs
import json
import re
from typing import Any, BinaryIO

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from dowse.errors import InvalidMessage

MAX_LINE_BYTES = 16 * 1024 * 1024
"""The longest line that is read. A document of a named index has at most 10 MB; quotes and line breaks make it longer."""
_EDGE_BYTES = 4096
_ID = rb'"id"\s*:\s*(0|-?[1-9]\d{0,17}|"[ !#-\[\]-~]{0,200}")\s*'
_FIRST_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + b",")
_LAST_ID = re.compile(_ID + rb"\}\s*\Z")
"""The id of a request, where the libraries of the protocol write it: among the first members, or as the last one."""


def read_message(file: BinaryIO) -> JSONRPCMessage | None:
    """Return the next message of a stream; None at its end. Raise InvalidMessage for a line that has none."""
    while line := file.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            raise InvalidMessage(_refuse_long_line(line[:_EDGE_BYTES], _skip_line(file, line)))
        if not line.isspace():
            return parse_line(line)
    return None


def _skip_line(file: BinaryIO, piece: bytes) -> bytes:
    """Read the rest of a line without keeping it; return its end."""
    end = piece[-_EDGE_BYTES:]
    while not piece.endswith(b"\n") and (piece := file.readline(1 << 20)):
        end = (end + piece)[-_EDGE_BYTES:]
    return end


def _refuse_long_line(start: bytes, end: bytes) -> JSONRPCError:
    found = _FIRST_ID.match(start) or _LAST_ID.search(end)
    request = {"method": "", "id": json.loads(found[1])} if found and b'"method"' in start + end else None
    message = f"The message is too long; the maximum is {MAX_LINE_BYTES:,} bytes."
    return _error_response(INVALID_REQUEST, message, request)


def parse_line(line: bytes) -> JSONRPCMessage:
    """Return the message in a line. Bytes and escapes that are not characters are replaced."""
    try:
        return jsonrpc_message_adapter.validate_json(line.removeprefix(codecs.BOM_UTF8), by_name=False)
    except ValueError:
        return _parse_repaired(line.decode("utf-8-sig", "replace"))


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
