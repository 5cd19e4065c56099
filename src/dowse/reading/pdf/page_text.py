"""A separate program that reads a PDF from stdin and writes lines of JSON: its properties, then each page.

It runs in its own process because the parser is native code that gets untrusted files: here it can crash,
hang or run out of memory without harm. It is started by its path and imports nothing from dowse.
"""

import contextlib
import importlib
import json
import sys
import time
from typing import Any

MAX_PAGES = 5_000
MAX_CHARS = 10_000_000
MAX_READ_SECONDS = 20.0
EXIT_NO_PARSER = 3
_MAX_MEMORY_BYTES = 2 * 1024**3


def main() -> int:
    """Read a PDF from stdin as far as the limits allow; return the exit status."""
    _limit_resources()
    try:
        parser: Any = importlib.import_module("pypdfium2")
    except ImportError:
        return EXIT_NO_PARSER
    deadline = time.monotonic() + MAX_READ_SECONDS
    document = parser.PdfDocument(sys.stdin.buffer.read())
    properties = {name.lower(): document.get_metadata_value(name) for name in ("Title", "Subject", "Keywords")}
    _write_line({**properties, "pages": len(document)})
    chars_left = MAX_CHARS
    for number in range(min(len(document), MAX_PAGES)):
        if chars_left <= 0 or time.monotonic() > deadline:
            break
        text = _page_text(document, number, chars_left)
        chars_left -= len(text)
        _write_line({"page": number + 1, "text": text})
    return 0


def _page_text(document: Any, number: int, chars_left: int) -> str:
    """Return the text of a page; empty if the page is broken."""
    with contextlib.suppress(Exception):
        page = document[number].get_textpage()
        return str(page.get_text_range(0, min(page.count_chars(), chars_left)))
    return ""


def _write_line(record: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def _limit_resources() -> None:
    """Limit memory, processor time and written files, on systems that support it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))


if __name__ == "__main__":
    sys.exit(main())
