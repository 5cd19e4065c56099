"""Tests of finding words in a text and choosing the windows around them."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from dowse.text.analysis import folded_spans, is_folded
from dowse.text.excerpts import Splitting, Window, choose_windows, find_words, window_around

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

    def weight(window: Window) -> float:
        return sum(WEIGHTS[group] for group in {p.group for p in places if window[0] <= p.start and p.end <= window[1]})

    chosen = choose_windows(places, WEIGHTS, count, cut, reach=(20, 40))
    expected: list[Window] = []
    for window in sorted(map(cut, places), key=lambda window: (-round(weight(window), 6), window[0])):
        if len(expected) < count and all(window[1] <= other[0] or window[0] >= other[1] for other in expected):
            expected.append(window)
    assert [round(weight(window), 6) for window in chosen] == [round(weight(window), 6) for window in expected]
