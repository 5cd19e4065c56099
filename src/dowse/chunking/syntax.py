"""Code by its syntax: a chunk for each definition of some size, with the symbols that it defines."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dowse.chunking.blocks import TARGET, WHOLE, Layout
from dowse.chunking.definitions import SCOPE, Definition, Surroundings, definitions
from dowse.chunking.grammars import Grammar, grammar_of, parse
from dowse.chunking.spans import Span, Text
from dowse.chunking.splitter import CODE, Measure, split
from dowse.types import Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

_LONG = Measure(size=TARGET, overlap=0, separators=CODE.separators)
"""How what syntax cannot cut is cut: a literal of a thousand lines."""

_MAX_ERROR_SHARE = 0.5


def syntax_spans(text: Text, language: str) -> list[Span] | None:
    """The spans of a source file; None when it has no grammar here or cannot be parsed."""
    grammar = grammar_of(language)
    tree = parse(grammar, text.utf8) if grammar is not None else None
    if grammar is None or tree is None:
        return None
    found = definitions(grammar, tree.root_node, text.utf8)
    if _is_broken(tree.root_node):
        spans = list(split(text.characters, CODE))
    else:
        spans = list(_cut(text, tree.root_node, grammar, [one.at for one in found]))
    return _described(text, spans, found)


def _is_broken(root: "Node") -> bool:
    """Whether most of a tree is text that the grammar could make nothing of."""
    if not root.has_error:
        return False
    if root.is_error:
        return True
    wrong = sum(child.end_byte - child.start_byte for child in root.children if child.is_error)
    return wrong > _MAX_ERROR_SHARE * (root.end_byte - root.start_byte)


def _cut(text: Text, root: "Node", grammar: Grammar, names: list[int]) -> Iterator[Span]:
    """Spans along the tree; what is longer than a chunk should be is cut as plain text."""
    layout = Layout(
        data=text.utf8,
        is_lead=lambda kind: "comment" in kind or kind in grammar.leads,
        defines=lambda start, end: bisect_left(names, start) < bisect_left(names, end),
    )
    blocks = layout.blocks(root)
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
        symbols = tuple(Symbol(one.name, one.kind, text.line_at(one.at)) for one in inside if one.kind != SCOPE)
        headings = around.names(start, end, {one.owner for one in inside if one.kind == "method"})
        described.append(Span(span.start, span.end, symbols, headings))
    return described
