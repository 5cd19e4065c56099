"""Code by its syntax: a chunk for each definition of some size, with the symbols that it defines."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dowse.chunking.definitions import SCOPE, Definition, Surroundings, definitions
from dowse.chunking.grammars import Grammar, grammar_of, parse
from dowse.chunking.spans import Span, Text
from dowse.chunking.splitter import CODE, ChunkSize, split
from dowse.chunking.tree_blocks import TARGET, WHOLE, Layout
from dowse.types import Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

_LONG = ChunkSize(size=TARGET, overlap=0, separators=CODE.separators)
"""How what syntax cannot cut is cut: a literal of a thousand lines."""

_MAX_ERROR_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """A source file as its grammar sees it."""

    grammar: Grammar
    root: "Node"
    found: list[Definition]


def syntax_spans(text: Text, language: str) -> list[Span] | None:
    """The spans of a source file; None when it has no grammar here or cannot be parsed."""
    source = _source(text.utf8, language)
    if source is None:
        return None
    spans = split(text.characters, CODE) if _is_broken(source.root) else _cut(text, source)
    return _described(text, list(spans), source.found)


def _source(data: bytes, language: str) -> ParsedSource | None:
    """The text by its language's grammar, or by the rival's where that does better."""
    grammar = grammar_of(language)
    tree = parse(grammar, data) if grammar is not None else None
    if grammar is None or tree is None:
        return None
    source = ParsedSource(grammar, tree.root_node, definitions(grammar, tree.root_node, data))
    if grammar.rival and source.root.has_error and grammar.rival_sign in data:
        rival = _source(data, grammar.rival)
        if rival is not None and (not rival.root.has_error or len(rival.found) > len(source.found)):
            return rival
    return source


def _is_broken(root: "Node") -> bool:
    """Whether most of a tree is text that the grammar could make nothing of."""
    if not root.has_error:
        return False
    if root.is_error:
        return True
    wrong = sum(child.end_byte - child.start_byte for child in root.children if child.is_error)
    return wrong > _MAX_ERROR_SHARE * (root.end_byte - root.start_byte)


def _cut(text: Text, source: ParsedSource) -> Iterator[Span]:
    """Spans along the tree; what is longer than a chunk should be is cut as plain text."""
    names, leads = [one.at for one in source.found], source.grammar.leads
    layout = Layout(
        data=text.utf8,
        is_lead=lambda kind: "comment" in kind or kind in leads,
        defines=lambda start, end: bisect_left(names, start) < bisect_left(names, end),
    )
    blocks = layout.blocks(source.root)
    at = text.characters_at({edge for block in blocks for edge in (block.start, block.end)})
    for block in blocks:
        start, end = at[block.start], at[block.end]
        if end - start > WHOLE:
            yield from split(text.characters, _LONG, start, end)
        else:
            yield Span(start, end)


def _described(text: Text, spans: list[Span], found: list[Definition]) -> list[Span]:
    """The spans with the symbols that they define and the names of what encloses them."""
    offsets = text.bytes_at({edge for span in spans for edge in (span.start, span.end)})
    names = [one.at for one in found]
    around = Surroundings(found)
    described = []
    for span in spans:
        start, end = offsets[span.start], offsets[span.end]
        inside = found[bisect_left(names, start) : bisect_left(names, end)]
        described.append(Span(span.start, span.end, _symbols(text, inside), around.names(start, end, inside)))
    return described


def _symbols(text: Text, inside: list[Definition]) -> tuple[Symbol, ...]:
    """Each name once, where it stands first: a signature and its equations define one thing."""
    first: dict[tuple[str, str], Symbol] = {}
    for one in inside:
        if one.kind != SCOPE and (one.name, one.kind) not in first:
            first[one.name, one.kind] = Symbol(one.name, one.kind, text.line_at(one.at))
    return tuple(first.values())
