"""Cutting of code by its syntax: a chunk for each larger definition, with the symbols that it defines."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dowse.chunking.definitions import SCOPE, Definition, EnclosingNames, find_definitions
from dowse.chunking.grammars import Grammar, is_too_long, is_written, load_grammar, parse
from dowse.chunking.spans import Span, Text
from dowse.chunking.splitter import CODE_SIZE, ChunkSize, split_text
from dowse.chunking.tree_blocks import MAX_WHOLE_SIZE, TARGET_SIZE, TreeCutter
from dowse.types import Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

_LONG_BLOCK = ChunkSize(size=TARGET_SIZE, overlap=0, separators=CODE_SIZE.separators)
"""The chunk size for blocks that syntax cannot cut, such as a literal of a thousand lines."""

_MAX_ERROR_SHARE = 0.5

_MACROS = re.compile(
    rb"(\b(?:class|struct|union)\s+)([A-Z][A-Z0-9_]+)(?=\s+[A-Za-z_]\w*(?:\s+final)?\s*[:{])"
    rb"|^([ \t]*(?:(?:extern|static|inline|virtual)[ \t]+)*)([A-Z][A-Z0-9_]*_(?:API|DECL|EXPORTS?|EXTERN|INLINE|PUBLIC))(?=\s+[\w:])",
    re.MULTILINE,
)
"""Macros in C and C++ that are no part of the syntax: `class API Apple {`, `FRUIT_EXPORT int peel();`."""


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """A parsed source file with its definitions."""

    grammar: Grammar
    root: "Node"
    definitions: list[Definition]


def syntax_spans(text: Text, language: str) -> list[Span] | None:
    """Return the spans of a source file, or None if its language has no grammar or parsing fails."""
    source = _parse_source(text.utf8, language)
    if source is None:
        return None
    spans = split_text(text.characters, CODE_SIZE) if _is_mostly_errors(source.root) else _cut_tree(text, source)
    return _add_symbols(text, list(spans), source.definitions)


def source_references(text: Text, language: str) -> bytes:
    """Return the packed references of a source file; of one that is too long to be parsed, its names alone."""
    grammar = load_grammar(language)
    is_c = grammar is not None and grammar.name in ("c", "cpp")
    source = _parse_source(_MACROS.sub(_without_macro, text.utf8) if is_c else text.utf8, language)
    if grammar is None or (source is None and not (is_too_long(text.utf8) and is_written(text.utf8))):
        return b""
    from dowse.chunking.reference_extraction import extract_references  # not needed to cut a text

    if source is None:
        return extract_references(grammar.name, None, text.utf8, [], text.line_starts)
    return extract_references(source.grammar.name, source.root, text.utf8, source.definitions, text.line_starts)


def _without_macro(match: re.Match[bytes]) -> bytes:
    before, macro = (match[1], match[2]) if match[2] else (match[3], match[4])
    return before + b" " * len(macro)


def _parse_source(data: bytes, language: str) -> ParsedSource | None:
    """Parse a text with the grammar of its language, or with the rival grammar if that works better."""
    grammar = load_grammar(language)
    tree = parse(grammar, data) if grammar is not None else None
    if grammar is None or tree is None:
        return None
    source = ParsedSource(grammar, tree.root_node, find_definitions(grammar, tree.root_node, data))
    if grammar.rival and source.root.has_error and grammar.rival_sign in data:
        rival = _parse_source(data, grammar.rival)
        if rival is not None and (not rival.root.has_error or len(rival.definitions) > len(source.definitions)):
            return rival
    return source


def _is_mostly_errors(root: "Node") -> bool:
    """Return whether most of a tree consists of errors."""
    if not root.has_error:
        return False
    if root.is_error:
        return True
    error_bytes = sum(child.end_byte - child.start_byte for child in root.children if child.is_error)
    return error_bytes > _MAX_ERROR_SHARE * (root.end_byte - root.start_byte)


def _cut_tree(text: Text, source: ParsedSource) -> Iterator[Span]:
    """Cut a text along its syntax tree; blocks that are still too long are cut as plain text."""
    names = [definition.name_at for definition in source.definitions]
    leads = source.grammar.leads
    cutter = TreeCutter(
        data=text.utf8,
        is_lead=lambda kind: "comment" in kind or kind in leads,
        has_definition=lambda start, end: bisect_left(names, start) < bisect_left(names, end),
    )
    blocks = cutter.cut(source.root)
    offsets = text.character_offsets({edge for block in blocks for edge in (block.start, block.end)})
    for block in blocks:
        start, end = offsets[block.start], offsets[block.end]
        if end - start > MAX_WHOLE_SIZE:
            yield from split_text(text.characters, _LONG_BLOCK, start, end)
        else:
            yield Span(start, end)


def _add_symbols(text: Text, spans: list[Span], definitions: list[Definition]) -> list[Span]:
    """Return the spans with the symbols that they define and the names of the definitions around them."""
    offsets = text.byte_offsets({edge for span in spans for edge in (span.start, span.end)})
    names = [definition.name_at for definition in definitions]
    enclosing = EnclosingNames(definitions)
    described = []
    for span in spans:
        start, end = offsets[span.start], offsets[span.end]
        inside = definitions[bisect_left(names, start) : bisect_left(names, end)]
        described.append(
            Span(span.start, span.end, _unique_symbols(text, inside), enclosing.of_span(start, end, inside))
        )
    return described


def _unique_symbols(text: Text, inside: list[Definition]) -> tuple[Symbol, ...]:
    """Return each symbol once, at its first line: in Haskell a signature and its equations define one function."""
    symbols: dict[tuple[str, str], Symbol] = {}
    previous = None
    for definition in inside:
        name, kind = key = definition.name, definition.kind
        if kind != SCOPE and (key not in symbols or key == previous):
            line = symbols[key].line if key in symbols else text.line_at(definition.name_at)
            symbols[key] = Symbol(name, kind, line, text.line_at(max(definition.start, definition.end - 1)))
        previous = key
    return tuple(symbols.values())
