"""Headings of reStructuredText and AsciiDoc are found, outside of code and comments."""

from dowse.text.markup_lines import find_code_lines, find_markup_headings

RST = """\
.. _label:

==
A1
==

B2
==

Text that goes on
-----------------
below it.

C3
--

::

   Code
   ====

.. code-block:: text

   Code
   ====

.. note::

   N
   =

D2
==

=====  =====
a      b
=====  =====

E *3*
-----
"""
ASCIIDOC = """\
[[id]]
= A1 =

== B `2`

----
== code
----

////
== comment
////

 == literal

### C3

Older
-----

|===
|a
|===

A paragraph of words
====
== In an example
====
"""


def test_headings_of_restructuredtext_are_as_deep_as_their_style_is_new() -> None:
    found = [(level, text) for _, _, level, text in find_markup_headings(RST.split("\n"), "rst")]
    assert found == [(1, "A1"), (2, "B2"), (3, "Text that goes on"), (3, "C3"), (2, "D2"), (3, "E *3*")]


def test_headings_of_asciidoc_are_as_deep_as_their_marks() -> None:
    found = [
        (line, length, level, text)
        for line, length, level, text in find_markup_headings(ASCIIDOC.split("\n"), "asciidoc")
    ]
    assert found == [
        (1, 1, 1, "A1"),
        (3, 1, 2, "B 2"),
        (15, 1, 3, "C3"),
        (17, 2, 2, "Older"),
        (26, 1, 2, "In an example"),
    ]


def test_code_and_comments_are_known_by_their_lines() -> None:
    for language, source, code in (
        ("rst", "Run::\n\n  a\n\n  b\nc", [False, True, True, True, True, False]),
        ("rst", "* Run::\n\n    a\n\n  b", [False, True, True, True, False]),
        ("rst", ".. note::\n\n   Words.", [False, False, False]),
        ("rst", ".. code-block:: py\n\n   x\n\nWords.", [False, True, True, True, False]),
        ("rst", ".. A comment\n   of two lines\n\nWords.", [True, True, True, False]),
        ("rst", ".. _target:\n\nWords.", [False, False, False]),
        ("rst", ">>> 1 + 1\n2\n\nWords.", [True, True, False, False]),
        ("asciidoc", "----\na\n----\nb", [True, True, True, False]),
        ("asciidoc", "```py\na\n```\n// c\nb", [True, True, True, True, False]),
        ("asciidoc", "....\n----\n....\nb", [True, True, True, False]),
        ("asciidoc", "* a\n  b\n\n c\n d", [False, False, False, True, True]),
    ):
        assert find_code_lines(source.split("\n"), language) == code
