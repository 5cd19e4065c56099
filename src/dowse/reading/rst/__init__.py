"""Reader of reStructuredText, which becomes Markdown; directives are not executed."""

import re
from pathlib import PurePosixPath

from dowse.reading.decoding import decode
from dowse.reading.front_matter import FrontMatter
from dowse.reading.markdown import read_converted
from dowse.reading.rst.blocks import RstBlocks
from dowse.reading.rst.inline import collect_names
from dowse.types import Reading

_HEADER = re.compile(r"\n*(?:[A-Z][A-Za-z-]{1,30}:(?: .*)?\n(?:[ \t]+\S.*\n)*){2,}(?=\n|\Z)")
"""The header of enhancement proposals: `PEP: 8`, `Title: …`."""
_ESCAPE_OR_LITERAL = re.compile(r"\\(.)|``")
_TITLE = re.compile(r"^Title: (?P<title>.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_MAX_HEADER_CHARS = 16 * 1024


def read_rst(data: bytes, path: str) -> Reading:
    """Read reStructuredText: sections, lists, tables, code and links as Markdown; the first heading is the title."""
    decoded = decode(data)
    # Lines end only at CR and LF: a form feed or U+2028 stays in its line, as in Markdown.
    source = re.sub(r"\r\n?", "\n", decoded.text).expandtabs(8)
    header = _HEADER.match(source, 0, _MAX_HEADER_CHARS)
    title = _TITLE.search(header[0]) if header else None
    if header:
        source = re.sub(r"^(?=[A-Z])", ":", header[0], flags=re.MULTILINE) + source[header.end() :]
    lines = [line.rstrip() for line in source.split("\n")]
    blocks = RstBlocks(collect_names(iter(lines), PurePosixPath(path).suffix))
    text = blocks.convert(lines)
    metadata = FrontMatter(title=_ESCAPE_OR_LITERAL.sub(r"\1", title["title"])) if title else None
    return read_converted(text + "\n" if text else "", path, decoded.encoding, metadata)
