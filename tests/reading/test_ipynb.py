"""Notebooks are read as their cells; a file that is not a notebook is plain text."""

import json
from typing import Any

from dowse.reading.file_reading import read_document
from dowse.types import Link, Reading


def notebook(*cells: dict[str, Any], **metadata: Any) -> Reading:
    content = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return read_document(json.dumps(content).encode(), "lab/first.ipynb")


def markdown(source: str | list[str]) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source: str | list[str]) -> dict[str, Any]:
    outputs = [{"output_type": "stream", "text": ["SECRET OUTPUT"]}]
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": outputs, "source": source}


def test_text_stays_and_code_stands_in_fences_without_its_outputs() -> None:
    reading = notebook(markdown(["# Title\n", "\n", "Text."]), code("x = 1\nx"), code(" \n"), markdown("End."))
    assert reading.text == "# Title\n\nText.\n\n```python\nx = 1\nx\n```\n\nEnd.\n"
    assert (reading.title, reading.description, reading.is_verbatim) == ("Title", "Text.", False)


def test_code_is_in_the_language_of_the_kernel() -> None:
    for metadata, language in (
        ({"kernelspec": {"language": "julia"}}, "julia"),
        ({"language_info": {"name": "R"}}, "r"),
        ({"kernelspec": {"language": 1}, "language_info": {"name": "c++"}}, "c++"),
        ({"kernelspec": {"language": "a\n```"}}, "python"),
        ({}, "python"),
    ):
        assert notebook(code("x"), **metadata).text == f"```{language}\nx\n```\n"


def test_title() -> None:
    for cells, title in (
        ([code("# comment"), markdown("# Title")], "Title"),
        ([markdown("## Section\n\ntext")], "Section"),
        ([{"cell_type": "raw", "source": "---\ntitle: Stated\n---"}, markdown("# Title")], "Stated"),
        ([markdown("text")], "first"),
        ([], "first"),
    ):
        assert notebook(*cells).title == title


def test_links_have_their_line_in_the_text() -> None:
    assert notebook(code("a\nb"), markdown("[x](y.md)")).links == (Link("y.md", "x", 6),)


def test_code_that_holds_fences_stays_code() -> None:
    assert notebook(code("'''\n```\n# no\n```\n'''")).title == "first"


def test_what_is_no_notebook_is_plain_text() -> None:
    for text in ('{"cells": [', "[1]", '{"cells": 1}', "null", "Words\nmore", "[" * 100_000, "9" * 5000, ""):
        reading = read_document(text.encode(), "a.ipynb")
        assert (reading.text, reading.is_verbatim) == (text, True)


def test_half_a_character_becomes_a_whole_one() -> None:
    data = b'{"cells": [{"cell_type": "markdown", "source": "# \\ud800 T [a](\\udfff.md)"}]}'
    reading = read_document(data, "a.ipynb")
    assert (reading.text + reading.title + reading.links[0].target).encode()
