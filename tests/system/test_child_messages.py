import io
import struct

import pytest

from dowse.system.child_messages import MAX_DATA_BYTES, MAX_FIELDS_BYTES, read_message, write_message


def test_a_message_comes_back_as_it_was_written() -> None:
    stream = io.BytesIO()
    write_message(stream, {"path": "ä\ud800.py", "number": 1}, b"\x00\xff")
    write_message(stream, {})
    stream.seek(0)
    assert read_message(stream) == ({"path": "ä\ud800.py", "number": 1}, b"\x00\xff")
    assert read_message(stream) == ({}, b"")
    assert read_message(stream) is None


def test_a_message_that_was_cut_off_is_none() -> None:
    for length in (0, 1, 15, 16, 20, 23):
        stream = io.BytesIO()
        write_message(stream, {"a": 1}, b"x")
        assert read_message(io.BytesIO(stream.getvalue()[:length])) is None


def test_a_message_that_is_too_long_is_not_read() -> None:
    for lengths in ((MAX_FIELDS_BYTES + 1, 0), (2, MAX_DATA_BYTES + 1)):
        with pytest.raises(ValueError, match="too long"):
            read_message(io.BytesIO(struct.pack("<QQ", *lengths) + b"{}"))


def test_what_is_no_object_is_no_message() -> None:
    with pytest.raises(TypeError):
        read_message(io.BytesIO(struct.pack("<QQ", 2, 0) + b"[]"))
