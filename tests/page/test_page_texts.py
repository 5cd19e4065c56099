"""Coloured text: whatever the parser process replies, the text stays the text."""

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from dowse.page.page_texts import paint
from tests.examples import examples

NUMBERS = st.lists(st.integers(-5, 20), max_size=12)
SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=4).map(
    lambda spans: [
        span for number, span in enumerate(sorted(spans)) if not number or span[0] >= sorted(spans)[number - 1][1]
    ]
)


def test_tokens_are_coloured_and_matches_marked_across_them() -> None:
    painted = paint("def f", [3, 1, 2, 0], [(1, 5)])
    assert painted == '<span class="k">d</span><mark><span class="k">ef</span></mark><mark> f</mark>'


@examples(50, many=2000)
@given(st.text(max_size=20), NUMBERS, SPANS)
def test_no_colours_or_marks_lose_text_or_add_tags_of_their_own(
    text: str, runs: list[int], marks: list[tuple[int, int]]
) -> None:
    painted = paint(text, runs, marks)
    tags = re.findall(r"<[^>]*>", painted)
    assert all(re.fullmatch(r'<span class="[a-z]">|</span>|<mark>|</mark>', tag) for tag in tags)
    assert html.unescape(re.sub(r"<[^>]*>", "", painted)) == html.unescape(html.escape(text))
