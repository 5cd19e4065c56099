"""Document formats by extension: their readers, and the MIME type of the text they produce."""

from collections.abc import Callable
from types import MappingProxyType

from dowse.reading.decoding import decode
from dowse.reading.markdown import read_markdown
from dowse.reading.plain import read_plain
from dowse.types import Reading

# Most readers are imported when the first file of their format is read: a folder rarely has more than two formats.

Reader = Callable[[bytes, str], Reading]


def _read_markdown(data: bytes, path: str) -> Reading:
    return read_markdown(decode(data), path)


def _read_text(data: bytes, path: str) -> Reading:
    return read_plain(decode(data), path)


def _read_html(data: bytes, path: str) -> Reading:
    from dowse.reading.html import read_html

    return read_html(data, path)


def _read_rst(data: bytes, path: str) -> Reading:
    from dowse.reading.markup_text import read_markup

    return read_markup(data, path, "rst")


def _read_asciidoc(data: bytes, path: str) -> Reading:
    from dowse.reading.markup_text import read_markup

    return read_markup(data, path, "asciidoc")


def _read_ipynb(data: bytes, path: str) -> Reading:
    from dowse.reading.ipynb import read_ipynb

    return read_ipynb(data, path)


def _read_docx(data: bytes, path: str) -> Reading:
    from dowse.reading.docx import read_docx

    return read_docx(data, path)


def _read_xlsx(data: bytes, path: str) -> Reading:
    from dowse.reading.xlsx import read_xlsx

    return read_xlsx(data, path)


def _read_pptx(data: bytes, path: str) -> Reading:
    from dowse.reading.pptx import read_pptx

    return read_pptx(data, path)


def _read_pdf(data: bytes, path: str) -> Reading:
    from dowse.reading.pdf import read_pdf

    return read_pdf(data, path)


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
    ".ipynb": _read_ipynb,
    ".docx": _read_docx,
    ".xlsx": _read_xlsx,
    ".xlsm": _read_xlsx,
    ".pptx": _read_pptx,
    ".pdf": _read_pdf,
}

_PLAIN_READERS = (_read_text, _read_rst, _read_asciidoc)

DOCUMENT_EXTENSIONS = MappingProxyType(
    {extension: "text/plain" if reader in _PLAIN_READERS else "text/markdown" for extension, reader in READERS.items()}
)
"""MIME type of the text that files become, by extension (lower-case, with its dot)."""
