"""Which way a text is cut."""

from collections.abc import Iterable
from itertools import islice

from dowse.chunking.markdown import markdown_spans
from dowse.chunking.spans import Span, Text, chunks_of
from dowse.chunking.splitter import CODE, DOCS, split
from dowse.chunking.syntax import syntax_spans
from dowse.types import Chunk, Kind

VERSION = 1
"""To be raised whenever the same text would be cut differently: stored indexes are then cut anew."""

MAX_CHUNKS = 1000
"""How many chunks of one file are kept, so that no file floods the index."""

_MARKDOWN = frozenset({"markdown", "html"})
"""Languages whose documents reach this point as Markdown: pages are converted when they are read."""


def chunk(text: str, language: str, kind: Kind) -> tuple[tuple[Chunk, ...], bool]:
    """Cut a text into chunks; also whether it had more than are kept."""
    whole = Text(text)
    chunks = tuple(islice(chunks_of(whole, _spans(whole, language, kind)), MAX_CHUNKS + 1))
    return chunks[:MAX_CHUNKS], len(chunks) > MAX_CHUNKS


def _spans(text: Text, language: str, kind: Kind) -> Iterable[Span]:
    if kind == "docs":
        return markdown_spans(text) if language in _MARKDOWN else split(text.characters, DOCS)
    spans = syntax_spans(text, language)
    return split(text.characters, CODE) if spans is None else spans
