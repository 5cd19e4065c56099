"""Reader of Jupyter notebooks, which become Markdown: text as it is, code in fences, no outputs."""

import json
from collections.abc import Iterator
from typing import Any

from dowse.reading.decoding import decode
from dowse.reading.front_matter import read_front_matter
from dowse.reading.markdown import read_converted, read_plain
from dowse.reading.markdown_writer import code_block
from dowse.types import Reading


def read_ipynb(data: bytes, path: str) -> Reading:
    """Read the cells of a notebook, in order; a file that is not a notebook is read as plain text."""
    decoded = decode(data)
    try:
        notebook = json.loads(decoded.text)
    except (ValueError, RecursionError):
        return read_plain(data, path)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        return read_plain(data, path)
    text = "\n\n".join(_convert_cells(notebook))
    matter = read_front_matter(text)  # Quarto and others keep it in the first cell
    return read_converted(text + "\n" if text else "", path, decoded.encoding, matter)


def _convert_cells(notebook: dict[str, Any]) -> Iterator[str]:
    language = _kernel_language(_as_dict(notebook.get("metadata")))
    for cell in map(_as_dict, notebook["cells"]):
        source = cell.get("source")
        lines = source if isinstance(source, list) else [source]
        text = "".join(line for line in lines if isinstance(line, str)).strip("\n")
        if text.strip() and cell.get("cell_type") in ("code", "markdown", "raw"):
            yield code_block(text, language) if cell["cell_type"] == "code" else text


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


def _as_str(value: object) -> str:
    return value if isinstance(value, str) else ""
