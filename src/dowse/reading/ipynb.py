"""Reader of Jupyter notebooks, which become Markdown: text as it is, code in fences, no outputs."""

import json
from collections.abc import Iterator
from typing import Any

from dowse.reading.decoding import decode
from dowse.reading.front_matter import read_front_matter
from dowse.reading.markdown import read_converted, read_plain
from dowse.reading.markdown_writer import code_block, heading
from dowse.reading.shorten import MAX_TITLE_CHARS
from dowse.types import Reading


def read_ipynb(data: bytes, path: str) -> Reading:
    """Read the cells of a notebook, in order; a file that is not a notebook is read as plain text."""
    decoded = decode(data)
    try:
        notebook = json.loads(decoded.text)
    except (ValueError, RecursionError):
        return read_plain(decoded, path)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells", notebook.get("worksheets")), list):
        return read_plain(decoded, path)
    text = "\n\n".join(_convert_cells(notebook))
    matter = read_front_matter(text)  # Quarto and others keep it in the first cell
    return read_converted(text + "\n" if text else "", path, decoded.encoding, matter)


def _convert_cells(notebook: dict[str, Any]) -> Iterator[str]:
    language = _kernel_language(_as_dict(notebook.get("metadata")))
    for cell in map(_as_dict, _list_cells(notebook)):
        source = _cell_source(cell).strip("\n")
        match cell.get("cell_type") if source.strip() else None:
            case "code":
                yield code_block(source, _language_name(cell.get("language")) or language)
            case "heading":  # of format version 3
                yield heading(cell["level"] if isinstance(cell.get("level"), int) else 1, source[:MAX_TITLE_CHARS])
            case "markdown" | "raw":
                yield source


def _list_cells(notebook: dict[str, Any]) -> list[Any]:
    if "cells" in notebook:
        return _as_list(notebook["cells"])
    return [cell for sheet in _as_list(notebook["worksheets"]) for cell in _as_list(_as_dict(sheet).get("cells"))]


def _cell_source(cell: dict[str, Any]) -> str:
    """Return the text of a cell, a string or a list of lines; format version 3 calls code `input`."""
    source = cell.get("source", cell.get("input", ""))
    return "".join(line for line in source if isinstance(line, str)) if isinstance(source, list) else _as_str(source)


def _kernel_language(metadata: dict[str, Any]) -> str:
    """Return the language of the kernel; Python if none is given, since older notebooks had no other."""
    candidates = (
        _as_dict(metadata.get("kernelspec")).get("language"),
        _as_dict(metadata.get("language_info")).get("name"),
        _as_dict(metadata.get("kernel_info")).get("language"),
    )
    return next(filter(None, map(_language_name, candidates)), "python")


def _language_name(value: object) -> str:
    """Return the name of a language if it is valid after a code fence, else an empty string."""
    name = _as_str(value).strip().lower()
    return name if len(name) <= 40 and name.replace("-", "").replace("+", "").replace("#", "").isalnum() else ""


def _as_dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _as_str(value: object) -> str:
    return value if isinstance(value, str) else ""
