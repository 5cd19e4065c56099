"""A file with more structure than any real one is read as plain text, without a parser."""

from dowse.parsing.parser_process import ParserRequest
from dowse.parsing.structure_bounds import structure_problem
from tests.fuzzing.bombs import document_bombs

DENSE = {
    "md": {"lines", "quotes", "headings", "brackets", "links", "stars", "rows", "fences", "dashes", "front", "wiki", "underlines", "wide table"},
    "html": {"cells", "deep b", "formatting"},
    "rst": {"titles", "literal", "targets", "stars", "ticks"},
    "adoc": {"titles", "anchors", "blocks", "examples", "lists", "stars", "cells"},
    "ipynb": {"nested", "closed", "cells", "lines", "quotes"},
}  # fmt: skip
"""Bombs that took all of their time or memory before they were counted, or half of it in notebooks."""
LANGUAGES = {"md": "markdown", "html": "html", "rst": "rst", "adoc": "asciidoc", "ipynb": "json"}


def test_dense_bombs_are_counted_and_not_parsed() -> None:
    for extension, dense in DENSE.items():
        found = {
            bomb.name: structure_problem(
                ParserRequest({"path": f"a.{extension}", "language": LANGUAGES[extension]}, bomb.data)
            )
            for bomb in document_bombs(extension, 1_000_000)
        }
        assert [name for name in dense if not found[name]] == []
        assert set(filter(None, found.values())) <= {
            "has more than 100,000 lines", "has more than 10,000 cells", *(f"has more than 200,000 {mark} in it" for mark in ">[*_`|")
        }  # fmt: skip


def test_long_tables_and_pages_are_parsed() -> None:
    row = b"| `first` | [second](page.md) | *third* | fourth_word |\n"
    tag = b'<li><a href="page.html"><code>name</code></a></li>\n'
    assert structure_problem(ParserRequest({"language": "markdown"}, row * (1_000_000 // len(row)))) == ""
    assert structure_problem(ParserRequest({"language": "html"}, tag * (1_000_000 // len(tag)))) == ""
    assert structure_problem(ParserRequest({"language": "python"}, b"[\n" * 250_000)) == ""
    assert structure_problem(ParserRequest({"language": "markdown"}, b"PK" + b"\n" * 250_000)) == ""
    cell = b'{"cell_type": "code", "source": ["value = table[1]\\n", "value"]},\n'
    notebook = b'{"cells": [\n' + cell * 9_000 + b"{}]}"
    assert structure_problem(ParserRequest({"path": "a.ipynb", "language": "json"}, notebook)) == ""
    assert structure_problem(ParserRequest({"path": "a.json", "language": "json"}, notebook * 2)) == ""
