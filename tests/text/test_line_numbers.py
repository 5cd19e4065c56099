"""Line numbers as an editor shows them."""

from hypothesis import given
from hypothesis import strategies as st

from dowse.text.line_numbers import line_number_at, line_starts

TEXT = st.text(alphabet="ab\n\r\x0b\x0c\u2028é", max_size=40).map(str.encode)


def naive_line(data: bytes, offset: int) -> int:
    before = data[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if data[:offset].endswith(b"\r") and data[offset : offset + 1] == b"\n":
        return before.count(b"\n")
    return before.count(b"\n") + 1


@given(TEXT)
def test_every_offset_is_on_the_line_an_editor_shows(data: bytes) -> None:
    starts = line_starts(data)
    assert [line_number_at(starts, offset) for offset in range(len(data))] == [
        naive_line(data, offset) for offset in range(len(data))
    ]


def test_only_three_things_end_a_line() -> None:
    assert line_starts(b"a\x0bb\x0cc\xe2\x80\xa8d\x85e") == [0]
    assert line_starts(b"a\nb\r\nc\rd") == [0, 2, 5, 7]
    assert line_starts(b"") == [0]
    assert line_starts(b"a\n") == [0]
