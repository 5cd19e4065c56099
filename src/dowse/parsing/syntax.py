"""Cutting of code by its syntax: a chunk for each larger definition, with the symbols that it defines."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dowse.parsing.definitions import SCOPE, Definition, EnclosingNames, find_definitions
from dowse.parsing.grammars import Grammar, is_too_long, is_written, load_grammar, parse
from dowse.parsing.spans import CODE_SIZE, ChunkSize, Span, Text, split_text
from dowse.types import Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

TARGET_SIZE = 1500
"""Small neighbours share a chunk up to this size, in bytes; encoders read even less of a chunk."""

MAX_WHOLE_SIZE = 2000
"""Blocks up to this size are never cut: cutting one that exceeds the target by a third would leave a stub."""

SMALL_SIZE = 600
"""A definition of this size or more has a chunk of its own; smaller ones share a chunk."""

TINY_SIZE = 150
"""A smaller chunk says too little to be found: the first line of a class, a lone constant."""

_MAX_DEPTH = 100
"""The maximum depth of descent into a tree; deeper nodes are data or endless expressions."""


@dataclass(frozen=True, slots=True)
class TreeBlock:
    """A block of whole lines, in byte offsets; `node` is the largest syntax node in it."""

    start: int
    end: int
    node: "Node | None"

    @property
    def size(self) -> int:
        """Length in bytes."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class TreeCutter:
    """Cuts the syntax tree of one file into blocks."""

    data: bytes
    leads: frozenset[str]
    """Node types that, like comments, belong to the node that follows: an attribute."""
    names: list[int]
    """The byte offsets at which names are defined, in order."""

    def cut(self, root: "Node") -> list[TreeBlock]:
        """Return the blocks of the file, from its first byte to its last."""
        return self._join_tiny(self._cut_block(TreeBlock(0, len(self.data), root), _MAX_DEPTH))

    def _cut_block(self, block: TreeBlock, depth: int) -> list[TreeBlock]:
        if block.size <= MAX_WHOLE_SIZE or block.node is None or depth == 0:
            return [block]
        parts = list(self._child_blocks(_main_body(block.node), block))
        if len(parts) == 1:
            inner = parts[0].node
            return [block] if inner is None else self._cut_block(TreeBlock(block.start, block.end, inner), depth - 1)
        return [piece for group in self._group_small(parts) for piece in self._cut_block(group, depth - 1)]

    def _child_blocks(self, node: "Node", within: TreeBlock) -> Iterator[TreeBlock]:
        """Return a block for each child that begins a line, with the comments directly above it."""
        start, largest, previous, is_led = within.start, None, None, False
        for child in node.children:
            line = self._line_start(child, node if previous is None else previous, previous is None)
            if child.is_named and line > start and not (is_led and self._is_adjacent(previous, child)):
                yield TreeBlock(start, line, largest)
                start, largest = line, None
            is_lead = "comment" in child.type or child.type in self.leads
            is_led = is_lead and child.end_byte - start <= TARGET_SIZE
            largest = child if largest is None or _node_size(child) > _node_size(largest) else largest
            previous = child
        yield TreeBlock(start, within.end, largest)

    def _line_start(self, child: "Node", previous: "Node", is_first: bool) -> int:
        """Return the start of the child's line if the previous node ends above that line, else 0."""
        end = previous.start_byte if is_first else previous.end_byte
        # Some nodes include the line end after them.
        return self.data.rfind(b"\n", max(end - 1, 0), child.start_byte) + 1

    def _is_adjacent(self, previous: "Node | None", child: "Node") -> bool:
        """Return whether two siblings have no blank line between them."""
        if previous is None:
            return False
        end = previous.end_byte
        end -= self.data[end - 1 : end] == b"\n"
        return self.data.count(b"\n", end, child.start_byte) < 2

    def _group_small(self, parts: list[TreeBlock]) -> Iterator[TreeBlock]:
        """Group small neighbours evenly, up to the target size; large parts stay as they are."""
        group, is_open, full_size = parts[0], self._may_share(parts[0]), _even_group_size(parts)
        max_size = MAX_WHOLE_SIZE  # the first part is often the head of a function, which should not be alone
        for part in parts[1:]:
            may_share = self._may_share(part)
            if is_open and may_share and group.size + part.size <= max_size and group.size < full_size:
                group = TreeBlock(group.start, part.end, None)
            else:
                yield group
                group, is_open = part, may_share
            max_size = TARGET_SIZE
        yield group

    def _may_share(self, part: TreeBlock) -> bool:
        """Return whether a part may be in one chunk with others."""
        if part.size < SMALL_SIZE:
            return True
        has_definition = bisect_left(self.names, part.start) < bisect_left(self.names, part.end)
        return part.size <= TARGET_SIZE and not has_definition

    def _join_tiny(self, blocks: list[TreeBlock]) -> list[TreeBlock]:
        """Join each tiny block to the next block, or to the previous one if the next is too long."""
        kept: list[TreeBlock] = []
        for block in blocks:
            if kept and self._should_join(kept[-1], block):
                kept[-1] = TreeBlock(kept[-1].start, block.end, None)
            else:
                kept.append(block)
        return kept

    def _should_join(self, first: TreeBlock, second: TreeBlock) -> bool:
        if second.size > MAX_WHOLE_SIZE:  # is cut as text later, then together with the first line of its class
            return self._is_tiny(first)
        total = len(self.data[first.start : second.end].strip())
        return total <= MAX_WHOLE_SIZE + TINY_SIZE and (self._is_tiny(first) or self._is_tiny(second))

    def _is_tiny(self, block: TreeBlock) -> bool:
        return len(self.data[block.start : block.end].strip()) < TINY_SIZE


def _main_body(node: "Node") -> "Node":
    """Return the descendant that makes up nearly all of a node, such as the body of a function or an exported class."""
    outer = _node_size(node)
    for _ in range(_MAX_DEPTH):
        large = [child for child in node.children if _node_size(child) > MAX_WHOLE_SIZE]
        if len(large) != 1 or outer - _node_size(large[0]) > SMALL_SIZE:
            break
        node = large[0]
    return node


def _even_group_size(parts: list[TreeBlock]) -> float:
    """Return the size at which a group is full, so that no short rest remains at the end."""
    total = parts[-1].end - parts[0].start
    return total / max(1, round(total / TARGET_SIZE + 0.5))


def _node_size(node: "Node") -> int:
    return node.end_byte - node.start_byte


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
    from dowse.parsing.reference_extraction import extract_references  # not needed to cut a text

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
    blocks = TreeCutter(text.utf8, source.grammar.leads, names).cut(source.root)
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
