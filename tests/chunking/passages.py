"""Texts to cut, and what must hold of every cut."""

import re
from itertools import pairwise

from hypothesis import strategies as st

from dowse.types import Chunk

_FRAGMENTS = [
    "def walk(way):\n    return way\n",
    "class Edge:\n",
    "    def weigh(self): return 1\n",
    "int main(void)\n{\n  return 0;\n}\n",
    "# Heading\n",
    "## Ünder it\n\n",
    "Setext\n======\n",
    "```\n# no heading\n```\n",
    "---\ntitle: x\n---\n",
    "- item\n\n  - item\n",
    "/* a comment */\n",
    "{ ( [",
    "] ) }\n",
    "'\"`",
    "\n\n",
    "\r\n\r\n",
    "\r",
    "\r\n",
    " ",
    "\t",
    "\x00",
    "\x0c",
    "\u2028",
    "é",
    "漢字。",
    "😀",
    "A sentence. Another one. ",
    "w " * 700,
    "x" * 900,
    "é" * 2500,
    "line\n" * 300,
    "short = 1\n\n" * 90,
]
texts = st.lists(st.sampled_from(_FRAGMENTS) | st.text(max_size=40), max_size=25).map("".join)


def assert_exact(text: str, chunks: tuple[Chunk, ...], longest: int) -> None:
    """Each chunk is the very slice that it says, in order, not too long, on the lines that it says."""
    data = text.encode()
    for one in chunks:
        assert data[one.start_byte : one.end_byte].decode() == one.text
        assert len(one.text) <= longest
        assert one.text.strip()
        assert one.start_line == _line(text, data, one.start_byte)
        assert one.end_line == _line(text, data, one.end_byte - 1)
    for first, second in pairwise(chunks):
        assert first.start_byte < second.start_byte
        assert first.end_byte < second.end_byte


def assert_nothing_lost(text: str, chunks: tuple[Chunk, ...]) -> None:
    """Between the chunks there is only white space."""
    data, done = text.encode(), 0
    for one in chunks:
        assert not data[done : max(done, one.start_byte)].decode().strip()
        done = max(done, one.end_byte)
    assert not data[done:].decode().strip()


def _line(text: str, data: bytes, byte: int) -> int:
    """Lines counted in characters, one by one: another way than the one under test."""
    position = len(data[:byte].decode(errors="ignore"))
    return 1 + sum(match.end() <= position for match in re.finditer("\r\n|\n|\r", text))
