"""Title, description and tags of Markdown."""

from hypothesis import given
from hypothesis import strategies as st

from dowse.reading.file_reading import read, read_document
from dowse.types import Reading

BADGES = "[![build](https://ci/badge.svg)](https://ci) ![logo](logo.png)"


def markdown(text: str, path: str = "docs/user-guide.md") -> Reading:
    return read(text.encode(), path, "markdown")


def test_title() -> None:
    for text, title in (
        ("---\ntitle: Stated\n---\n# Heading", "Stated"),
        ('+++\ntitle = "Stated"\n+++\n# Heading', "Stated"),
        ("---\ntitle: ''\n---\n# Heading", "Heading"),
        ("# Heading\n\n# Another", "Heading"),
        ("text\n\n# Heading", "Heading"),
        ("## Section\n\n# Heading", "Heading"),
        ("Heading\n=======\n", "Heading"),
        ("# Heading #\r\ntext", "Heading"),
        ("text\r\r# Heading\rmore", "Heading"),
        ("# The *quick* `brown` [fox](x)  **jumps**", "The quick brown fox jumps"),
        ("# ![logo](a.png) Project", "Project"),
        ("# ![Project](a.png)", "Project"),
        ("# <img src=x> Project", "Project"),
        ("# Install {#install}", "Install"),
        ("# Sets {a, b}", "Sets {a, b}"),
        ("# AT&amp;T \\*", "AT&T *"),
        ("#\n\n# Second", "Second"),
        ("```\n# comment\n```\n# Heading", "Heading"),
        ("```\r# comment\r```\r", "user-guide"),
        ("    # indented code", "user-guide"),
        ("<!-- # no -->\n\n# Heading", "Heading"),
        ('<h1 align="center">\n  <img src="x"> Pro&amp;ject\n</h1>\n\n# Install', "Pro&ject"),
        ("<!-- <h1>No</h1> -->\n\n# Heading", "Heading"),
        ("# Markdown\n\n<h1>HTML</h1>", "Markdown"),
        ("## Only a section", "user-guide"),
        ("#hashtag", "user-guide"),
        ("", "user-guide"),
        ("---\ntitle: [broken\n---\n\ntext", "user-guide"),
    ):
        assert markdown(text).title == title


def test_description() -> None:
    for text, description in (
        ("---\ndescription: Stated\n---\n# H\n\nParagraph.", "Stated"),
        ("---\ntitle: T\n---\nParagraph.", "Paragraph."),
        ("# H\n\nFirst\nparagraph.\n\nSecond.", "First paragraph."),
        ("# H\r\n\r\nFirst\r\nparagraph.\r\n", "First paragraph."),
        ("# H\r\rFirst\rparagraph.\r", "First paragraph."),
        ("Before.\n\n# H", "Before."),
        ("Setext\n===\n\nAfter.", "After."),
        (f"# H\n\n{BADGES}\n\nReal text.", "Real text."),
        ("# H\n\n![logo](a.png) with text", "with text"),
        ("# H\n\n<!-- comment -->\n\n<p>html</p>\n\nReal text.", "Real text."),
        ("# H\n\n```\ncode\n```\n\nReal text.", "Real text."),
        ("# H\n\n    code\n\nReal text.", "Real text."),
        ("# H\n\n| a |\n|---|\n| b |\n\nReal text.", "Real text."),
        ("# H\n\n- item\n- item\n\nReal text.", "Real text."),
        ("# H\n\n- only `item`\n- more", "only item"),
        ("# H\n\n1. loose\n\n2. items", "loose"),
        ("# H\n\n> [!NOTE]\n> Quoted.", "Quoted."),
        ("A *b* **c** `d` [e](f) <b>g</b> &amp; h[^1]<br>i\n\n[^1]: note", "A b c d e g & h i"),
        ("import Tabs from '@theme/Tabs'\n\n# H\n\nReal text.", "Real text."),
        ('# H\n\n{{Ref("a")}} {{Draft}}\n\n{% toc %}\n\n{{Real}} text.', "{{Real}} text."),
        ("import duties are high", "import duties are high"),
        ("# H", ""),
        ("", ""),
    ):
        assert markdown(text).description == description


def test_a_long_description_is_cut_at_a_word() -> None:
    description = markdown("word, " * 100).description
    assert description.endswith("word…")
    assert 130 < len(description) <= 150


def test_a_long_description_without_spaces_is_cut_too() -> None:
    assert markdown("語" * 500).description == "語" * 149 + "…"


def test_a_stated_description_is_one_line_of_the_same_length() -> None:
    description = markdown("---\ndescription: |\n  two\n  lines " + "more " * 100 + "\n---\n").description
    assert description.startswith("two lines more")
    assert len(description) <= 150


def test_tags_come_from_front_matter() -> None:
    assert markdown("---\ntags: [api, guide]\n---\n").tags == ("api", "guide")
    assert markdown("# None").tags == ()


def test_the_text_stays_verbatim_with_its_front_matter() -> None:
    text = "---\ntitle: T\n---\r\n# Héllo\rtext\n"
    reading = read(b"\xef\xbb\xbf" + text.encode(), "a.md", "markdown")
    assert (reading.text, reading.title, reading.text_start, reading.is_verbatim) == (text, "T", 3, True)


@given(st.text(alphabet="#[]()<>!`*_~|-=\\ \r\n\tab:/.&;\"'^"))
def test_any_mix_of_markup_is_markdown(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    assert all(1 <= link.line <= lines for link in markdown(text).links)


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
