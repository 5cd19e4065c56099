"""reStructuredText and AsciiDoc stay as they are, with a title, a description, tags and links."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.reading.file_reading import read_document
from dowse.reading.markup_text import blank_markup
from dowse.reading.outlines import Outline
from dowse.types import Link, Reading


def rst(source: str) -> Reading:
    return read_document(source.encode(), "guide/intro.rst")


def adoc(source: str) -> Reading:
    return read_document(source.encode(), "guide/intro.adoc")


def test_the_text_is_that_of_the_file() -> None:
    source = "Title\r\n=====\r\n\r\n.. note:: |x|\r\n"
    assert (rst(source).text, rst(source).is_verbatim) == (source, True)
    assert (adoc("= T\n:a: b\n{a}").text, adoc("= T").is_verbatim) == ("= T\n:a: b\n{a}", True)


def test_title_of_restructuredtext() -> None:
    for source, title in (
        ("Title\n=====\n\nSection\n-------\n", "Title"),
        ("*****\n Title\n*****\n", "Title"),
        (".. _label:\n\n.. comment\n\nTitle\n~~~~~\n", "Title"),
        ("Title\r\n=====\r\n\r\ntext\r\n", "Title"),
        ("\ufeffTitle\n=====\n", "Title"),
        ("Text first.\n\nTitle\n=====\n", "Title"),
        ("Using ``code`` and :class:`a.B`\n================================\n", "Using code and a.B"),
        ("After :pep:`8`\n==============\n", "After PEP 8"),
        ("PEP: 8\nTitle: Style\n  Guide\nStatus: Active\n\nAbstract\n========\n", "Style Guide"),
        ("PEP: 9\nTitle: Of \\*\\*kwargs and ``X | Y``\n\nAbstract\n========\n", "Of **kwargs and X | Y"),
        (".. code-block:: text\n\n   Code\n   ====\n", "intro"),
        ("no heading", "intro"),
        ("===== =====\na     b\n===== =====\n", "intro"),
        ("", "intro"),
    ):
        assert rst(source).title == title


def test_title_of_asciidoc() -> None:
    for source, title in (
        ("= Title\nA. Author <a@b.org>\nv1.0, 2024-01-01\n:toc:\n\n== Section", "Title"),
        ("// comment\n= Title", "Title"),
        ("[[id]]\n= The `code`", "The code"),
        ("Title\n=====\n\nSection\n-------\n", "Title"),
        ("= Title =\r\n\r\ntext\r\n", "Title"),
        ("---\ntitle: Stated\n---\n= Title", "Stated"),
        ("== Only a section", "Only a section"),
        ("text", "intro"),
    ):
        assert adoc(source).title == title


def test_description() -> None:
    for reading, description in (
        (rst("Title\n=====\n\nThe first ``paragraph``\nof it.\n\nSecond.\n"), "The first paragraph of it."),
        (rst(":orphan:\n\nTitle\n=====\n\nFirst.\n"), "First."),
        (rst("Title\n=====\n\n.. image:: a.png\n\n.. contents::\n\nFirst.\n"), "First."),
        (rst("PEP: 8\nTitle: Style\n\nAbstract\n========\n\nSee `this <a.rst>`_.\n"), "See this."),
        (rst("Title\n=====\n"), ""),
        (adoc("= T\n:description: Stated\n\nText."), "Stated"),
        (adoc("= T\n\nimage::a.png[]\n\nText."), "Text."),
        (adoc("= T\n\n[source]\n----\ncode\n----\n\nText."), "Text."),
        (adoc("= T"), ""),
    ):
        assert reading.description == description


def test_keywords_are_tags() -> None:
    assert adoc("= T\n:keywords: one, two words, one").tags == ("one", "two words")


def test_links_of_restructuredtext() -> None:
    for source, links in (
        (":doc:`/topics/db` :doc:`Text <../a>`", [("/topics/db", "/topics/db"), ("../a", "Text")]),
        (
            ":pep:`8` :rfc:`see <2822#sec>`",
            [
                ("https://peps.python.org/pep-0008/", "PEP 8"),
                ("https://datatracker.ietf.org/doc/html/rfc2822#sec", "see"),
            ],
        ),
        ("`text <https://a.org>`_ and `b\n<c.html>`__", [("https://a.org", "text"), ("c.html", "b")]),
        (
            "A name_ and `two words`_.\n\n.. _name: https://a.org\n.. _two words: b.html",
            [("https://a.org", "name"), ("b.html", "two words")],
        ),
        ("A name_ and `b <name_>`_.\n\n.. _name: other_\n.. _other:\n   https://a.org", [("https://a.org", "name")] * 1),
        ("`One`__ and `two`__.\n\n__ a.html\n.. __: b.html", [("a.html", "One"), ("b.html", "two")]),
        ("`Section title`_ and place_.\n\n.. _place:\n", []),
        ("no_name and __init__ and ``https://a.org``", []),
        ("https://a.org/x, and\n\n::\n\n   https://b.org\n", [("https://a.org/x", "https://a.org/x")]),
        (".. image:: https://a.org/x.png\n\n.. |a| image:: https://b.org/x.png", []),
        (".. toctree::\n   :maxdepth: 2\n\n   install\n   Use it <use/index>\n   api/*\n   self\n", [("install", "install"), ("use/index", "Use it")]),
    ):  # fmt: skip
        assert [(link.target, link.text) for link in rst(source).links][: len(links) or None] == links


def test_links_of_asciidoc() -> None:
    for source, links in (
        ("link:a.html[Text] link:b.html[]", [("a.html", "Text"), ("b.html", "b.html")]),
        ("https://a.org[Text^] https://a.org", [("https://a.org", "Text"), ("https://a.org", "https://a.org")]),
        ('https://a.org["A, b",role=x]', [("https://a.org", "A, b")]),
        ("xref:b.adoc#x[Text]", [("b.adoc#x", "Text")]),
        ("<<here>> <<here,Text>> <<b.adoc#x,There>>", [("b.adoc#x", "There")]),
        ("link:{url}[Text] mailto:a@b.org[Write] image:https://a.org/x.png[Alt] `link:a[b]`", []),
        ("----\nlink:a.html[A]\n----\n", []),
    ):
        assert [(link.target, link.text) for link in adoc(source).links] == links


def test_links_have_their_line_in_the_file() -> None:
    assert rst("Tä\n==\n\n.. comment\n\nSee `a <b.rst>`_.\n").links == (Link("b.rst", "a", 6),)
    assert adoc("= T\r\n:a: b\r\n\r\n// no\r\nlink:a.adoc[A]").links == (Link("a.adoc", "A", 5),)


def test_a_heading_has_the_target_above_it_as_its_anchor() -> None:
    for language, source, anchors in (
        ("rst", "A part\n======\n\n.. _there:\n\nAnother\n-------\n", ["a-part", "there"]),
        ("asciidoc", "= A part\n\n[[there]]\n== Another\n\n[#here.role]\n== Third\n", ["a-part", "there", "here"]),
    ):
        outline = Outline(source, language)
        assert [heading.anchor for heading in outline.headings] == anchors
        section = outline.section("there")
        assert section
        assert section.headings == ("A part", "Another")


@pytest.mark.parametrize("language", ["rst", "asciidoc"])
@given(source=st.text(st.sampled_from("ab=-~`:|_.<>[]/*+\\ \n\t\r")))
@settings(deadline=None)
def test_any_mix_of_markup_is_a_document(language: str, source: str) -> None:
    reading = read_document(source.encode(), f"a.{'rst' if language == 'rst' else 'adoc'}")
    assert reading.text == source
    assert all(1 <= link.line <= source.count("\n") + source.count("\r") + 1 for link in reading.links)
    assert len(blank_markup(source, language)) == len(source)
    assert Outline(source, language).headings is not None
