"""The reasons of a hit in a few words."""

from dowse.searching.explain import strongest_signals


def test_the_strongest_signals_come_first_in_at_most_five_words() -> None:
    signals = {
        "words: best chunk": 0.2,
        "words: best three": 0.1,
        "definition": 0.5,
        "meaning by table: best chunk": 0.1,
    }
    assert strongest_signals(signals) == "defines it, words, meaning"
    many = signals | {"whole name in the query": 0.3, "path words": 0.25, "named in the text": 0.26}
    assert strongest_signals(many) == "defines it, words, file name"


def test_a_penalty_is_no_reason() -> None:
    assert strongest_signals({"words: best chunk": 0.2, "test file": -0.1}) == "words"


def test_the_signals_of_a_title_count_with_those_of_the_text() -> None:
    assert strongest_signals({"title, path words": 0.2, "path words": 0.2, "words: best chunk": 0.3}) == "path, words"
