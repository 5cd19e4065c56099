"""Reader of PDF files: the text of their pages, read by PDFium.

PDFium is native code that gets untrusted files, so this runs in a parser process: there it can crash, hang or run
out of memory without harm. It stops between two pages before the system would end the process.
"""

import contextlib
import importlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

from dowse.errors import FormatNotReadable
from dowse.reading.front_matter import FrontMatter
from dowse.reading.markdown import read_converted
from dowse.reading.markdown_writer import heading, paragraph
from dowse.reading.shorten import clean_title, file_stem, split_keywords
from dowse.system.child_messages import read_message, write_message
from dowse.types import Reading

MAX_PAGES = 5_000
MAX_CHARS = 10_000_000
MAX_READ_SECONDS = 1.0
"""Processor time for all pages where the system does not limit that of the process."""
RESERVED_SECONDS = 0.3
CHARS_PER_SECOND = 2_000_000
"""Processor time that is left for the text: what is made of it takes half a second for each million characters."""


Part = dict[str, Any]
"""The properties of a PDF (`title`, `subject`, `keywords`, `page_count`), or the text of a `page`."""


def read_page_texts(data: bytes) -> list[Part]:
    """Read the properties and the pages of a PDF as far as the limits allow; nothing of one that is encrypted or damaged.

    A page that hangs or crashes PDFium costs the pages after it, where the system limits the time of this process.
    Raises ImportError if the parser is not installed.
    """
    parser: Any = importlib.import_module("pypdfium2")  # here because not every machine has it
    if not (hasattr(os, "fork") and _has_timer()):
        return list(_read_parts(parser, data))
    with _reading_in_child(parser, data) as parts:
        found = list(parts)
    if len(found) > 1:
        # Let this process go on for at least so long.
        left = signal.getitimer(signal.ITIMER_PROF)[0]
        signal.setitimer(signal.ITIMER_PROF, max(2 * RESERVED_SECONDS, left))
        return found
    return list(_read_parts(parser, data))  # whatever is wrong with the file ends this process, which says so


def _read_parts(parser: Any, data: bytes) -> Iterator[Part]:
    """Yield the properties of a PDF, then its pages; nothing for one that is encrypted or damaged."""
    try:
        document = parser.PdfDocument(data)
    except parser.PdfiumError:
        return
    with contextlib.closing(document):
        named = {name.lower(): _read_property(document, name) for name in ("Title", "Subject", "Keywords")}
        yield {**named, "page_count": len(document)}
        for text in _read_pages(document):
            yield {"page": text}


@contextlib.contextmanager
def _reading_in_child(parser: Any, data: bytes) -> Iterator[Iterator[Part]]:
    """Let a copy of this process read a PDF; its processor time counts as that of this process."""
    reading, writing = os.pipe()
    seconds = signal.getitimer(signal.ITIMER_PROF)[0]  # a copy has no timer of its own
    child = os.fork()
    if not child:
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            with os.fdopen(writing, "wb") as stream:
                for part in _read_parts(parser, data):
                    write_message(stream, part)
        finally:
            os._exit(0)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            yield (message[0] for message in iter(lambda: read_message(stream), None))
    finally:
        usage = os.wait4(child, 0)[2]
        left = signal.getitimer(signal.ITIMER_PROF)[0] - usage.ru_utime - usage.ru_stime
        signal.setitimer(signal.ITIMER_PROF, max(RESERVED_SECONDS, left))


def _read_property(document: Any, name: str) -> str:
    """Return a property of a PDF; empty if it has none or it is broken."""
    with contextlib.suppress(Exception):
        return str(document.get_metadata_value(name))
    return ""


def _read_pages(document: Any) -> Iterator[str]:
    chars, seconds_left = 0, _start_clock()
    for number in range(min(len(document), MAX_PAGES)):
        if chars >= MAX_CHARS or seconds_left() < RESERVED_SECONDS + chars / CHARS_PER_SECOND:
            break
        text = _read_page(document, number, MAX_CHARS - chars)
        chars += len(text)
        yield text


def _read_page(document: Any, number: int, max_chars: int) -> str:
    """Return the text of a page; empty if the page is broken."""
    with (
        contextlib.suppress(Exception),
        contextlib.closing(document[number]) as page,
        contextlib.closing(page.get_textpage()) as text,
    ):
        return str(text.get_text_range(0, min(text.count_chars(), max_chars)))
    return ""


def _start_clock() -> Callable[[], float]:
    """Return a function that says how much processor time is left: until the system ends the process, if it does."""
    if _has_timer():
        return lambda: signal.getitimer(signal.ITIMER_PROF)[0]
    end = time.process_time() + MAX_READ_SECONDS
    return lambda: end - time.process_time()


def _has_timer() -> bool:
    return hasattr(signal, "getitimer") and signal.getitimer(signal.ITIMER_PROF)[0] > 0


_SIGNATURE = b"%PDF-"
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
"""Control characters; PDFium leaves one where a word was hyphenated at the end of a line."""
_MISSING_PARSER = "PDF files need pypdfium2, which is not installed, or has no build for this machine"
_WORD = re.compile(r"[^\W\d_]{2}")


def read_pdf(data: bytes, path: str) -> Reading:
    """Read a PDF, each page as a section; a file that is encrypted, damaged or made of images has no text.

    Raises FormatNotReadable if the parser is not installed.
    """
    try:
        parts = read_page_texts(data) if _SIGNATURE in data[:1024] else []
    except ImportError as error:  # it is not installed, or its library cannot be loaded
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
