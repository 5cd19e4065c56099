"""A program of its own: a PDF comes in, a line of JSON for what it states and one for each page go out.

It runs apart because the parser is not ours, is not written in Python and may be fed anything: here it can crash,
hang or grow without harm. It is started by its path and imports nothing of ours.
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
    """Read a PDF from stdin, as far as the limits allow."""
    _limit_resources()
    try:
        parser: Any = importlib.import_module("pypdfium2")
    except ImportError:
        return EXIT_NO_PARSER
    deadline = time.monotonic() + MAX_READ_SECONDS
    document = parser.PdfDocument(sys.stdin.buffer.read())
    stated = {name.lower(): document.get_metadata_value(name) for name in ("Title", "Subject", "Keywords")}
    _write_line({**stated, "pages": len(document)})
    room = MAX_CHARS
    for number in range(min(len(document), MAX_PAGES)):
        if room <= 0 or time.monotonic() > deadline:
            break
        text = _page_text(document, number, room)
        room -= len(text)
        _write_line({"page": number + 1, "text": text})
    return 0


def _page_text(document: Any, number: int, room: int) -> str:
    """The text of a page; one that is broken has none."""
    with contextlib.suppress(Exception):
        page = document[number].get_textpage()
        return str(page.get_text_range(0, min(page.count_chars(), room)))
    return ""


def _write_line(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def _limit_resources() -> None:
    """Memory, time and what may be written, where the system knows such limits."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))


if __name__ == "__main__":
    sys.exit(main())
