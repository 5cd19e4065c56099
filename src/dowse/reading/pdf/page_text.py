"""The text of the pages of a PDF, read by PDFium.

PDFium is native code that gets untrusted files, so this runs in a parser process: there it can crash, hang or run
out of memory without harm. It stops between two pages before the system would end the process.
"""

import contextlib
import importlib
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_PAGES = 5_000
MAX_CHARS = 10_000_000
MAX_READ_SECONDS = 1.0
"""Processor time for all pages where the system does not limit that of the process."""
RESERVED_SECONDS = 0.3
CHARS_PER_SECOND = 2_000_000
"""Processor time that is left for the text: what is made of it takes half a second for each million characters."""


@dataclass(frozen=True, slots=True)
class PdfText:
    """The properties of a PDF, and the text of the pages that were read."""

    title: str = ""
    subject: str = ""
    keywords: str = ""
    page_count: int = 0
    pages: tuple[str, ...] = ()


def read_page_texts(data: bytes) -> PdfText:
    """Read a PDF as far as the limits allow; one that is encrypted or damaged has no pages.

    Raises ImportError if the parser is not installed.
    """
    parser: Any = importlib.import_module("pypdfium2")  # here because not every machine has it
    try:
        document = parser.PdfDocument(data)
    except parser.PdfiumError:
        return PdfText()
    with contextlib.closing(document):
        title, subject, keywords = (_read_property(document, name) for name in ("Title", "Subject", "Keywords"))
        return PdfText(title, subject, keywords, len(document), tuple(_read_pages(document)))


def _read_property(document: Any, name: str) -> str:
    """Return a property of a PDF; empty if it has none or it is broken."""
    with contextlib.suppress(Exception):
        return str(document.get_metadata_value(name))
    return ""


def _read_pages(document: Any) -> list[str]:
    pages, chars, seconds_left = list[str](), 0, _start_clock()
    for number in range(min(len(document), MAX_PAGES)):
        if chars >= MAX_CHARS or seconds_left() < RESERVED_SECONDS + chars / CHARS_PER_SECOND:
            break
        pages.append(_read_page(document, number, MAX_CHARS - chars))
        chars += len(pages[-1])
    return pages


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
    if hasattr(signal, "getitimer") and signal.getitimer(signal.ITIMER_PROF)[0]:
        return lambda: signal.getitimer(signal.ITIMER_PROF)[0]
    end = time.process_time() + MAX_READ_SECONDS
    return lambda: end - time.process_time()
