"""Reader of PDF files: the text of their pages."""

import json
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from dowse.errors import FormatNotReadable
from dowse.reading.front_matter import FrontMatter
from dowse.reading.markdown import read_converted
from dowse.reading.markdown_writer import heading, paragraph
from dowse.reading.pdf.page_text import EXIT_NO_PARSER, MAX_READ_SECONDS
from dowse.reading.placeholder_titles import clean_title, split_keywords
from dowse.reading.shorten import file_stem
from dowse.types import Reading

_SIGNATURE = b"%PDF-"
_PROGRAM = Path(__file__).with_name("page_text.py")
_KILL_SECONDS = MAX_READ_SECONDS + 10
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
"""Control characters; PDFium leaves one where a word was hyphenated at the end of a line."""
_MISSING_PARSER = "PDF files need pypdfium2, which is not installed. Run: pip install 'dowse[documents]'"
_WORD = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class _Properties:
    title: str = ""
    subject: str = ""
    keywords: str = ""
    pages: int = 0


def read_pdf(data: bytes, path: str) -> Reading:
    """Read a PDF, each page as a section; a file that is encrypted, damaged or made of images has no text.

    Raises FormatNotReadable if the parser is not installed.
    """
    properties, pages = _parse_pdf(data)
    lines = [line for page in pages[:3] for line in page.splitlines() if _WORD.search(line)]
    title = clean_title(properties.title)
    following = lines[0 if title else 1 :][:4]
    metadata = FrontMatter(
        title or next(iter(lines), file_stem(path)),
        properties.subject or " ".join(following),
        split_keywords(properties.keywords),
    )
    return read_converted(_join_pages(pages, properties.pages), path, metadata=metadata)


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


def _parse_pdf(data: bytes) -> tuple["_Properties", list[str]]:
    """Return the properties of a PDF, and the text of its pages as far as they can be read."""
    if find_spec("pypdfium2") is None:
        raise FormatNotReadable(_MISSING_PARSER)
    if _SIGNATURE not in data[:1024]:
        return _Properties(), []
    # -P keeps the folder of the program and the working directory out of the import path.
    command = [sys.executable, "-P", str(_PROGRAM)]
    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        process = subprocess.run(  # noqa: S603 - our own program
            command, input=data, capture_output=True, timeout=_KILL_SECONDS, creationflags=no_window, check=False
        )
        output, code = process.stdout, process.returncode
    except subprocess.TimeoutExpired as timeout:
        output, code = timeout.stdout or b"", 0
    except OSError as error:
        raise FormatNotReadable(f"the PDF reader process did not start: {error.strerror}") from error
    if code == EXIT_NO_PARSER:
        raise FormatNotReadable(_MISSING_PARSER)
    return _read_output(output)


def _read_output(output: bytes) -> tuple["_Properties", list[str]]:
    """Parse the output of the program, whose last line may be incomplete."""
    properties, pages = _Properties(), list[str]()
    for line in output.splitlines():
        with suppress(ValueError, TypeError, KeyError):
            record = json.loads(line)
            if "page" in record:
                pages.append(_clean_text(record["text"]))
            else:
                title, subject, keywords = (_clean_text(record[name]) for name in ("title", "subject", "keywords"))
                properties = _Properties(title, subject, keywords, record["pages"])
    return properties, pages


def _clean_text(text: str) -> str:
    lines = (line.strip() for line in _CONTROLS.sub("", text).splitlines())
    return "\n".join(lines).strip()
