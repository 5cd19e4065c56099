"""Definitions of a source file, found with the query patterns of its grammar."""

from typing import TYPE_CHECKING, NamedTuple

from dowse.parsing.grammars import Grammar

if TYPE_CHECKING:
    from tree_sitter import Node

SCOPE = "scope"
"""The kind of a node that encloses definitions and defines nothing itself, such as Rust's `impl`."""

_METHOD_OWNER_KINDS = frozenset({"class", "struct", "interface", "trait", "enum", "object", "extension", SCOPE})
_MAX_NAME_BYTES = 200


class Definition(NamedTuple):
    """A definition; `name_at` is the byte offset of its name, `start` and `end` those of the whole definition."""

    name: str
    kind: str
    name_at: int
    start: int
    end: int
    owner: str = ""
    """The type that a definition outside its body belongs to: Go's receiver, the `A` of C++'s `A::b`."""


def find_definitions(grammar: Grammar, root: "Node", data: bytes) -> list[Definition]:
    """Return the definitions of a file, in the order in which their names stand."""
    if grammar.definitions is None:
        return []
    from tree_sitter import QueryCursor

    cursor = QueryCursor(grammar.definitions, match_limit=10_000)
    cursor.set_max_start_depth(grammar.depth)
    found: dict[int, tuple[int, Definition]] = {}
    for pattern, captures in cursor.matches(root):
        for definition in _read_match(captures, data):
            # The patterns in a query file are ordered: for one name, the first that matches is the most specific.
            if definition.name_at not in found or pattern < found[definition.name_at][0]:
                found[definition.name_at] = pattern, definition
    return _mark_methods(sorted((definition for _, definition in found.values()), key=_by_nesting))


def _by_nesting(definition: Definition) -> tuple[int, int]:
    """Sort key: by start, the enclosing definition before the enclosed ones."""
    return definition.start, -definition.end


def _read_match(captures: "dict[str, list[Node]]", data: bytes) -> list[Definition]:
    """Return the definitions that one match of a pattern captures."""
    kind, whole = next((kind, nodes[0]) for kind, nodes in captures.items() if kind not in ("name", "owner", "_"))
    owner = _node_text(captures["owner"][0], data) if "owner" in captures else ""
    return [
        Definition(
            name := _strip_sigil(_node_text(node, data)),
            _definition_kind(kind, name),
            node.start_byte,
            whole.start_byte,
            whole.end_byte,
            owner,
        )
        for node in captures.get("name", ())
        if 0 < node.end_byte - node.start_byte <= _MAX_NAME_BYTES
    ]


def _definition_kind(kind: str, name: str) -> str:
    """Return the kind of a definition; a variable in capitals is a constant, by every language's convention."""
    return "constant" if kind == "variable" and name.isupper() else kind


def _strip_sigil(name: str) -> str:
    """Return a name as other code writes it, without the `:` of a symbol or the `#` of a private member."""
    return name[1:] if name[0] in ":#" and name[1:].isidentifier() else name


def _node_text(node: "Node", data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode(errors="replace")


def _mark_methods(nested: list[Definition]) -> list[Definition]:
    """Return the definitions in the order of their names, with functions inside a class as methods."""
    result, enclosing = [], list[Definition]()
    for definition in nested:
        while enclosing and enclosing[-1].end <= definition.start:
            enclosing.pop()
        if definition.kind == "function" and (
            definition.owner or (enclosing and enclosing[-1].kind in _METHOD_OWNER_KINDS)
        ):
            result.append(definition._replace(kind="method"))
        else:
            result.append(definition)
        enclosing.append(definition)
    return sorted(result, key=lambda definition: definition.name_at)


class EnclosingNames:
    """The names of the definitions around spans; spans must be passed in the order of the file."""

    def __init__(self, definitions: list[Definition]) -> None:
        self._coming = sorted(definitions, key=_by_nesting, reverse=True)
        self._open: list[Definition] = []

    def of_span(self, start: int, end: int, inside: list[Definition]) -> tuple[str, ...]:
        """Return the names of the definitions around a span, outermost first.

        A definition whose name stands inside the span does not count. When all methods inside have
        the same owner, that owner counts like a class around them.
        """
        while self._coming and self._coming[-1].start < start:
            self._open.append(self._coming.pop())
        middle = (start + end) // 2
        self._open = [outer for outer in self._open if start < outer.end]
        names = [outer.name for outer in self._open if middle < outer.end and not start <= outer.name_at < end]
        owners = {inner.owner for inner in inside if inner.kind == "method"}
        if len(owners) == 1 and not owners & {"", *names, *(inner.name for inner in inside)}:
            names += owners
        return tuple(names)
