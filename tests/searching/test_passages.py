"""Passages show the best lines, exactly as they are in the file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.line_numbers import line_starts
from dowse.searching.passages import MAX_LINES, Passage, holds_phrase, match_spans, merge_passages, select_passage
from dowse.text.analysis import terms_of
from dowse.types import StoredChunk, Symbol


def chunk(text: str, first: int, last: int, *symbols: Symbol) -> StoredChunk:
    """Return a chunk of whole lines of a text."""
    data = text.encode()
    edges = [*line_starts(data), len(data)]
    return StoredChunk(1, 1, 0, edges[first - 1], edges[last], first, last, b"", symbols, ("Outer",))


def passage(text: str, first: int, last: int, *words: str, symbols: tuple[Symbol, ...] = ()) -> Passage:
    return select_passage(text.encode(), chunk(text, first, last, *symbols), weights(*words), words)


def weights(*words: str) -> dict[str, float]:
    return {term: 1.0 for word in words for term in terms_of(word)}


LONG = "\n".join(f"line {number}" for number in range(1, 101)).replace("line 70", "the needle is here")


def test_the_passage_is_where_the_words_stand() -> None:
    found = passage(LONG, 1, 100, "needle")
    assert found.start_line <= 70 <= found.end_line
    assert found.end_line - found.start_line < MAX_LINES
    assert "the needle is here" in found.text


def test_a_short_chunk_is_shown_whole() -> None:
    found = passage("a\nb\nc", 1, 3, "b")
    assert (found.start_line, found.end_line, found.text) == (1, 3, "a\nb\nc")


def test_the_definition_of_what_is_asked_for_is_shown() -> None:
    text = "\n".join(["other stuff needle needle"] * 40 + ["def needle():", "    body"] + ["filler"] * 20)
    found = passage(text, 1, 62, "needle", symbols=(Symbol("needle", "function", 41),))
    assert found.start_line <= 41 <= found.end_line
    assert found.symbols == ("needle",)


def test_lines_of_equal_weight_are_equal_in_any_process() -> None:
    """A line's weight was the sum over a set, whose order differs between processes: of equal lines, any was shown."""
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett"]
    terms = {term: 0.1 for word in words for term in terms_of(word)} | {terms_of("needle")[0]: 1.0}
    text = LONG.replace("line 20", " ".join(words))
    assert select_passage(text.encode(), chunk(text, 1, 100), terms).start_line < 20


def test_blank_lines_do_not_begin_a_passage() -> None:
    assert passage("\n\n\nneedle\nmore", 1, 5, "needle").start_line == 4


def test_a_chunk_that_begins_within_a_line_is_shown_with_the_whole_line() -> None:
    data = b"first\nhalf a line and the needle\nlast"
    part = StoredChunk(1, 1, 0, 12, 22, 2, 2, b"", (), ())
    assert select_passage(data, part, weights("needle")).text == "half a line and the needle"


def test_passages_that_touch_become_one() -> None:
    lines = LONG.split("\n")
    parts = [
        Passage(first, last, "\n".join(lines[first - 1 : last]))
        for first, last in ((10, 12), (1, 3), (4, 5), (11, 15), (2, 2))
    ]
    found = merge_passages(parts)
    assert [(one.start_line, one.end_line) for one in found] == [(1, 5), (10, 15)]
    for one in found:
        assert one.text.split("\n") == lines[one.start_line - 1 : one.end_line]


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("the access token expires", "access token", True),
        ("the access\n  token expires", "Access Token", True),
        ("access the token", "access token", False),
        ("my_access token", "access token", False),
        ("accesstoken", "access token", False),
        ("anything", "...", False),
    ],
)
def test_a_phrase_is_its_words_in_order(text: str, phrase: str, expected: bool) -> None:
    assert holds_phrase(text, phrase) is expected


def test_matches_are_whole_words_also_by_their_parts() -> None:
    assert match_spans("x = getUserName(1)", weights("user")) == [(4, 15)]
    assert match_spans("nothing", weights("user")) == []


@given(st.text(alphabet="abé \n\r", max_size=60), st.integers(1, 30), st.integers(0, 30))
def test_any_chunk_of_any_text_gives_lines_of_it(text: str, first: int, length: int) -> None:
    lines = [line.decode() for line in text.encode().splitlines()] or [""]
    start = min(first, len(lines))
    found = passage(text, start, min(start + length, len(lines)), "a")
    assert found.text.split("\n") == lines[found.start_line - 1 : found.end_line]
