"""reStructuredText becomes Markdown with a title, a description and links."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.reading.file_reading import read_document
from dowse.types import Link, Reading


def rst(source: str, path: str = "guide/intro.rst") -> Reading:
    return read_document(source.encode(), path)


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("Title\n=====\n\nSection\n-------\n", "Title"),
        ("=====\nTitle\n=====\n", "Title"),
        ("*****\n Title\n*****\n", "Title"),
        (".. _label:\n\n.. comment\n\nTitle\n~~~~~\n", "Title"),
        ("Title\r\n=====\r\n\r\ntext\r\n", "Title"),
        ("\ufeffTitle\n=====\n", "Title"),
        ("Text first.\n\nTitle\n=====\n", "Title"),
        ("Using ``code`` and :class:`~a.B`\n================================\n", "Using code and a.B"),
        ("PEP: 8\nTitle: Style\n  Guide\nStatus: Active\n\nAbstract\n========\n", "Style Guide"),
        ("PEP: 9\nTitle: Of \\*\\*kwargs and ``X | Y``\n\nAbstract\n========\n", "Of **kwargs and X | Y"),
        ("::\n\n    Code\n    ====\n\nTitle\n=====\n", "Title"),
        (".. code-block:: text\n\n   Code\n   ====\n", "intro"),
        ("no heading", "intro"),
        ("===== =====\na     b\n===== =====\n", "intro"),
        ("", "intro"),
    ],
)
def test_title(source: str, title: str) -> None:
    assert rst(source).title == title


@pytest.mark.parametrize(
    ("source", "description"),
    [
        ("Title\n=====\n\nThe *first* ``paragraph``\nof it.\n\nSecond.\n", "The first paragraph of it."),
        (":orphan:\n\nTitle\n=====\n\nFirst.\n", "First."),
        ("Title\n=====\n\n.. image:: a.png\n\n.. contents::\n\nFirst.\n", "First."),
        ("Title\n=====\n\n* only\n* a list\n", "only"),
        ("Title\n=====\n", ""),
    ],
)
def test_description(source: str, description: str) -> None:
    assert rst(source).description == description


def test_headings_are_as_deep_as_their_style_is_new() -> None:
    source = "==\nA1\n==\n\nB2\n==\n\nC3\n--\n\nD2\n==\n\nE3\n--\n\nF4\n~~\n"
    assert rst(source).text == "# A1\n\n## B2\n\n### C3\n\n## D2\n\n### E3\n\n#### F4\n"


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("two\nlines\n\nnext", "two\nlines\n\nnext"),
        ("* a\n* b\n\n  more\n\n  * c\n", "- a\n\n- b\n\n  more\n\n  - c"),
        ("- a\n- b", "- a\n- b"),
        ("1. a\n2. b\n\n#. c\n#. d", "1. a\n2. b\n3. c\n4. d"),
        ("a. x\nb. y", "1. x\n2. y"),
        ("A. Einstein was\na physicist.", "A. Einstein was\na physicist."),
        ("term\n  what it means\n\nother\n  more", "- **term**\n\n  what it means\n\n- **other**\n\n  more"),
        ("text\n\n  a quotation", "text\n\n> a quotation"),
        ("Run::\n\n  $ a\n    b\n\nThen.", "Run:\n\n```\n$ a\n  b\n```\n\nThen."),
        ("Run ::\n\n  a", "Run\n\n```\na\n```"),
        ("* Run::\n\n      a\n\n  then", "- Run:\n\n  ```\n  a\n  ```\n\n  then"),
        (">>> 1 + 1\n2\n\ntext", "```pycon\n>>> 1 + 1\n2\n```\n\ntext"),
        ("| a\n| b", "a  \nb"),
        ("a\n\n----\n\nb", "a\n\n* * *\n\nb"),
        (":Author: Me\n:Date: now", "- **Author:** Me\n- **Date:** now"),
        (":ref:`a` is no field", "a is no field"),
        ("# no heading\n<div>", "\\# no heading\n\\<div>"),
        ("a\tb\x0cc", "a       b\x0cc"),
    ],
)
def test_blocks(source: str, markdown: str) -> None:
    assert rst(source).text == markdown + "\n"


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        (".. code-block:: python\n   :linenos:\n\n   x = 1\n     y", "```python\nx = 1\n  y\n```"),
        (".. code::\n\n   a ``` b\n   ````", "`````\na ``` b\n````\n`````"),
        (".. note:: Mind\n   the gap.\n\n   And *this*.", "**Note:** Mind\nthe gap.\n\nAnd *this*."),
        (".. warning::\n\n   - a\n   - b", "**Warning:**\n\n- a\n- b"),
        (".. versionadded:: 3.2\n\n   The thing.", "**Added in 3.2:** The thing."),
        (".. deprecated:: 3.2", "**Deprecated since 3.2:**"),
        (".. admonition:: Did you know?\n\n   Yes.", "**Did you know?:** Yes."),
        (".. function:: f(*args)\n              g()\n\n   Does it.", "`f(*args)`  \n`g()`\n\nDoes it."),
        (".. py:class:: A\n   :module: m\n\n   A class.", "`A`\n\nA class."),
        (".. figure:: a b.png\n   :alt: An A\n\n   Caption.", "![An A](a%20b.png)\n\nCaption."),
        (".. rubric:: Notes", "**Notes**"),
        (".. only:: html\n\n   Text.", "Text."),
        (".. include:: part.rst", "[part.rst](part.rst)"),
        (".. [1] A note.\n\nText [1]_.", "[^1]: A note.\n\nText [^1]."),
        ('.. csv-table:: T\n   :header: a, b\n\n   1, "x,y"', "**T**\n\n| a | b |\n| --- | --- |\n| 1 | x,y |"),
        (".. a comment\n   of two lines\n\nText.", "Text."),
        ("..\n   a comment\n\nText.", "Text."),
        (".. raw:: html\n\n   <script>no()</script>\n\nText.", "Text."),
        (".. index:: a, b\n\n.. _here:\n\nText.", "Text."),
    ],
)
def test_directives(source: str, markdown: str) -> None:
    assert rst(source).text == markdown + "\n"


def test_a_toctree_is_a_list_of_links_to_documents() -> None:
    source = (
        ".. toctree::\n   :caption: Contents\n   :maxdepth: 2\n\n   install\n   Use it <use/index>\n   api/*\n   self\n"
    )
    reading = rst(source)
    assert reading.text == "**Contents**\n\n- [install](install.rst)\n- [Use it](use/index.rst)\n"
    assert [link.target for link in reading.links] == ["install.rst", "use/index.rst"]


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("``a`` ``b `c` d``", "`a` `` b `c` d ``"),
        (":func:`f` :py:meth:`~a.b.C.m` :class:`!X`", "`f` `a.b.C.m` `X`"),
        (":class:`title <a.b.C>`", "`title`"),
        (":ref:`the text <label>` :term:`word` :ref:`label`", "the text word label"),
        (":doc:`/topics/db` :doc:`Text <../a>`", "[/topics/db](/topics/db.rst) [Text](../a.rst)"),
        (
            ":pep:`8` :rfc:`2822#sec`",
            "[PEP 8](https://peps.python.org/pep-0008/) [RFC 2822](https://datatracker.ietf.org/doc/html/rfc2822#sec)",
        ),
        ("`text <https://a.org>`_ and `b\n<c.html>`__", "[text](https://a.org) and [b](c.html)"),
        (
            "A name_ and `two words`_.\n\n.. _name: https://a.org\n.. _two words: b.html",
            "A [name](https://a.org) and [two words](b.html).",
        ),
        ("A name_.\n\n.. _name: other_\n.. _other: https://a.org", "A [name](https://a.org)."),
        ("One__ and `two`__.\n\n__ a.html\n__ b.html", "[One](a.html) and [two](b.html)."),
        ("`Section title`_ and place_.\n\n.. _place:\n", "Section title and place."),
        ("no_name and __init__ and _x_", "no_name and __init__ and _x_"),
        ("|v| |w|\n\n.. |v| replace:: 1.0", "1.0 |w|"),
        ("``Field``\\ s", "`Field`s"),
        ("**strong** *em* `default`", "**strong** *em* `default`"),
        ("[#note]_ [*]_ [CIT2002]_", "[^note] [^*] [^CIT2002]"),
        ("2 * 3 | 4 ` 5", "2 * 3 | 4 ` 5"),
    ],
)
def test_inline_markup(source: str, markdown: str) -> None:
    assert rst(source).text == markdown + "\n"


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        (
            "===  ===\na    b\n===  ===\n1    2\n     3\n4    5\n===  ===",
            "| a | b |\n| --- | --- |\n| 1 | 2 3 |\n| 4 | 5 |",
        ),
        ("=  =\n1  2\n=  =\n\nText.", "| 1 | 2 |\n| --- | --- |\n\nText."),
        ("+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n| x |   |\n+---+---+", "| a | b |\n| --- | --- |\n| 1 x | 2 |"),
        (
            "+---+---+\n| wide  |\n+---+---+\n| 1 | 2 |\n+---+---+",
            "```\n+---+---+\n| wide  |\n+---+---+\n| 1 | 2 |\n+---+---+\n```",
        ),
        ("=====  ==\n``a``  |\n=====  ==", "| `a` | \\| |\n| --- | --- |"),
    ],
)
def test_tables(source: str, markdown: str) -> None:
    assert rst(source).text == markdown + "\n"


def test_links_have_their_line_in_the_markdown() -> None:
    reading = rst("T\n=\n\n.. comment\n\nSee `a <b.rst>`_.\n")
    assert reading.links == (Link("b.rst", "a", 3),)


def test_a_heading_style_inside_a_directive_is_text() -> None:
    assert rst("T\n=\n\n.. note::\n\n   N\n   =\n").text == "# T\n\n**Note:** N\n\\=\n"


HOSTILE = {
    "nested lists": "\n\n".join("  " * depth + "* a" for depth in range(400)),
    "nested directives": "\n".join("   " * depth + ".. note::\n" for depth in range(300)),
    "indented": "\n".join(" " * depth + "a" for depth in range(600)),
    "backticks": "`" * 200_000,
    "open literals": "``a " * 50_000,
    "open roles": ":a:`" * 50_000,
    "substitutions": "|a" * 100_000,
    "tables without end": "= =\nx\n\n" * 30_000,
    "a wide table": "= " * 100_000 + "\n" + "a\n" * 1000,
    "a wide grid": "+" + "-+" * 100_000 + "\n" + "|" * 200_000,
    "one row": "= =\na b\n" + "  c\n" * 50_000 + "= =\n",
    "dashes": "a-" * 100_000,
    "colons": ":" * 200_000,
    "targets": ".. _a: a_\n\na_ " * 15_000,
    "blank lines": "a::\n" + "\n" * 200_000,
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_document_is_read_in_seconds(source: str) -> None:
    assert rst(source).title


PARTS = [
    *"*-=~`:|_\\.#<>[]+ \n\n\n",
    "  ",
    "   ",
    ".. ",
    "::",
    "a",
    "text",
    "``",
    "`_",
    "__",
    ":ref:`",
    ".. note:: ",
    "=== ===",
]
PARTS += ["\n===\n", "\n+--+\n", ".. code::\n\n  ", ".. toctree::\n\n  ", ".. csv-table::\n\n  ", "1. ", "|a|", "[1]_"]


@given(st.lists(st.sampled_from(PARTS)).map("".join))
@settings(deadline=None)
def test_any_mix_of_markup_is_a_document(source: str) -> None:
    reading = rst(source)
    assert reading.title
    assert all(1 <= link.line <= reading.text.count("\n") + 1 for link in reading.links)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
@settings(deadline=None)
def test_words_are_not_lost(text: str) -> None:
    words = "".join(character for character in text if character.isalnum())
    assert words in rst(f"Title\n=====\n\n{words}\n").text
