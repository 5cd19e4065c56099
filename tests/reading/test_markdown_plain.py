"""Title and description of plain text."""

from dowse.reading.file_reading import read, read_document
from dowse.types import Reading


def plain(text: str, path: str = "notes/memo.txt") -> Reading:
    return read_document(text.encode(), path)


def test_the_first_line_is_the_title_and_the_next_three_describe() -> None:
    for text, title, description in (
        ("Title\nsecond\nthird\nfourth\nfifth", "Title", "second third fourth"),
        ("  Title  \r\nsecond\r\n\r\nfourth\r\nfifth", "Title", "second fourth"),
        ("Title\rsecond\r\rfourth\rfifth", "Title", "second fourth"),
        ("Title", "Title", ""),
        ("Title\n", "Title", ""),
        ("", "memo.txt", ""),
        ("\nsecond", "memo.txt", "second"),
        ("   \nsecond", "memo.txt", "second"),
        ("# Not a heading", "# Not a heading", ""),
        ("=====\nTitle\n=====\n\nText.", "Title", "Text."),
        ("Title\n-----\nText.", "Title", "Text."),
        ("=====", "memo.txt", ""),
    ):
        reading = plain(text)
        assert (reading.title, reading.description) == (title, description)


def test_a_first_line_as_long_as_a_paragraph_is_cut() -> None:
    assert len(plain("word " * 100).title) <= 150


def test_a_long_description_is_cut() -> None:
    description = plain("Title\n" + "word " * 100).description
    assert description.endswith("word…")
    assert len(description) <= 150


def test_plain_text_has_no_links_and_stays_as_it_is() -> None:
    reading = plain("a\r\n[b](c) https://d.org\rend")
    assert (reading.text, reading.links, reading.is_verbatim) == ("a\r\n[b](c) https://d.org\rend", (), True)


def test_prose_in_other_markups_is_called_by_its_heading_and_code_by_its_file() -> None:
    for language, text, title in (
        ("rst", ".. _label:\r\n\r\nTitle\r\n=====\r\n\r\nText.", "Title"),
        ("rst", "=====\nTitle\n=====\n", "Title"),
        ("rst", "no title", "guide.x"),
        ("asciidoc", ":toc:\n= Title\ntext", "Title"),
        ("org", "#+title: Title\n* Heading", "Title"),
        ("textile", "h1. Title", "guide.x"),
        ("python", "Title\n=====", "guide.x"),
        ("html", "<title>Title</title>", "guide.x"),
    ):
        assert read(text.encode(), "docs/guide.x", language).title == title
