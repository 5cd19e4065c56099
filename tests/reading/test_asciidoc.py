"""AsciiDoc becomes Markdown with a title, a description, tags and links."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.reading.file_reading import read_document
from dowse.types import Link, Reading


def adoc(source: str, path: str = "guide/intro.adoc") -> Reading:
    return read_document(source.encode(), path)


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("= Title\nA. Author <a@b.org>\nv1.0, 2024-01-01\n:toc:\n\n== Section", "Title"),
        ("// comment\n= Title", "Title"),
        ("[[id]]\n= The `code` and *more*", "The code and more"),
        (":name: World\n= Hello {name}", "Hello World"),
        ("Title\n=====\n\nSection\n-------\n", "Title"),
        ("= Title =\r\n\r\ntext\r\n", "Title"),
        ("\ufeff= Title", "Title"),
        ("---\ntitle: Stated\n---\n= Title", "Stated"),
        ("== Only a section", "Only a section"),
        ("----\n= code\n----\n\n= Title", "Title"),
        ("text", "intro"),
        ("", "intro"),
    ],
)
def test_title(source: str, title: str) -> None:
    assert adoc(source).title == title


@pytest.mark.parametrize(
    ("source", "description"),
    [
        ("= T\n:description: Stated \\\n  here\n\nText.", "Stated here"),
        ("= T\nAuthor\n\nThe *first*\nparagraph.\n\nSecond.", "The first paragraph."),
        ("= T\n\nimage::a.png[]\n\nText.", "Text."),
        ("= T", ""),
    ],
)
def test_description(source: str, description: str) -> None:
    assert adoc(source).description == description


def test_keywords_are_tags() -> None:
    assert adoc("= T\n:keywords: one, two words, one").tags == ("one", "two words")


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("= A\n\n== B\n\n=== C\n\n====== F", "# A\n\n## B\n\n### C\n\n###### F"),
        ("One\n===\n\nTwo\n---\n\nThree\n~~~~~", "# One\n\n## Two\n\n### Three"),
        ("two\nlines\n\nnext", "two\nlines\n\nnext"),
        ("[source,java]\n----\n== code\n\n|===\n----\n\ntext", "```java\n== code\n\n|===\n```\n\ntext"),
        ("[,ruby]\n----\na\n----", "```ruby\na\n```"),
        ("....\na *b*\n....", "```\na *b*\n```"),
        ("```py\nx\n```\n", "```py\nx\n```"),
        ("[source,sh]\n$ ls\n\ntext", "```sh\n$ ls\n```\n\ntext"),
        (" indented\n  code\n\ntext", "```\n indented\n  code\n```\n\ntext"),
        ("* a\n** b\nmore\n*** c\n* d", "- a\n   - b\n     more\n      - c\n- d"),
        (". a\n.. b\n. c", "1. a\n   1. b\n2. c"),
        (". a\n+\n----\ncode\n----\n\n. b", "1. a\n\n```\ncode\n```\n\n2. b"),
        ("term:: what\nother::\n  more", "- **term**: what\n- **other**: more"),
        ("<1> first\n<2> second", "1. first\n2. second"),
        ("NOTE: Mind it.", "**Note:** Mind it."),
        ("[TIP]\n====\nA tip.\n\nMore.\n====", "**Tip:** A tip.\n\nMore."),
        ("[TIP]\n====\n* a\n====\n\nText.", "**Tip:**\n\n- a\n\nText."),
        (".Title\n----\na\n----", "**Title**\n\n```\na\n```"),
        ("////\nno\n////\n// no\ntext", "text"),
        ("++++\n<script>no()</script>\n++++\n\ntext", "text"),
        ("[stem]\n++++\nx^2\n++++", "```math\nx^2\n```"),
        ("ifdef::a[]\ntext\nendif::[]", "text"),
        ("include::part.adoc[]", "[part.adoc](part.adoc)"),
        ("image::a b.png[Alt, 100]", "![Alt](a%20b.png)"),
        ("a\n\n'''\n\nb\n\n<<<\n\nc", "a\n\n* * *\n\nb\n\nc"),
        ("one +\ntwo", "one  \ntwo"),
        ("<div>\n> no quote", "\\<div>\n\\> no quote"),
    ],
)
def test_blocks(source: str, markdown: str) -> None:
    assert adoc(source).text == markdown + "\n"


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("link:a.html[Text] link:b.html[]", "[Text](a.html) [b.html](b.html)"),
        ("https://a.org[Text^] https://a.org", "[Text](https://a.org) https://a.org"),
        ('https://a.org["A, b",role=x]', "[A, b](https://a.org)"),
        ("xref:b.adoc#x[Text] xref:b.adoc[]", "[Text](b.adoc#x) [b.adoc](b.adoc)"),
        ("<<here>> <<here,Text>> <<b.adoc#x,There>>", "[here](#here) [Text](#here) [There](b.adoc#x)"),
        (":url: https://a.org\n\n{url}/b[Text] {unset} {unset}/x[Label]", "[Text](https://a.org/b) {unset} Label"),
        ("*bold* **b**old _em_ __e__m", "**bold** **b**old _em_ __e__m"),
        ("__em__ `code` `+*lit*+` ``u``x", "*em* `code` `*lit*` `u`x"),
        ("\"`quoted`\" '`single`'", "“quoted” ‘single’"),
        ("[.role]#text# [[anchor]]here", "text here"),
        ("kbd:[Ctrl+C] btn:[OK] menu:File[Save] icon:x[] footnote:[Note]", "`Ctrl+C` OK File > Save   (Note)"),
        ("javadoc:java.util.List[] javadoc:x[the list]", "`java.util.List` the list"),
        ("((term)) (((hidden,term)))shown", "term shown"),
        ("mailto:a@b.org[Write] me", "Write me"),
        ("2 * 3 * 4 and a_b_c", "2 * 3 * 4 and a_b_c"),
        ("{nbsp}C{plus}{plus} \\{kept}", " C++ \\{kept}"),
    ],
)
def test_inline_markup(source: str, markdown: str) -> None:
    assert adoc(source).text.strip("\n") == markdown


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("|===\n|a |b\n\n|1 |2\n|===", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ('[cols="1,2"]\n|===\n|a\n|b\n|1\n|2\n|===', "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("[cols=3*]\n|===\n|a\n|b\n|c\n|===", "| a | b | c |\n| --- | --- | --- |"),
        ("|===\n|x y|b\n2+|wide\n|===", "| x y | b |\n| --- | --- |\n| wide |"),
        (',===\na,b\n1,"x,y"\n,===', "| a | b |\n| --- | --- |\n| 1 | x,y |"),
        ("|===\n|===\n\ntext", "text"),
    ],
)
def test_tables(source: str, markdown: str) -> None:
    assert adoc(source).text == markdown + "\n"


def test_links_have_their_line_in_the_markdown() -> None:
    assert adoc("= T\n:a: b\n\n// no\nlink:a.adoc[A]").links == (Link("a.adoc", "A", 3),)


HOSTILE = {
    "attributes that double": ":a: xxxxxxxxxx\n" + ":a: {a}{a}\n" * 60 + "{a}" * 50_000,
    "styles": "[a]\n" * 50_000,
    "values that go on": ":a: b \\\n" * 25_000,
    "delimiters": "----\n" * 40_000,
    "tables": "|===\n" + "|a" * 100_000,
    "terms": "a::" * 60_000,
    "links": "link:a[" * 30_000,
    "addresses": "http://" * 30_000,
    "backticks": "`a " * 60_000,
    "brackets": "[[a" * 60_000,
    "angles": "<<a" * 60_000,
    "titles": "= a\n" * 30_000,
    "digits": "1" * 200_000,
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_document_is_read_in_seconds(source: str) -> None:
    reading = adoc(source)
    assert reading.title
    assert len(reading.text) < 3_000_000


PARTS = [
    *"=-*.+_`|/:<>[]{}\\#' \n\n\n",
    "a",
    "text",
    "----\n",
    "====\n",
    "|===\n",
    "* ",
    ". ",
    "a:: ",
    "link:a[",
    "]",
    "{a}",
]
PARTS += [
    ":a: b\n",
    "[source]\n",
    "<<",
    ">>",
    "++++\n",
    "////\n",
    "image::",
    "NOTE: ",
    "ifdef::a[]\n",
    ",===\n",
    "http://a",
]


@given(st.lists(st.sampled_from(PARTS)).map("".join))
@settings(deadline=None)
def test_any_mix_of_markup_is_a_document(source: str) -> None:
    reading = adoc(source)
    assert reading.title
    assert all(1 <= link.line <= reading.text.count("\n") + 1 for link in reading.links)
