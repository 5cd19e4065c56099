"""Which way a text is cut."""

from collections.abc import Iterable
from itertools import islice

from dowse.chunking.markdown_sections import markdown_spans
from dowse.chunking.spans import Span, Text, chunks_of
from dowse.chunking.splitter import CODE, DOCS, split
from dowse.chunking.syntax import syntax_spans
from dowse.types import Chunk, Kind

_MARKDOWN = frozenset({"markdown", "html"})
"""Languages whose documents reach this point as Markdown: pages are converted when they are read."""


def cut(text: str, language: str, kind: Kind, most: int) -> tuple[tuple[Chunk, ...], bool]:
    """Cut a text into at most so many chunks; also whether there were more."""
    whole = Text(text)
    chunks = tuple(islice(chunks_of(whole, _spans(whole, language, kind)), most + 1))
    return chunks[:most], len(chunks) > most


def _spans(text: Text, language: str, kind: Kind) -> Iterable[Span]:
    if kind == "docs":
        return markdown_spans(text) if language in _MARKDOWN else split(text.characters, DOCS)
    spans = syntax_spans(text, language)
    return split(text.characters, CODE) if spans is None else spans
