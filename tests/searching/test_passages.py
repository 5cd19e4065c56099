"""The lines that are shown are those that matter, and exactly those of the file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.searching.passages import MAX_LINES, Lines, Passage, holds_phrase, matches_in, merged, passage_of
from dowse.store.analysis import terms_of
from dowse.types import StoredChunk, Symbol


def chunk(first: int, last: int, *symbols: Symbol) -> StoredChunk:
    return StoredChunk(1, 1, 0, 0, 0, first, last, b"", symbols, ("Outer",))


def weights(*words: str) -> dict[str, float]:
    return {term: 1.0 for word in words for term in terms_of(word)}


LONG = "\n".join(f"line {number}" for number in range(1, 101)).replace("line 70", "the needle is here")


def test_the_passage_is_where_the_words_stand() -> None:
    passage = passage_of(Lines(LONG), chunk(1, 100), weights("needle"))
    assert passage.start_line <= 70 <= passage.end_line
    assert passage.end_line - passage.start_line < MAX_LINES
    assert "the needle is here" in passage.text


def test_a_short_chunk_is_shown_whole() -> None:
    passage = passage_of(Lines("a\nb\nc"), chunk(1, 3), weights("b"))
    assert (passage.start_line, passage.end_line, passage.text) == (1, 3, "a\nb\nc")


def test_the_definition_of_what_is_asked_for_is_shown() -> None:
    text = "\n".join(["other stuff needle needle"] * 40 + ["def needle():", "    body"] + ["filler"] * 20)
    passage = passage_of(Lines(text), chunk(1, 62, Symbol("needle", "function", 41)), weights("needle"), ("needle",))
    assert passage.start_line <= 41 <= passage.end_line
    assert passage.symbols == ("needle",)


def test_blank_lines_do_not_begin_a_passage() -> None:
    passage = passage_of(Lines("\n\n\nneedle\nmore"), chunk(1, 5), weights("needle"))
    assert passage.start_line == 4


def test_passages_that_touch_become_one() -> None:
    lines = Lines(LONG)
    parts = [Passage(first, last, lines.text(first, last)) for first, last in ((10, 12), (1, 3), (4, 5), (11, 15))]
    assert [(one.start_line, one.end_line) for one in merged(lines, parts)] == [(1, 5), (10, 15)]
    assert merged(lines, parts)[0].text == lines.text(1, 5)


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
    assert matches_in("x = getUserName(1)", weights("user")) == [(4, 15)]
    assert matches_in("nothing", weights("user")) == []


@given(st.text(alphabet="ab \n\r", max_size=60), st.integers(1, 30), st.integers(1, 30))
def test_any_chunk_of_any_text_gives_lines_of_it(text: str, first: int, length: int) -> None:
    lines = Lines(text)
    start = min(first, len(lines))
    passage = passage_of(lines, chunk(start, min(start + length, len(lines))), weights("a"))
    assert passage.text == lines.text(passage.start_line, passage.end_line)
    assert passage.text in text
