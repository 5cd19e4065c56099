"""An index is one JSON object in UTF-8; anything else is refused with its reason."""

import pytest

from dowse.errors import NotASiteIndex
from dowse.sites.index_check import parse_index
from tests.sites.sample_sites import encoded, index


def test_a_mark_at_the_beginning_is_no_part_of_it() -> None:
    assert parse_index(b"\xef\xbb\xbf" + encoded(index()))["version"] == "3.0"


def test_what_is_no_index_is_said_to_be_none() -> None:
    for data, message in (
        (b"", "not JSON"),
        (b"[]", "not an object"),
        (b'{"pages": [1, 2}', "line 1 column 16"),
        (b'{"pages": [{"url": "/a"}]} x', "not JSON"),
        (b'{"pages": [{"url": "/a\nb"}]}', "not JSON"),
        (b'{\n"a": 1,\n"b": }', "line 3 column 6"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"pages": [' + b"[" * 200_000, "nested too deeply"),
        (b'{"pageCount": ' + b"9" * 10_000 + b"}", "thousands of digits"),
        ('{"version": "3.0"}'.encode("utf-16"), "not UTF-8"),
    ):
        with pytest.raises(NotASiteIndex, match=message):
            parse_index(data)
