"""Cutting of texts into chunks with line numbers and symbols: by Markdown sections, by syntax, or as plain text."""

from collections.abc import Iterable
from itertools import islice

from dowse.parsing.spans import CODE_SIZE, DOCS_SIZE, Span, Text, make_chunks, split_text
from dowse.text.markup_lines import MARKUP_LANGUAGES
from dowse.types import Chunk, Kind

# The parsers of code and Markdown are imported where they are used: that takes 70 ms, and only indexing needs them.

VERSION = 1
"""Raise it whenever the same text would be cut differently; stored indexes then cut their documents again."""

MAX_CHUNKS = 1000
"""The maximum number of chunks kept of one file, so that no file floods the index."""

_SECTIONED = frozenset({"markdown", "html", *MARKUP_LANGUAGES})
"""Languages whose documents have sections; HTML pages are converted to Markdown when they are read."""


def chunk(text: str, language: str, kind: Kind) -> tuple[tuple[Chunk, ...], bool]:
    """Return the chunks of a text, and whether some were dropped because there are more than `MAX_CHUNKS`."""
    whole = Text(text)
    return _first_chunks(whole, _find_spans(whole, language, kind))


def cut_as_plain_text(text: str, kind: Kind) -> tuple[tuple[Chunk, ...], bool]:
    """Cut a text without looking at its syntax, in linear time whatever it holds; the result is that of `chunk`."""
    return _first_chunks(Text(text), split_text(text, DOCS_SIZE if kind == "docs" else CODE_SIZE))


def _first_chunks(text: Text, spans: Iterable[Span]) -> tuple[tuple[Chunk, ...], bool]:
    chunks = tuple(islice(make_chunks(text, spans), MAX_CHUNKS + 1))
    return chunks[:MAX_CHUNKS], len(chunks) > MAX_CHUNKS


def _find_spans(text: Text, language: str, kind: Kind) -> Iterable[Span]:
    if kind == "docs":
        from dowse.parsing.markdown_sections import section_spans

        return section_spans(text, language) if language in _SECTIONED else split_text(text.characters, DOCS_SIZE)
    from dowse.parsing.syntax import syntax_spans

    spans = syntax_spans(text, language)
    return split_text(text.characters, CODE_SIZE) if spans is None else spans


def find_references(text: str, language: str) -> bytes:
    """Return the packed references of a source file."""
    from dowse.parsing.syntax import source_references

    return source_references(Text(text), language)


def prepare(language: str, *, has_references: bool = False) -> None:
    """Load the grammars that a text in this language may need, for cutting it or for its references."""
    from dowse.parsing.grammars import load_grammar

    grammar = load_grammar(language)
    languages = [language, grammar.rival] if grammar is not None and grammar.rival else [language]
    for name in languages:
        load_grammar(name)
    if has_references:
        from dowse.parsing.reference_syntax import load_reference_syntax  # not needed to cut a text

        for name in languages:
            load_reference_syntax(name)


def prepare_all() -> None:
    """Load what every text needs."""
    import tree_sitter  # noqa: F401 - loaded now, so that the first text need not wait for it

    from dowse.parsing import markdown_sections, syntax  # noqa: F401 - as above
