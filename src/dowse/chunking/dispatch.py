"""Selection of the way a text is cut: by Markdown sections, by syntax, or as plain text."""

from collections.abc import Iterable
from itertools import islice

from dowse.chunking.markdown_sections import section_spans
from dowse.chunking.spans import Span, Text, make_chunks
from dowse.chunking.splitter import CODE_SIZE, DOCS_SIZE, split_text
from dowse.chunking.syntax import source_references, syntax_spans
from dowse.markup_lines import MARKUP_LANGUAGES
from dowse.types import Chunk, Kind

_SECTIONED = frozenset({"markdown", "html", *MARKUP_LANGUAGES})
"""Languages whose documents have sections; HTML pages are converted to Markdown when they are read."""


def cut_text(text: str, language: str, kind: Kind, max_chunks: int) -> tuple[tuple[Chunk, ...], bool]:
    """Return the first `max_chunks` chunks of a text, and whether it has more."""
    whole = Text(text)
    return _first_chunks(whole, _find_spans(whole, language, kind), max_chunks)


def find_references(text: str, language: str) -> bytes:
    """Return the packed references of a source file."""
    return source_references(Text(text), language)


def cut_plain_text(text: str, kind: Kind, max_chunks: int) -> tuple[tuple[Chunk, ...], bool]:
    """Return the same as `cut_text`, without parsing the text."""
    return _first_chunks(Text(text), split_text(text, DOCS_SIZE if kind == "docs" else CODE_SIZE), max_chunks)


def _first_chunks(text: Text, spans: Iterable[Span], max_chunks: int) -> tuple[tuple[Chunk, ...], bool]:
    chunks = tuple(islice(make_chunks(text, spans), max_chunks + 1))
    return chunks[:max_chunks], len(chunks) > max_chunks


def _find_spans(text: Text, language: str, kind: Kind) -> Iterable[Span]:
    if kind == "docs":
        return section_spans(text, language) if language in _SECTIONED else split_text(text.characters, DOCS_SIZE)
    spans = syntax_spans(text, language)
    return split_text(text.characters, CODE_SIZE) if spans is None else spans
