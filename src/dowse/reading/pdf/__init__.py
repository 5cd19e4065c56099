"""Reader of PDF files: the text of their pages."""

import re
from importlib.util import find_spec

from dowse.errors import FormatNotReadable
from dowse.reading.front_matter import FrontMatter
from dowse.reading.markdown import read_converted
from dowse.reading.markdown_writer import heading, paragraph
from dowse.reading.pdf.page_text import read_page_texts
from dowse.reading.shorten import clean_title, file_stem, split_keywords
from dowse.types import Reading

_SIGNATURE = b"%PDF-"
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
"""Control characters; PDFium leaves one where a word was hyphenated at the end of a line."""
_MISSING_PARSER = "PDF files need pypdfium2, which is not installed, or has no build for this machine"
_WORD = re.compile(r"[^\W\d_]{2}")


def read_pdf(data: bytes, path: str) -> Reading:
    """Read a PDF, each page as a section; a file that is encrypted, damaged or made of images has no text.

    Raises FormatNotReadable if the parser is not installed.
    """
    if find_spec("pypdfium2") is None:
        raise FormatNotReadable(_MISSING_PARSER)
    try:
        parts = read_page_texts(data) if _SIGNATURE in data[:1024] else []
    except ImportError as error:  # it is installed, and its library cannot be loaded
        raise FormatNotReadable(_MISSING_PARSER) from error
    stated, *read = parts or [{"title": "", "subject": "", "keywords": "", "page_count": 0}]
    pages = [_clean_text(part["page"]) for part in read]
    lines = [line for page in pages[:3] for line in page.splitlines() if _WORD.search(line)]
    title = clean_title(_clean_text(stated["title"]))
    following = lines[0 if title else 1 :][:4]
    metadata = FrontMatter(
        title or next(iter(lines), file_stem(path)),
        _clean_text(stated["subject"]) or " ".join(following),
        split_keywords(_clean_text(stated["keywords"])),
    )
    return read_converted(_join_pages(pages, stated["page_count"]), path, metadata=metadata)


def _join_pages(pages: list[str], total: int) -> str:
    """Return the text of all pages, each below its number if there are several."""
    sections = [
        "\n\n".join([*([heading(2, f"Page {number}")] if total > 1 else []), paragraph(page)])
        for number, page in enumerate(pages, 1)
        if page
    ]
    if len(pages) < total:
        sections.append(f"*(Pages {len(pages) + 1} to {total} were not read.)*")
    return "\n\n".join(sections) + "\n" if sections else ""


def _clean_text(text: str) -> str:
    lines = (line.strip() for line in _CONTROLS.sub("", text).splitlines())
    return "\n".join(lines).strip()
