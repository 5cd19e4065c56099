from hypothesis import given
from hypothesis import strategies as st

from dowse.parsing.spans import Span, Text, make_chunks


def only_chunk(text: str) -> str:
    (chunk,) = make_chunks(Text(text), [Span(0, len(text))])
    return chunk.text


def test_blank_lines_around_a_span_are_not_part_of_its_chunk() -> None:
    assert only_chunk("\n  \n\tx = 1\n\ny = 2\n\n") == "\tx = 1\n\ny = 2"


def test_of_two_spans_that_are_one_without_white_space_one_is_left() -> None:
    text = Text("\n\none two\n\n")
    assert [one.text for one in make_chunks(text, [Span(0, 6), Span(1, 9), Span(2, 11)])] == ["one two"]


@given(st.text())
def test_characters_and_bytes_are_two_views_of_one_place(characters: str) -> None:
    text = Text(characters)
    places = text.byte_offsets(range(len(characters) + 1))
    assert places == {at: len(characters[:at].encode()) for at in range(len(characters) + 1)}
    assert text.character_offsets(places.values()) == {byte: at for at, byte in places.items()}


def test_a_byte_inside_a_character_stands_at_its_start() -> None:
    assert Text("a漢b").character_offsets([0, 1, 2, 3, 4, 5]) == {0: 0, 1: 1, 2: 1, 3: 1, 4: 2, 5: 3}
