"""HTML pages become Markdown with a title, a description and links."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.reading.file_reading import read_document
from dowse.reading.html_markdown import convert_html
from dowse.reading.outlines import Outline
from dowse.types import Link, Reading


def page(source: str, path: str = "api/reference.html") -> Reading:
    return read_document(source.encode(), path)


def test_title() -> None:
    for source, title in (
        ("<title>Stated</title><h1>Heading</h1>", "Stated"),
        ("<TITLE>\n A &amp; B\n  C </TITLE>", "A & B C"),
        ("<title> </title><h1>The <em>first</em>\n heading</h1><h1>x</h1>", "The first heading"),
        ("<svg><title>Icon</title></svg><h1>Heading</h1>", "Heading"),
        ("<!-- <title>No</title> --><h1>Heading</h1>", "Heading"),
        ("<script>'<title>No</title>'</script><h1>Heading</h1>", "Heading"),
        ("<h1></h1><h1>Second</h1>", "Second"),
        ("<h2>Section</h2>", "reference"),
        ("<title>Never closed", "Never closed"),
        ("plain words", "reference"),
        ("", "reference"),
    ):
        assert page(source).title == title


def test_description() -> None:
    for source, description in (
        ('<meta name="description" content="Stated"><p>Paragraph', "Stated"),
        ("<META NAME='Description' CONTENT='A &amp;\n B'>", "A & B"),
        ('<meta content="Stated" name=description>', "Stated"),
        ('<meta name="description" content=""><p>Paragraph', "Paragraph"),
        ('<meta name="description"><p>Paragraph', "Paragraph"),
        ('<meta property="og:description" content="No"><p>Paragraph', "Paragraph"),
        ("<p> </p><p><img src=x></p><p>The <b>first</b>\n text</p><p>x", "The first text"),
        ("<p><script>no()</script>Text", "Text"),
        ("<div>no paragraph</div>", ""),
        ("", ""),
    ):
        assert page(source).description == description


def test_a_long_description_is_cut() -> None:
    assert len(page("<p>" + "word " * 100).description) <= 150


def test_title_and_description_are_found_behind_a_long_style_sheet() -> None:
    reading = page(f"<style>{'p {} ' * 50_000}</style><title>T</title><p>D")
    assert (reading.title, reading.description) == ("T", "D")


def test_the_text_is_markdown_without_what_a_reader_does_not_see() -> None:
    reading = page(
        "<head><title>T</title><style>p {color: red}</style><script>var a = '<p>no</p>'</script></head>"
        "<nav><a href=/home>Home</a></nav><h1>H &copy; &lt;b&gt;</h1>"
        "<p>Some <strong>bold</strong> text.</p><template>no</template><noscript>no</noscript>"
        "<ul><li>a<ul><li>b</ul></ul><pre><code class='language-py'>x = 1\n  y</code></pre>"
        "<form><p>In a form</p></form><table><tr><th>k<th>v<tr><td>1<td>2</table><footer>Foot</footer>"
    )
    assert reading.text == (
        "[Home](/home)\n\n# H © \\<b>\n\nSome **bold** text.\n\n- a\n  - b\n\n```py\nx = 1\n  y\n```\n\n"
        "In a form\n\n| k | v |\n| --- | --- |\n| 1 | 2 |\n\nFoot\n"
    )
    assert not reading.is_verbatim


def test_what_is_hidden_is_not_part_of_the_text() -> None:
    for hidden, shown in (
        ("<p hidden>no</p>", ""),
        ("<div hidden><p>no <b>no</b></p></div>", ""),
        ("<p style='display:none'>no</p>", ""),
        ("<p style='color: red; Display : none !important'>no</p>", ""),
        ("<p style='visibility: hidden'>no</p>", ""),
        ("<div aria-hidden='true'><h2>no</h2></div>", ""),
        ("<p aria-hidden=false>yes</p>", "yes\n"),
        ("<!-- <p>no</p> -->", ""),
        ("<input type=hidden value=no>", ""),
        ("<details><summary>Folded</summary>yes</details>", "**Folded**\n\nyes\n"),
        ("<div role=tabpanel hidden>yes</div>", "yes\n"),
        ("<div class=x hidden=hidden aria-hidden='true' role='tabpanel' style='display: none'>yes</div>", "yes\n"),
    ):
        assert page(hidden).text == shown


def test_hidden_text_is_neither_title_nor_description() -> None:
    reading = page("<h1 hidden>no</h1><p style='display: none'>no</p><p aria-hidden=true>no</p><h1>T</h1><p>D")
    assert (reading.title, reading.description) == ("T", "D")


def test_a_heading_is_shown_without_the_sign_that_links_to_it() -> None:
    for sign in (
        "<a class=headerlink href=#h title='Link here'>¶</a>",
        "<a href='#h'>#</a>",
        "<a href='#h'></a>",
        "<a href=#h>§</a>",
    ):
        assert page(f"<h2>Heading{sign}</h2>").text == "## Heading\n"


def test_links_have_their_line_in_the_markdown_and_their_target_as_written() -> None:
    reading = page(
        "<h1>T</h1><p>[[no]] a[0](no) https://no.org <a href='a b/ü.html?x=1&amp;y=2'>one <i>two</i></a></p>"
        "<p><a href='#x'>no</a><a href='mailto:a@b'>no</a><a>no</a><iframe src=no></iframe>"
        "<a href='z'><img src=i alt=pic></a></p>"
    )
    assert reading.links == (Link("a b/ü.html?x=1&y=2", "one two", 3), Link("z", "pic", 5))


def test_the_declared_encoding_is_believed() -> None:
    for head, encoding in (
        ('<meta charset="windows-1255">', "cp1255"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=windows-1255">', "cp1255"),
        ('<?xml version="1.0" encoding="windows-1255"?>', "cp1255"),
    ):
        reading = read_document(f"{head}<title>זה מסמך</title>".encode(encoding), "a.htm")
        assert (reading.title, reading.encoding) == ("זה מסמך", encoding)


DEEP = {
    "divisions": "<div>" * 10_000 + "<p>core",
    "a megabyte of divisions": "<div>" * 150_000 + "core",
    "spans": "<span>" * 10_000 + "core",
    "lists": "<ul><li>" * 5_000 + "core",
    "tables": "<table><tr><td>" * 3_000 + "core",
    "misnested": "<b><p>" * 20_000 + "core",
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP)
@pytest.mark.timeout(60)
def test_words_are_kept_however_deep_they_are_nested(source: str) -> None:
    assert "core" in page(source).text


PARTS = ["<a href=x>", "<p>", "</p>", "<h1>", "</h1>", "<table>", "<td>", "<li>", "<ul>", "<pre>", "<!--", "-->"]
PARTS += ["&#xD800;", "&amp;", "\r\n", "[a](b)", "x"]


@given(st.lists(st.sampled_from(PARTS)))
def test_any_mix_of_tags_is_html(parts: list[str]) -> None:
    reading = page("".join(parts))
    reading.text.encode("utf-8")
    assert all(link.line <= reading.text.count("\n") + 1 for link in reading.links)


def test_an_angle_that_is_text_does_not_become_a_tag() -> None:
    page = (
        "<h2>Box&lt;T&gt;</h2><p>&lt;script&gt;alert(1)&lt;/script&gt; &#60;img&#62; &#x3C;b&gt; &ltu> 1 &lt; 2, a &lt;= b</p>"
        "<pre>Vec&lt;T&gt;</pre><p><code>Map&lt;K&gt;</code> then &lt;i&gt;</p><!-- &lt;hidden&gt; -->"
    )
    text = read_document(page.encode(), "a.html").text
    assert text == (
        "## Box\\<T>\n\n\\<script>alert(1)\\</script> \\<img> \\<b> \\<u> 1 < 2, a <= b\n\n"
        "```\nVec<T>\n```\n\n`Map<K>` then \\<i>\n"
    )
    assert [heading.text for heading in Outline(text).headings] == ["Box<T>"]


def test_conversion() -> None:
    for source, markdown in (
        ("<p>one\n   two<br>three</p>four", "one\ntwo  \nthree\n\nfour"),
        ("<p># a</p><hr><h3>b<br>c</h3>", "\\# a\n\n---\n\n### b c"),
        ("<ul><li>a<ol start=3><li>b<li><p>c<p>d</ol></ul><ul><li>e", "- a\n  3. b\n  4. c\n\n     d\n\n- e"),
        ("<li>a<pre>x\n\n y</pre>", "- a\n\n  ```\n  x\n\n   y\n  ```"),
        ("<ul><li><input type=checkbox checked> a<li><input type=checkbox> b</ul>", "- [x] a\n- [ ] b"),
        ("<blockquote><p>a<p>b</blockquote><dl><dt>c<dd>d</dl>", "> a\n>\n> b\n\nc\n\nd"),
        ("<table><caption>t</caption><tr><th>a|b<th>c<tr><td>d<p>e</p><td><ul><li>f<li>g</ul></table>h",
         "*t*\n\n| a\\|b | c |\n| --- | --- |\n| d e | f g |\n\nh"),
        ("<table><tr><td>a<td><table><tr><td>b</table></table>", "a\n\n| b |\n| --- |"),
        ("<table><tr><td>1<td><pre>x</pre></table>", "1\n\n```\nx\n```"),
        ("<pre><code class='a language-c++'>```</code></pre>", "````c++\n```\n````"),
        ("<b>a </b>b<i><b></b></i> <del>c</del> <q>d</q>", '**a** b ~~c~~ "d"'),
        ("<code>a`b</code><kbd>c</kbd> <code><b>d</b>&lt;</code>", "``a`b`` `c` `d<`"),
        ("<code>Map&lt;<a href=k>K</a>&gt;</code>", "`Map<`[`K`](k)`>`"),
        ("<a href='x (y)'>a <b>b</b></a><a href=z>[c</a><a>d</a><a href=e></a>", "[a **b**](<x (y)>)[\\[c](z)d[](e)"),
        ("<a href=x><h2>a</h2><p>b</p></a>", "## [a](x)\n\nb"),
        ("<img src=a alt=b><img src='data:,' alt=c><img alt=d>", "![b](a)cd"),
        ("<p title='a > b' data-x=\"<p>no</p>\">c <button>d</button>", "c d"),
        ("<p class='a hidden b' title=\"x hidden \">a<p data-hidden=1>b<p title='a'hidden>no", "a\n\nb"),
        ("<p>a<p hidden>no<p>b<div hidden>no<div>no</div>no</div>c", "a\n\nb\n\nc"),
    ):  # fmt: skip
        assert convert_html(source) == f"{markdown}\n"


def test_deep_nesting_is_bounded() -> None:
    assert len(convert_html("<ul><li>a<blockquote>b<table><tr><td>c" * 2_000)) < 1_000_000
