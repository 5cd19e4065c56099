"""Cutting of a syntax tree into blocks of whole lines."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    is_lead: Callable[[str], bool]
    """Returns whether a node of this type belongs to the node that follows: a comment, an attribute."""
    has_definition: Callable[[int, int], bool]
    """Returns whether a name is defined between two byte offsets."""

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
            is_led = self.is_lead(child.type) and child.end_byte - start <= TARGET_SIZE
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
        return part.size < SMALL_SIZE or (part.size <= TARGET_SIZE and not self.has_definition(part.start, part.end))

    def _join_tiny(self, blocks: list[TreeBlock]) -> list[TreeBlock]:
        """Join each tiny block to the next block, or to the previous one if the next is too long."""
        kept: list[TreeBlock] = []
        for block in blocks:
            last = kept[-1] if kept else None
            if last is not None and self._should_join(last, block):
                kept[-1] = TreeBlock(last.start, block.end, None)
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
