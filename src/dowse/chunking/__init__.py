"""Cutting of texts into chunks with line numbers and symbols."""

from collections.abc import Iterable

from dowse.types import Chunk, Kind

__all__ = [
    "MAX_CHUNKS",
    "VERSION",
    "chunk",
    "cut_as_plain_text",
    "find_references",
    "prepare",
    "prepare_all",
]

VERSION = 1
"""Raise it whenever the same text would be cut differently; stored indexes then cut their documents again."""

MAX_CHUNKS = 1000
"""The maximum number of chunks kept of one file, so that no file floods the index."""


def chunk(text: str, language: str, kind: Kind) -> tuple[tuple[Chunk, ...], bool]:
    """Return the chunks of a text, and whether some were dropped because there are more than `MAX_CHUNKS`."""
    # Imported here because it takes 70 ms, and only indexing needs it.
    from dowse.chunking.dispatch import cut_text

    return cut_text(text, language, kind, MAX_CHUNKS)


def find_references(text: str, language: str) -> bytes:
    """Return the packed references of a source file."""
    from dowse.chunking import dispatch

    return dispatch.find_references(text, language)


def cut_as_plain_text(text: str, kind: Kind) -> tuple[tuple[Chunk, ...], bool]:
    """Cut a text without looking at its syntax, in linear time whatever it holds; the result is that of `chunk`."""
    from dowse.chunking.dispatch import cut_plain_text

    return cut_plain_text(text, kind, MAX_CHUNKS)


def prepare(language: str, *, has_references: bool = False) -> None:
    """Load the grammars that a text in this language may need, for cutting it or for its references."""
    from dowse.chunking.grammars import load_grammar

    grammar = load_grammar(language)
    languages = [language, grammar.rival] if grammar is not None and grammar.rival else [language]
    for name in languages:
        load_grammar(name)
    if has_references:
        from dowse.chunking.reference_syntax import load_reference_syntax  # not needed to cut a text

        for name in languages:
            load_reference_syntax(name)


def prepare_all(languages: Iterable[str]) -> None:
    """Load what every text needs, and unpack what texts in these languages may need, which is faster than one by one."""
    import tree_sitter  # noqa: F401 - loaded now, so that the first text need not wait for it

    from dowse.chunking import dispatch  # noqa: F401 - as above
    from dowse.chunking.grammars import unpack_grammars

    unpack_grammars(languages)
