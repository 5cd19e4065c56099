"""Jupyter notebooks as Markdown: text as it is, code in fences, no outputs."""

import json
from collections.abc import Iterator
from typing import Any

from dowse.reading.decoding import decode
from dowse.reading.front_matter import front_matter
from dowse.reading.markdown import read_converted
from dowse.reading.markdown_writer import fenced, heading
from dowse.reading.plain import read_plain
from dowse.reading.shorten import TITLE_CHARS
from dowse.types import Reading


def read_ipynb(data: bytes, path: str) -> Reading:
    """The cells of a notebook, one below the other; what is no notebook is plain text."""
    decoded = decode(data)
    try:
        notebook = json.loads(decoded.text)
    except (ValueError, RecursionError):
        return read_plain(decoded, path)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells", notebook.get("worksheets")), list):
        return read_plain(decoded, path)
    text = "\n\n".join(_shown(notebook))
    matter = front_matter(text)  # Quarto and others keep it in the first cell
    return read_converted(text + "\n" if text else "", path, decoded.encoding, matter)


def _shown(notebook: dict[str, Any]) -> Iterator[str]:
    language = _language(_table(notebook.get("metadata")))
    for cell in map(_table, _cells(notebook)):
        source = _source(cell).strip("\n")
        match cell.get("cell_type") if source.strip() else None:
            case "code":
                yield fenced(source, _named(cell.get("language")) or language)
            case "heading":  # of the third format
                yield heading(cell["level"] if isinstance(cell.get("level"), int) else 1, source[:TITLE_CHARS])
            case "markdown" | "raw":
                yield source


def _cells(notebook: dict[str, Any]) -> list[Any]:
    if "cells" in notebook:
        return _list(notebook["cells"])
    return [cell for sheet in _list(notebook["worksheets"]) for cell in _list(_table(sheet).get("cells"))]


def _source(cell: dict[str, Any]) -> str:
    """The text of a cell, which is a string or a list of lines; in the third format, code was called input."""
    source = cell.get("source", cell.get("input", ""))
    return "".join(line for line in source if isinstance(line, str)) if isinstance(source, list) else _string(source)


def _language(metadata: dict[str, Any]) -> str:
    """What the kernel speaks; Python where nothing is said, as it was before there was anything else."""
    stated = (
        _table(metadata.get("kernelspec")).get("language"),
        _table(metadata.get("language_info")).get("name"),
        _table(metadata.get("kernel_info")).get("language"),
    )
    return next(filter(None, map(_named, stated)), "python")


def _named(value: object) -> str:
    """A language's name as it may stand after a fence."""
    name = _string(value).strip().lower()
    return name if len(name) <= 40 and name.replace("-", "").replace("+", "").replace("#", "").isalnum() else ""


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
