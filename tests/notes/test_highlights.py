"""The highlights of a document."""

from hypothesis import given
from hypothesis import strategies as st

from dowse.notes.highlights import find_highlights
from dowse.notes.notes_tokens import NotesTokenizer, tokenize_query
from dowse.text.query_syntax import parse_query

FILLER = "lorem ipsum dolor sit amet consectetur adipiscing elit " * 4


def shown(text: str, query: str, tokenizer: NotesTokenizer | None = None) -> list[str]:
    tokenizer = tokenizer or NotesTokenizer()
    question = tokenize_query(parse_query(query), tokenizer)
    return find_highlights(text, question, dict.fromkeys(question.positive, 1.0), tokenizer)


def test_a_short_text_is_shown_whole_and_once() -> None:
    assert shown("Python for Machine Learning", '+python "machine learning"') == ["Python for Machine Learning"]


def test_text_is_cut_at_whole_tokens_with_dots_and_keeps_its_case() -> None:
    (one,) = shown(f"{FILLER}The Needle here{FILLER}", "needle")
    assert one.startswith("...")
    assert one.endswith("...")
    assert "The Needle here" in one
    inner = one.removeprefix("...").removesuffix("...")
    assert set(inner.split()) <= set(f"{FILLER}The Needle here{FILLER}".split())
    assert len(inner) <= 6 + 2 * 30


def test_three_passages_at_most_and_no_two_alike() -> None:
    text = FILLER.join(["a needle again, "] * 9)
    assert len(shown(text, "needle")) <= 3
    assert len(set(shown(text, "needle"))) == len(shown(text, "needle"))
    assert len(shown(FILLER.join(f"needle number{n} " for n in range(9)), "needle")) == 3


def test_passages_show_every_word_before_one_again() -> None:
    text = FILLER.join(["red one", "red two", "red three", "green four", "blue five"])
    assert {word for one in shown(text, "red green blue") for word in one.split()} >= {"red", "green", "blue"}


def test_a_whole_phrase_comes_before_its_words_apart() -> None:
    text = FILLER.join(["learning about a machine", "the machine learning part", "machine", "learning"])
    assert "machine learning part" in shown(text, '"machine learning"')[0]


def test_a_word_inside_another_is_no_match() -> None:
    assert shown("concatenate the catalogue", "cat") == []


def test_a_token_without_end_is_cut() -> None:
    assert len(shown("a" * 100_000, "a" * 100_000)[0]) < 500


@given(st.lists(st.sampled_from(["Red", "grün", "x", "İi", "blue", ".", "\n", "-"]), max_size=60), st.booleans())
def test_a_highlight_is_a_slice_of_whole_tokens_with_a_match(words: list[str], lowercase: bool) -> None:
    tokenizer = NotesTokenizer(lowercase, 1)
    text = " ".join(words)
    for one in shown(text, "Red grün İi blue", tokenizer):
        inner = one.removeprefix("...").removesuffix("...")
        assert inner in text
        assert set(tokenizer.tokens(inner)) <= set(tokenizer.tokens(text))
        assert set(tokenizer.tokens(inner)) & set(tokenizer.tokens("Red grün İi blue"))
