"""Bounds of the structure of marked-up text, counted before it is parsed: a file beyond them would cost all of its time."""

from dowse.parsing.parser_process import ParserRequest

MAX_LINES = 100_000
"""The densest of 146 long documents of installed packages would have 41,000 lines in 1 MB; 1 MB of headings has 250,000."""
MAX_MARKS = 200_000
"""Of each character below. The densest of these documents would have 60,000 in 1 MB, and a list of links as code in HTML
115,000; 1 MB of brackets has a million."""
_MARKS = (b">", b"[", b"*", b"_", b"`", b"|")
_LANGUAGES = frozenset({"markdown", "html", "rst", "asciidoc"})
MAX_CELLS = 10_000
"""Of a notebook; the longest of 427 in public repositories has 121, and 1 MB can have 30,000."""
_NOTEBOOK = ".ipynb"


def structure_problem(request: ParserRequest) -> str:
    """Return why a file is not parsed, as the end of a sentence about it; empty if it may be parsed."""
    data = request.data
    is_notebook = request.fields.get("path", "").lower().endswith(_NOTEBOOK)
    is_counted = len(data) > MAX_LINES and (is_notebook or request.fields.get("language") in _LANGUAGES)
    if not is_counted or data.startswith((b"PK", b"%PDF")):
        return ""  # the readers of packages count what they unpack, and that of PDF its pages and its time
    if max(map(data.count, (b"\n", b"\r", rb"\n") if is_notebook else (b"\n", b"\r"))) > MAX_LINES:
        return f"has more than {MAX_LINES:,} lines"
    if is_notebook and data.count(b'"cell_type"') > MAX_CELLS:
        return f"has more than {MAX_CELLS:,} cells"
    mark = next((mark for mark in _MARKS if data.count(mark) > MAX_MARKS), None)
    return f"has more than {MAX_MARKS:,} {mark.decode()} in it" if mark else ""
