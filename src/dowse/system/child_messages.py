"""Messages between a process and its child processes, through stdin and stdout: JSON fields, followed by bytes.

When the stdin of a child ends, its parent is gone or needs it no more. The programs of child processes import this module
alone: `child_process` would have them load `subprocess`.
"""

import json
import os
import struct
from typing import IO, Any

MAX_FIELDS_BYTES = 16 * 1024 * 1024
MAX_DATA_BYTES = 64 * 1024 * 1024
"""A longer message is refused. The largest file is 20 MB, and a text of 10 million characters is the longest reply."""

EXIT_SECONDS = 5.0
"""How long a child may take to save its work after its stdin has ended."""

_LENGTHS = struct.Struct("<QQ")


def write_message(stream: IO[bytes], fields: dict[str, Any], data: bytes = b"") -> None:
    """Write one message and flush the stream."""
    write_encoded(stream, encode_fields(fields), data)


def encode_fields(fields: dict[str, Any]) -> bytes:
    """Return the fields of a message as bytes."""
    return json.dumps(fields, separators=(",", ":")).encode()


def is_too_long(encoded: bytes, data: bytes) -> bool:
    """Return whether `read_message` would refuse a message."""
    return len(encoded) > MAX_FIELDS_BYTES or len(data) > MAX_DATA_BYTES


def write_encoded(stream: IO[bytes], encoded: bytes, data: bytes) -> None:
    """Write one message whose fields are encoded, and flush the stream."""
    stream.write(_LENGTHS.pack(len(encoded), len(data)) + encoded)
    stream.write(data)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read one message; None at the end of the stream. Raise ValueError for a message that is too long or no message."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    fields_length, data_length = _LENGTHS.unpack(lengths)
    if fields_length > MAX_FIELDS_BYTES or data_length > MAX_DATA_BYTES:
        raise ValueError("the message is too long")
    encoded, data = stream.read(fields_length), stream.read(data_length)
    if len(encoded) < fields_length or len(data) < data_length:
        return None
    fields = json.loads(encoded)
    if not isinstance(fields, dict):
        raise TypeError("the message is not an object")
    return fields, data


def open_messages() -> tuple[IO[bytes], IO[bytes]]:
    """Return the streams of a child process: messages of its parent, and to it. Output of a library goes to stderr."""
    received, sent = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return received, sent
