"""A syntax tree as blocks of whole lines, none longer than it need be."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

TARGET = 1500
"""Small neighbours share a chunk up to so many bytes: what the encoders read of a chunk is shorter still."""

WHOLE = 2000
"""What is no longer than this is never cut: a third more than the target would only leave a stub."""

SMALL = 600
"""A definition of this size has a chunk of its own; smaller ones share."""

TINY = 150
"""A chunk of this size says too little to be found: the first line of a class, a lone constant."""

_MAX_DEPTH = 100
"""How far a tree is descended into; deeper is data or an expression without end."""


@dataclass(frozen=True, slots=True)
class TreeBlock:
    """Whole lines, by byte; `node` is the largest syntax node that stands in them."""

    start: int
    end: int
    node: "Node | None"

    @property
    def size(self) -> int:
        """Length in bytes."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Layout:
    """What cutting a file needs to know beside its tree."""

    data: bytes
    is_lead: Callable[[str], bool]
    """Whether a node of this type belongs to what follows: a comment, an attribute."""
    defines: Callable[[int, int], bool]
    """Whether a name is defined between two bytes."""

    def blocks(self, root: "Node") -> list[TreeBlock]:
        """The file in blocks, from its first byte to its last."""
        return self._without_tiny(self._cut(TreeBlock(0, len(self.data), root), _MAX_DEPTH))

    def _cut(self, block: TreeBlock, depth: int) -> list[TreeBlock]:
        if block.size <= WHOLE or block.node is None or depth == 0:
            return [block]
        heart = _heart(block.node)
        parts = list(self._lines_of(heart, block))
        if len(parts) == 1:
            inner = parts[0].node
            return [block] if inner is None else self._cut(TreeBlock(block.start, block.end, inner), depth - 1)
        return [piece for group in self._groups(parts) for piece in self._cut(group, depth - 1)]

    def _lines_of(self, node: "Node", within: TreeBlock) -> Iterator[TreeBlock]:
        """A block for each child that begins a line, with the comments directly above it."""
        start, largest, previous, is_led = within.start, None, None, False
        for child in node.children:
            line = self._line_before(child, node if previous is None else previous, previous is None)
            if child.is_named and line > start and not (is_led and self._touches(previous, child)):
                yield TreeBlock(start, line, largest)
                start, largest = line, None
            is_led = self.is_lead(child.type) and child.end_byte - start <= TARGET
            largest = child if largest is None or _size(child) > _size(largest) else largest
            previous = child
        yield TreeBlock(start, within.end, largest)

    def _line_before(self, child: "Node", previous: "Node", is_first: bool) -> int:
        """Where the child's line begins if nothing else stands on it; else 0."""
        end = previous.start_byte if is_first else previous.end_byte
        # Some nodes hold the line end behind them.
        return self.data.rfind(b"\n", max(end - 1, 0), child.start_byte) + 1

    def _touches(self, previous: "Node | None", child: "Node") -> bool:
        """Whether no blank line stands between two siblings."""
        if previous is None:
            return False
        end = previous.end_byte
        end -= self.data[end - 1 : end] == b"\n"
        return self.data.count(b"\n", end, child.start_byte) < 2

    def _groups(self, parts: list[TreeBlock]) -> Iterator[TreeBlock]:
        """Small neighbours together, up to the target and evenly; large parts as they are."""
        group, is_open, limit = parts[0], self._shares(parts[0]), _even_limit(parts)
        room = WHOLE  # the first part is often the head of a function, which should not stand alone
        for part in parts[1:]:
            shares = self._shares(part)
            if is_open and shares and group.size + part.size <= room and group.size < limit:
                group = TreeBlock(group.start, part.end, None)
            else:
                yield group
                group, is_open = part, shares
            room = TARGET
        yield group

    def _shares(self, part: TreeBlock) -> bool:
        """Whether a part may stand in a chunk with others."""
        return part.size < SMALL or (part.size <= TARGET and not self.defines(part.start, part.end))

    def _without_tiny(self, blocks: list[TreeBlock]) -> list[TreeBlock]:
        """Tiny blocks joined to the next one, or to the one before where that is too long."""
        kept: list[TreeBlock] = []
        for block in blocks:
            last = kept[-1] if kept else None
            if last is not None and self._joins(last, block):
                kept[-1] = TreeBlock(last.start, block.end, None)
            else:
                kept.append(block)
        return kept

    def _joins(self, first: TreeBlock, second: TreeBlock) -> bool:
        if second.size > WHOLE:  # will be cut anyway, then with the first line of its class before it
            return self._is_tiny(first)
        total = len(self.data[first.start : second.end].strip())
        return total <= WHOLE + TINY and (self._is_tiny(first) or self._is_tiny(second))

    def _is_tiny(self, block: TreeBlock) -> bool:
        return len(self.data[block.start : block.end].strip()) < TINY


def _heart(node: "Node") -> "Node":
    """The node that holds nearly all of another: the body of a function, of an exported class."""
    outer = _size(node)
    for _ in range(_MAX_DEPTH):
        large = [child for child in node.children if _size(child) > WHOLE]
        if len(large) != 1 or outer - _size(large[0]) > SMALL:
            break
        node = large[0]
    return node


def _even_limit(parts: list[TreeBlock]) -> float:
    """The size at which a group is full enough, so that no short rest remains at the end."""
    total = parts[-1].end - parts[0].start
    return total / max(1, round(total / TARGET + 0.5))


def _size(node: "Node") -> int:
    return node.end_byte - node.start_byte
