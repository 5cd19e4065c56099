from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.parsing.spans import CODE_SIZE, DOCS_SIZE, ChunkSize, Span, Text, make_chunks, split_text
from tests.examples import examples
from tests.parsing.passages import texts

SMALL = ChunkSize(size=20, overlap=6, separators=("\n\n", "\n", " "))
measures = st.sampled_from([CODE_SIZE, DOCS_SIZE, SMALL, ChunkSize(1, 0, ()), ChunkSize(7, 6, ("\n", " "))])


def pieces(text: str, chunk_size: ChunkSize = SMALL) -> list[str]:
    return [text[span.start : span.end] for span in split_text(text, chunk_size)]


def test_sizes_and_overlaps_are_those_of_the_specification() -> None:
    assert (CODE_SIZE.size, CODE_SIZE.overlap) == (4000, 800)
    assert (DOCS_SIZE.size, DOCS_SIZE.overlap) == (8000, 2000)


@examples(100, many=3000)
@given(texts, measures)
def test_nothing_is_lost_and_nothing_is_too_long(text: str, chunk_size: ChunkSize) -> None:
    spans = list(split_text(text, chunk_size))
    assert all(0 < span.end - span.start <= chunk_size.size for span in spans)
    assert (spans[0].start, spans[-1].end) == (0, len(text)) if text else spans == []
    for first, second in pairwise(spans):
        assert first.start < second.start <= first.end < second.end
        assert first.end - second.start <= chunk_size.overlap


def test_paragraphs_are_cut_before_lines_and_lines_before_words() -> None:
    assert pieces("one two six\n\nsix\nthree four")[0] == "one two six\n\n"
    assert pieces("one two three\nfour five six")[0] == "one two three\n"
    assert pieces("one two three four five six")[0] == "one two three four "


def test_paragraphs_of_windows_are_paragraphs() -> None:
    text = "one two\r\nsix\r\n\r\nseven\r\neight nine"
    assert pieces(text)[0] == "one two\r\nsix\r\n\r\n"


def test_a_sentence_ends_a_piece_of_prose_without_lines() -> None:
    text = "word " * 1500 + "end. " + "word " * 500
    assert text[: next(split_text(text, DOCS_SIZE)).end].endswith("end. ")


def test_neighbours_share_whole_lines_where_there_are_lines() -> None:
    text = "".join(f"line {number}\n" for number in range(1000))
    for _, second in pairwise(split_text(text, CODE_SIZE)):
        assert text[second.start - 1] == "\n"


def test_a_heading_before_a_long_block_is_no_piece_of_its_own() -> None:
    assert pieces("head\n\nline of text\nline of text\n")[0] == "head\n\nline of text\n"


class Watched(str):
    """A text that counts the characters that its searches may look at."""

    __slots__ = ("looked_at",)
    looked_at: int

    def rfind(self, *arguments: object) -> int:
        return self._search(super().rfind, arguments)

    def find(self, *arguments: object) -> int:
        return self._search(super().find, arguments)

    def _search(self, search: object, arguments: tuple[object, ...]) -> int:
        _, start, end = arguments
        assert isinstance(start, int)
        assert isinstance(end, int)
        assert callable(search)
        self.looked_at += max(0, end - start)
        found: int = search(*arguments)
        return found


@pytest.mark.parametrize(
    "pattern", ["x", "\n", "\n\n", " ", ". ", "x\n\n", "word ", "a. b\n", "é" * 3999 + "\n", "x" * 4001 + " "]
)
@pytest.mark.parametrize("chunk_size", [CODE_SIZE, DOCS_SIZE])
def test_twice_the_text_is_twice_the_work(pattern: str, chunk_size: ChunkSize) -> None:
    def work(length: int) -> int:
        text = Watched((pattern * (length // len(pattern) + 1))[:length])
        text.looked_at = 0
        list(split_text(text, chunk_size))
        return text.looked_at

    assert work(400_000) <= 2.2 * work(200_000)
    assert work(400_000) <= 400_000 * 40


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
