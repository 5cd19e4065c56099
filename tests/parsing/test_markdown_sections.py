from hypothesis import given

from dowse.parsing.text_cutting import chunk
from dowse.types import Chunk
from tests.examples import examples
from tests.parsing.passages import assert_exact, assert_nothing_lost, texts

LONG = "A sentence of some length that says nothing. " * 15


def chunks_of(text: str) -> tuple[Chunk, ...]:
    return chunk(text, "markdown", "docs")[0]


@examples(100, many=3000)
@given(texts)
def test_every_text_is_cut_exactly_and_wholly(text: str) -> None:
    chunks, is_truncated = chunk(text, "markdown", "docs")
    assert_exact(text, chunks, longest=8000)
    if not is_truncated:
        assert_nothing_lost(text, chunks)


def test_a_section_carries_the_headings_above_it_and_its_own() -> None:
    text = f"# Guide\n\n{LONG}\n\n## Install\n\n{LONG}\n\n### Linux\n\n{LONG}\n\n## Use\n\n{LONG}\n"
    assert [one.headings for one in chunks_of(text)] == [
        ("Guide",),
        ("Guide", "Install"),
        ("Guide", "Install", "Linux"),
        ("Guide", "Use"),
    ]


def test_a_level_may_be_skipped() -> None:
    text = f"# A\n\n{LONG}\n\n#### B\n\n{LONG}\n\n## C\n\n{LONG}\n"
    assert [one.headings for one in chunks_of(text)] == [("A",), ("A", "B"), ("A", "C")]


def test_underlined_headings_are_headings() -> None:
    text = f"Title of\ntwo lines\n=====\n\n{LONG}\n\nPart\n----\n\n{LONG}\n"
    assert [one.headings for one in chunks_of(text)] == [("Title of two lines",), ("Title of two lines", "Part")]


def test_a_heading_is_what_a_reader_sees() -> None:
    (only,) = chunks_of("## The `walk` *of* [Ada](https://a.example) &amp; others {#walk}\n\ntext\n")
    assert only.headings == ("The walk of Ada & others",)


def test_a_hash_inside_fenced_code_or_a_quotation_is_no_heading() -> None:
    (only,) = chunks_of("# Real\n\n```sh\n# not one\n```\n\n> # nor this\n")
    assert only.headings == ("Real",)


def test_front_matter_is_text_and_no_heading() -> None:
    (only,) = chunks_of("---\ntitle: Ways\n# a comment\n---\n\n# Real\n\ntext\n")
    assert only.headings == ("Real",)
    assert only.text.startswith("---\ntitle: Ways")


def test_short_sections_share_a_chunk_that_names_them_all() -> None:
    glossary = "# Glossary\n\n" + "".join(f"## Term {number}\n\nIts meaning.\n\n" for number in range(8))
    (only,) = chunks_of(glossary)
    assert only.headings == ("Glossary", *(f"Term {number}" for number in range(8)))


def test_a_short_section_is_not_joined_to_the_next_chapter() -> None:
    text = f"# A\n\n## A1\n\n{LONG * 3}\n\n## A2\n\nshort\n\n# B\n\nshort\n"
    assert [one.headings for one in chunks_of(text)][-2:] == [("A", "A2"), ("B",)]


def test_a_bare_heading_goes_with_its_first_subsection() -> None:
    chunks = chunks_of(f"# A\n\n## A1\n\n{LONG * 3}\n\n## A2\n\n{LONG}\n")
    assert chunks[0].text.startswith("# A\n\n## A1\n\nA sentence")
    assert [one.headings for one in chunks] == [("A", "A1"), ("A", "A1"), ("A", "A2")]


def test_joined_sections_stay_under_the_target() -> None:
    text = "".join(f"## Part {number}\n\n{LONG[:300]}\n\n" for number in range(40))
    chunks = chunks_of(text)
    assert all(600 < len(one.text) <= 1500 for one in chunks)


def test_a_long_section_is_cut_between_paragraphs_and_keeps_its_headings() -> None:
    paragraphs = [f"Paragraph {number}. {LONG}" for number in range(10)]
    chunks = chunks_of("# Long\n\n" + "\n\n".join(paragraphs))
    assert len(chunks) > 3
    assert all(one.headings == ("Long",) for one in chunks)
    assert all(one.text.startswith(("# Long", "Paragraph")) for one in chunks)


def test_code_is_not_cut_where_it_fits() -> None:
    fence = "```python\n" + "x = 1\n\n" * 150 + "```"
    chunks = chunks_of(f"# Long\n\n{LONG}\n\n{LONG}\n\n{fence}\n\n{LONG}\n")
    assert any(fence in one.text for one in chunks)


def test_a_heading_is_never_a_chunk_of_its_own_before_a_long_list() -> None:
    text = "# List\n\n" + "".join(f"- item {number}, which is described here at some length\n" for number in range(99))
    first = chunks_of(text)[0]
    assert first.text.startswith("# List\n\n- item 0")
