"""What a source file defines, found by its grammar's patterns."""

from typing import TYPE_CHECKING, NamedTuple

from dowse.chunking.grammars import Grammar

if TYPE_CHECKING:
    from tree_sitter import Node

SCOPE = "scope"
"""The kind of what encloses others and defines nothing itself, such as Rust's `impl`."""

_HOLDS_METHODS = frozenset({"class", "struct", "interface", "trait", "enum", "object", "extension", SCOPE})
_MAX_NAME_BYTES = 200


class Definition(NamedTuple):
    """A name with its kind; `at` is the byte where the name stands, `start` and `end` those of the whole."""

    name: str
    kind: str
    at: int
    start: int
    end: int
    owner: str = ""
    """What a definition written elsewhere belongs to: Go's receiver, the `A` of C++'s `A::b`."""


def definitions(grammar: Grammar, root: "Node", data: bytes) -> list[Definition]:
    """The definitions of a file in the order of their names."""
    if grammar.definitions is None:
        return []
    from tree_sitter import QueryCursor

    cursor = QueryCursor(grammar.definitions, match_limit=10_000)
    cursor.set_max_start_depth(grammar.depth)
    found: dict[int, tuple[int, Definition]] = {}
    for pattern, captures in cursor.matches(root):
        for definition in _named(captures, data):
            # Of several patterns for one name the first in the file is the most telling.
            if definition.at not in found or pattern < found[definition.at][0]:
                found[definition.at] = pattern, definition
    return _with_methods(sorted((entry[1] for entry in found.values()), key=lambda one: (one.start, -one.end)))


def _named(captures: "dict[str, list[Node]]", data: bytes) -> list[Definition]:
    kind, whole = next((kind, nodes[0]) for kind, nodes in captures.items() if kind not in ("name", "owner", "_"))
    owner = _text(captures["owner"][0], data) if "owner" in captures else ""
    return [
        Definition(
            name := _bare(_text(node, data)),
            _kind(kind, name),
            node.start_byte,
            whole.start_byte,
            whole.end_byte,
            owner,
        )
        for node in captures.get("name", ())
        if 0 < node.end_byte - node.start_byte <= _MAX_NAME_BYTES
    ]


def _kind(kind: str, name: str) -> str:
    """A variable in capitals is a constant by every language's custom."""
    return "constant" if kind == "variable" and name.isupper() else kind


def _bare(name: str) -> str:
    """A name as others write it, without the mark of a symbol or a private member."""
    return name[1:] if name[0] in ":#" and name[1:].isidentifier() else name


def _text(node: "Node", data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode(errors="replace")


def _with_methods(nested: list[Definition]) -> list[Definition]:
    """The same in the order of their names, with functions that stand in a class called methods."""
    result, around = [], list[Definition]()
    for definition in nested:
        while around and around[-1].end <= definition.start:
            around.pop()
        if definition.kind == "function" and (definition.owner or (around and around[-1].kind in _HOLDS_METHODS)):
            result.append(definition._replace(kind="method"))
        else:
            result.append(definition)
        around.append(definition)
    return sorted(result, key=lambda one: one.at)


class Surroundings:
    """What encloses one span after another, asked in the order of the file."""

    def __init__(self, found: list[Definition]) -> None:
        self._coming = sorted(found, key=lambda one: (one.start, -one.end), reverse=True)
        self._open: list[Definition] = []

    def names(self, start: int, end: int, inside: list[Definition]) -> tuple[str, ...]:
        """The names around a span, outermost first; what is named inside it does not stand above it.

        When all methods inside have one owner, it is as good as a class around them.
        """
        while self._coming and self._coming[-1].start < start:
            self._open.append(self._coming.pop())
        middle = (start + end) // 2
        self._open = [one for one in self._open if start < one.end]
        names = [one.name for one in self._open if middle < one.end and not start <= one.at < end]
        owners = {one.owner for one in inside if one.kind == "method"}
        if len(owners) == 1 and not owners & {"", *names, *(one.name for one in inside)}:
            names += owners
        return tuple(names)
