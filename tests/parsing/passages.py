"""Texts to cut, and assertions that hold for the chunks of every text."""

import re
from itertools import pairwise

from hypothesis import strategies as st

from dowse.types import Chunk

_FRAGMENTS = [
    "def walk(way):\n    return way\n", "class Edge:\n", "    def weigh(self): return 1\n",
    "int main(void)\n{\n  return 0;\n}\n", "# Heading\n", "## Ünder it\n\n", "Setext\n======\n",
    "```\n# no heading\n```\n", "---\ntitle: x\n---\n", "- item\n\n  - item\n", "/* a comment */\n", "{ ( [",
    "] ) }\n", "'\"`", "\n\n", "\r\n\r\n", "\r", "\r\n", " ", "\t", "\x00", "\x0c", "\u2028", "é", "漢字。", "😀",
    "A sentence. Another chunk. ", "w " * 700, "x" * 900, "é" * 2500, "line\n" * 300, "short = 1\n\n" * 90,
]  # fmt: skip
texts = st.lists(st.sampled_from(_FRAGMENTS) | st.text(max_size=40), max_size=25).map("".join)


def assert_exact(text: str, chunks: tuple[Chunk, ...], longest: int) -> None:
    """Assert that each chunk has the text of its bytes and of its lines, is not too long, and follows the one before."""
    data = text.encode()
    for chunk in chunks:
        assert data[chunk.start_byte : chunk.end_byte].decode() == chunk.text
        assert len(chunk.text) <= longest
        assert chunk.text.strip()
        assert chunk.start_line == _line(text, data, chunk.start_byte)
        assert chunk.end_line == _line(text, data, chunk.end_byte - 1)
    for first, second in pairwise(chunks):
        assert first.start_byte < second.start_byte
        assert first.end_byte < second.end_byte


def assert_nothing_lost(text: str, chunks: tuple[Chunk, ...]) -> None:
    """Assert that there is only white space between the chunks."""
    data, done = text.encode(), 0
    for chunk in chunks:
        assert not data[done : max(done, chunk.start_byte)].decode().strip()
        done = max(done, chunk.end_byte)
    assert not data[done:].decode().strip()


def _line(text: str, data: bytes, byte: int) -> int:
    """Return the line of a byte, counted in characters: a different way from the tested code."""
    position = len(data[:byte].decode(errors="ignore"))
    return 1 + sum(match.end() <= position for match in re.finditer("\r\n|\n|\r", text))
