"""Tests of finding words in a text and choosing the windows around them."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from dowse.text.analysis import folded_spans, is_folded
from dowse.text.excerpts import SHOWN_AGAIN, Splitting, Window, choose_windows, find_words, window_around

SPLITTING = Splitting(folded_spans, is_folded)
GROUPS = {"cafe": 0, "tea": 1, "cup": 2, "of": 3}
WEIGHTS = {0: 3.0, 1: 2.0, 2: 1.5, 3: 0.1}
TEXTS = st.lists(
    st.sampled_from(["cafe", "Café", "tea", "Teas", "cup", "of", "été", "green", "\n\n", "x" * 30]), max_size=120
).map(" ".join)


@given(TEXTS)
def test_words_are_found_as_splitting_the_whole_text_finds_them(text: str) -> None:
    expected = [(start, end, GROUPS[word]) for word, start, end in folded_spans(text) if word in GROUPS]
    found = list(find_words(text, GROUPS, SPLITTING))
    for group in GROUPS.values():  # of a frequent word, only the first places are promised
        mine = [place for place in found if place.group == group][:25]
        assert mine == [place for place in expected if place[2] == group][: len(mine)]
        assert len(mine) == min(25, sum(place[2] == group for place in expected))


@given(TEXTS, st.integers(1, 3))
def test_the_windows_are_those_that_weighing_every_window_gives(text: str, count: int) -> None:
    places = list(find_words(text, GROUPS, SPLITTING))[:50]
    cut = partial(window_around, text, before=20, after=40, in_paragraph=True)
    shown: set[int] = set()

    def groups(window: Window) -> set[int]:
        return {place.group for place in places if window[0] <= place.start and place.end <= window[1]}

    def weight(window: Window) -> float:
        return round(sum(WEIGHTS[group] * (SHOWN_AGAIN if group in shown else 1) for group in groups(window)), 6)

    windows = list(map(cut, places))
    for window in choose_windows(places, WEIGHTS, count, cut, reach=(20, 40)):
        assert weight(window) == max(map(weight, windows))
        windows = [other for other in windows if other[1] <= window[0] or other[0] >= window[1]]
        shown |= groups(window)


def test_a_passage_is_cut_between_sentences() -> None:
    text = "The first one is far away. It says: the needle is here. Then comes a third sentence that goes on for long."
    (place,) = find_words(text, {"needle": 0}, SPLITTING)
    start, end = window_around(text, place, 35, 30)
    assert text[start:end] == "It says: the needle is here."


def test_a_passage_without_the_end_of_a_sentence_is_cut_between_words() -> None:
    text = "one two three needle four five six"
    (place,) = find_words(text, {"needle": 0}, SPLITTING)
    start, end = window_around(text, place, 8, 8)
    assert text[start:end] == "three needle four"


def test_a_passage_does_not_begin_in_the_item_before() -> None:
    text = "- an item that is not meant\n- the needle\n- another item"
    (place,) = find_words(text, {"needle": 0}, SPLITTING)
    start, end = window_around(text, place, 20, 5)
    assert text[start:end] == "- the needle"
