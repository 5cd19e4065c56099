"""Document formats by extension: their readers, and the MIME type of the text they produce."""

from collections.abc import Callable
from importlib import import_module
from types import MappingProxyType

from dowse.reading.decoding import decode
from dowse.reading.markdown import read_markdown
from dowse.reading.plain import read_plain
from dowse.types import Reading

Reader = Callable[[bytes, str], Reading]


def _read_markdown(data: bytes, path: str) -> Reading:
    return read_markdown(decode(data), path)


def _read_text(data: bytes, path: str) -> Reading:
    return read_plain(decode(data), path)


def _late(module: str, function: str, *arguments: str) -> Reader:
    """Return a reader whose module is imported when the first file is read: a folder rarely has more than two formats."""

    def read(data: bytes, path: str) -> Reading:
        reading: Reading = getattr(import_module(f"dowse.reading.{module}"), function)(data, path, *arguments)
        return reading

    return read


_read_html, _read_xlsx = _late("html", "read_html"), _late("xlsx", "read_xlsx")
_read_rst, _read_asciidoc = (_late("markup_text", "read_markup", language) for language in ("rst", "asciidoc"))

READERS: dict[str, Reader] = {
    ".md": _read_markdown,
    ".markdown": _read_markdown,
    ".mdx": _read_markdown,
    ".html": _read_html,
    ".htm": _read_html,
    ".txt": _read_text,
    ".rst": _read_rst,
    ".adoc": _read_asciidoc,
    ".asciidoc": _read_asciidoc,
    ".ipynb": _late("ipynb", "read_ipynb"),
    ".docx": _late("docx", "read_docx"),
    ".xlsx": _read_xlsx,
    ".xlsm": _read_xlsx,
    ".pptx": _late("pptx", "read_pptx"),
    ".pdf": _late("pdf", "read_pdf"),
}

_PLAIN_READERS = (_read_text, _read_rst, _read_asciidoc)

DOCUMENT_EXTENSIONS = MappingProxyType(
    {extension: "text/plain" if reader in _PLAIN_READERS else "text/markdown" for extension, reader in READERS.items()}
)
"""MIME type of the text that files become, by extension (lower-case, with its dot)."""
