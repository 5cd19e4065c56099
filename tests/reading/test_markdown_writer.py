"""Pieces of Markdown keep their kind, whatever text they contain."""

from hypothesis import example, given
from hypothesis import strategies as st

from dowse.reading.markdown_events import parse_markdown
from dowse.reading.markdown_writer import code_block, paragraph

lines = st.text(st.characters(exclude_categories=["Cs", "Cc"]))


@given(st.text(st.sampled_from("`~# a\n")))
def test_code_in_a_fence_is_one_block_of_code(code: str) -> None:
    blocks = [event for event, _ in parse_markdown(code_block(code)) if "Start" in event]
    assert blocks == [{"Start": {"CodeBlock": {"Fenced": ""}}}]


@given(st.lists(st.text(st.sampled_from("#>`~<=-a ")), min_size=1))
@example(["- #"])
def test_a_paragraph_makes_no_heading_code_or_html(texts: list[str]) -> None:
    source = paragraph("\n".join(text.strip() for text in texts))
    kinds = {
        next(iter(event["Start"]))
        for event, _ in parse_markdown(source)
        if isinstance(event, dict) and isinstance(event.get("Start"), dict)
    }
    assert not kinds & {"Heading", "CodeBlock", "HtmlBlock"}
