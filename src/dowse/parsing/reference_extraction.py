"""Extraction of references from a parsed file: one pass over its names.

Names are found in the text, which takes half of the time of asking the tree for each. The tree says what is no code, which names are local variables, and in which areas a name is an import, a base class or an annotation. The text around
a name says the rest: what follows a call, and what stands before a member.
"""

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from dowse.parsing.definitions import SCOPE, Definition
from dowse.parsing.reference_syntax import ReferenceSyntax, load_reference_syntax, receiver_before, written_type
from dowse.parsing.source_references import (
    ANNOTATION,
    CALL,
    DECLARATION,
    DEFINITION,
    IMPORT,
    INHERITANCE,
    MENTION,
    TYPED,
    Import,
    UseTable,
    imports_of,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

MAX_USES = 20_000
"""The maximum number of uses kept of one file, so that no file floods the index."""
_MAX_NAME_BYTES = 100
_MAX_IMPORT_BYTES = 10_000
_FOREVER = 1 << 62

_PACKAGE, _ARGUMENT = -1, 100
_AREAS = {
    "package": _PACKAGE, "import": IMPORT, "inheritance": INHERITANCE, "annotation": ANNOTATION, "argument": _ARGUMENT,
}  # fmt: skip
"""The kinds of the names in areas; where areas overlap, the lowest number decides. An argument of a base class is none."""
_FUNCTIONS = frozenset({"function", "method"})
_BLOCKS = re.compile(r"block$|lambda|closure|statements|for_expression")
"""Nodes outside of functions that have local variables, as in tests that are calls with a block."""
_VARIABLES = frozenset({"field", "variable", "constant", "property"})
_CALLED = re.compile(rb"\s?(?:!|\?\.|::)?(?:<[\w\s,.\[\]<>|&?:'\"]{0,80}>)?\(")
_CALL_STARTS = frozenset(b" !?:<")
_PARENTHESIS = ord("(")
_DIGITS = frozenset(b"0123456789")
_MEMBER_ENDS = frozenset(b".:>\\")
_LINE_TEXTS = re.compile(rb"//[^\n]*|\"(?:\\[^\n]|[^\"\\\n])*+\"")
_TEXTS = re.compile(rb"/\*(?s:.*?)\*/|" + _LINE_TEXTS.pattern)
"""Comments and strings of most languages."""


class _ParsedFile(NamedTuple):
    """A parsed file, and what the query of its language found in it."""

    syntax: ReferenceSyntax
    data: bytes
    code: bytes
    """The data without comments and strings."""
    line_starts: list[int]
    captures: "dict[str, list[Node]]"
    known: frozenset[bytes] | None
    """The names that the file may use without a receiver; None if they cannot be known."""

    def line_at(self, at: int) -> int:
        return bisect_right(self.line_starts, at)

    def type_of(self, start: int, end: int) -> bytes:
        return written_type(self.syntax, self.code, self.data, start, end)


def extract_references(
    language: str, root: "Node | None", data: bytes, definitions: list[Definition], line_starts: list[int]
) -> bytes:
    """Return the packed references of a file; nothing for a language without a query. Without a root, it was not parsed."""
    syntax = load_reference_syntax(language)
    if syntax is None:
        return b""
    from tree_sitter import QueryCursor

    captures = QueryCursor(syntax.query, match_limit=10_000).captures(root) if root else {}
    if root is None:
        closed = data.rfind(b"*/") + 2  # after it no comment ends, and looking for an end from each start takes long
        blanked = _TEXTS.sub(lambda match: re.sub(rb"[^\n]", b" ", match[0]), data[:closed])
        data = blanked + _LINE_TEXTS.sub(lambda match: b" " * len(match[0]), data[closed:])
    imports = [
        found
        for node in sorted(captures.get("import", ()), key=lambda node: node.start_byte)
        for found in imports_of(
            language,
            data[node.start_byte : min(node.end_byte, node.start_byte + _MAX_IMPORT_BYTES)].decode(errors="replace"),
            bisect_right(line_starts, node.start_byte),
        )
    ]
    known = _known_names(definitions, imports) if syntax.is_explicit else None
    file = _ParsedFile(syntax, data, _blank_no_code(captures, data), line_starts, captures, known)
    table, scopes = UseTable(), _Scopes(definitions)
    skipped = {node.start_byte for node in captures.get("skip", ())}
    skipped |= _add_definitions(file, scopes, table)
    _add_uses(file, scopes, skipped, table)
    package = [data[node.start_byte : node.end_byte].decode(errors="replace") for node in captures.get("package", ())]
    packages = package if language == "scala" else package[:1]  # one in another
    return table.pack(
        imports, ".".join(re.sub(r"^(?:package|namespace)\s+", "", one).rstrip("; \t\r\n") for one in packages)
    )


def _known_names(definitions: list[Definition], imports: list[Import]) -> frozenset[bytes] | None:
    """Return the names that a file may use without a receiver; None if they cannot be known."""
    if any(found.alias == "*" for found in imports):
        return None
    imported = (name for found in imports for name in (found.alias.partition(".")[0], found.name))
    return frozenset(name.encode("utf-8", "replace") for name in (*(one.name for one in definitions), *imported))


def _add_definitions(file: _ParsedFile, scopes: "_Scopes", table: UseTable) -> set[int]:
    """Add the definitions and note the local variables of a file; return the positions of their names."""
    data, known, defined = file.data, file.known, scopes.defined
    nodes = {node.start_byte: node for node in file.captures.get("local", ())}
    locals_ = {at: data[at : node.end_byte].lstrip(b":") for at, node in nodes.items()}
    typed = {
        node.start_byte: data[node.start_byte : node.end_byte] for node in file.captures.get("typed", ())
    } | locals_
    declared = {(node.start_byte, node.end_byte) for node in file.captures.get("declaration", ())}
    declared -= {(node.start_byte, node.end_byte) for node in file.captures.get("definition", ())}
    names = {at: name for at, name in locals_.items() if at not in defined and (known is None or name in known)}
    forward = {node.start_byte: node for node in file.captures.get("forward", ())}
    for at in sorted({*names, *defined, *typed, *forward}):
        if at >= scopes.next_at:
            scopes.move_to(at)
        if at in typed and at not in defined and (type_ := file.type_of(at, at + len(typed[at]))):
            is_field = data[at : at + 1] == b"@" or data[at - 2 : at] == b"->"  # of the class around the method
            within = scopes.path.rpartition(b".")[0] if is_field else scopes.path
            table.add(typed[at].decode(errors="replace").lstrip("@$"), TYPED, file.line_at(at), within, type_)
        if at in forward:
            name = data[at : forward[at].end_byte].decode(errors="replace")
            kind_name = b"function" if forward[at].type == "field_identifier" else b"class"
            table.add(name, DECLARATION, file.line_at(at), scopes.path, kind_name)
        if at in names:
            if not scopes.declare(names[at]) and not (known is None and scopes.declare_in_block(names[at], nodes[at])):
                del names[at]  # at the top of a file, it is no local variable
        elif at in defined and (definition := defined[at]).kind != SCOPE:
            within, line = scopes.path_around(definition, is_field=definition.kind == "field"), file.line_at(at)
            kind = DECLARATION if (definition.start, definition.end) in declared else DEFINITION
            table.add(definition.name, kind, line, within, definition.kind.encode())
            is_variable = definition.kind in _VARIABLES
            end = at + len(definition.name.encode())
            if (is_variable or definition.kind in _FUNCTIONS) and (type_ := file.type_of(at, end)):
                table.add(f"{definition.name}()", TYPED, line, within, type_)
                if is_variable:
                    table.add(definition.name, TYPED, line, within, type_)
    scopes.rewind()
    defined = {at: one for at, one in defined.items() if one.kind != SCOPE}  # `impl Apple` uses the name
    return {
        *names,
        *defined,
        *forward,
        *(at + 1 for at in (*names, *defined) if data[at : at + 1] in (b":", b"#", b"@")),
    }


def _add_uses(file: _ParsedFile, scopes: "_Scopes", skipped: set[int], table: UseTable) -> None:  # noqa: C901 - as below
    """Add the uses of names. A file has hundreds of them, so that the loop is one function."""
    syntax, known, line_starts = file.syntax, file.known, file.line_starts
    areas, numbers, rows = _Areas(file.captures), table.numbers, table.rows
    members = {node.start_byte: b"=" for node in file.captures.get("member", ())} | _callables(file)
    keywords, sigils, code = syntax.keywords, syntax.sigils, file.code
    found: Iterable[re.Match[bytes]] = syntax.name_pattern.finditer(code)
    if known is not None:
        found = [match for match in found if match[0] in known or code[match.start() - 1] in _MEMBER_ENDS]
    for match in found:
        start, end = match.span()
        if start in skipped:
            continue
        before, name = code[start - 1], match[0]
        receiver = (
            receiver_before(code, file.data, start) if before in _MEMBER_ENDS and start else members.get(start, b"")
        )
        if start >= scopes.next_at:
            scopes.move_to(start)
        if not receiver:
            # A name of one letter is a local variable or a type parameter.
            if name not in known if known is not None else (end - start == 1 or name in keywords):
                continue
            if scopes.is_local(name, start) or before in sigils or name[0] in sigils or name[0] in _DIGITS:
                continue
        if start >= areas.next_at:
            areas.move_to(start)
        kind = areas.kind
        if not kind:
            following = code[end] if end < len(code) else 0
            is_call = following == _PARENTHESIS or (following in _CALL_STARTS and _CALLED.match(code, end))
            kind = CALL if is_call else MENTION
        elif kind == IMPORT:
            receiver = b""
        elif kind == _PACKAGE:
            continue
        rows += (
            numbers.setdefault(name, len(numbers)), kind, bisect_right(line_starts, start),
            numbers.setdefault(scopes.path, len(numbers)), numbers.setdefault(receiver, len(numbers)),
        )  # fmt: skip
        if len(rows) > 5 * MAX_USES:
            return


def _callables(file: _ParsedFile) -> dict[int, bytes]:
    """Return the receivers of the methods that are named in strings, by their positions: `[$this, 'peel']`."""
    found = {}
    for node in file.captures.get("callable", ()):
        value = node.parent and node.parent.parent and node.parent.parent.prev_named_sibling
        if value:
            found[node.start_byte] = file.data[value.start_byte : value.end_byte].removesuffix(b"::class")
    return found


def _blank_no_code(captures: "dict[str, list[Node]]", data: bytes) -> bytes:
    """Return the text with blanks in place of comments and strings; code inside a string stays."""
    areas = [(node.start_byte, node.end_byte, False) for node in captures.get("no_code", ())]
    areas += [
        (node.start_byte, node.end_byte, True) for area in ("code", "callable") for node in captures.get(area, ())
    ]
    blanked = bytearray(data)
    for start, end, is_code in sorted(areas, key=lambda area: (area[0], -area[1])):
        blanked[start:end] = data[start:end] if is_code else b" " * (end - start)
    return bytes(blanked)


class _Areas:
    """The areas of a file, which is walked from its beginning to its end. Areas lie in one another or apart."""

    def __init__(self, captures: "dict[str, list[Node]]") -> None:
        self._coming = sorted(
            [
                (node.start_byte, -node.end_byte, kind)
                for area, kind in _AREAS.items()
                for node in captures.get(area, ())
            ],
            reverse=True,
        )
        self._coming.insert(0, (_FOREVER, -_FOREVER, 0))
        self._open = [(_FOREVER, MENTION)]
        """The end of each area around the current position, and the kind that counts in it."""
        self.kind = 0
        """The kind of the names at the current position; 0 if no area says it."""
        self.next_at = 0
        """The position at which the next area begins or ends."""

    def move_to(self, at: int) -> None:
        """Enter and leave areas up to a position."""
        coming, around = self._coming, self._open
        while coming[-1][0] <= at:
            start, end, kind = coming.pop()
            while around[-1][0] <= start:
                around.pop()
            outer = around[-1][1]
            around.append((-end, ANNOTATION if kind == _ARGUMENT and outer > IMPORT else min(kind, outer)))
        while around[-1][0] <= at:
            around.pop()
        self.kind = around[-1][1] if len(around) > 1 else 0
        self.next_at = min(around[-1][0], coming[-1][0])


class _Scopes:
    """The definitions around the names of a file, which is walked from its beginning to its end."""

    def __init__(self, definitions: list[Definition]) -> None:
        self.defined = {definition.name_at: definition for definition in reversed(definitions)}
        self._nested = sorted(definitions, key=lambda one: (one.start, -one.end))
        self._locals: list[set[bytes]] = [set() for _ in definitions]
        """The local variables that each function declares."""
        self._block_locals: dict[bytes, list[tuple[int, int]]] = {}
        self.rewind()

    def rewind(self) -> None:
        """Go back to the beginning of the file."""
        self._coming = 0
        self._open: list[tuple[int, int, bytes, frozenset[bytes] | set[bytes]]] = [(_FOREVER, -1, b"", frozenset())]
        """The end, the number, the path and the local variables of each definition around the current position."""
        self.next_at, self.path = 0, b""
        self.locals: frozenset[bytes] | set[bytes] = frozenset()
        """The local variables at the current position."""

    def declare(self, name: bytes) -> bool:
        """Note a local variable of the function at the current position; return False if there is none."""
        for _, number, _, _ in reversed(self._open[1:]):
            if self._nested[number].kind in _FUNCTIONS:
                self._locals[number].add(name)
                return True
        return False

    def declare_in_block(self, name: bytes, node: "Node") -> bool:
        """Note a local variable of a block outside of functions; return False if there is none."""
        block = node.parent
        while block and not _BLOCKS.search(block.type):
            block = block.parent
        if block:
            self._block_locals.setdefault(name, []).append((block.start_byte, block.end_byte))
        return block is not None

    def is_local(self, name: bytes, at: int) -> bool:
        """Return whether a name at the current position is a local variable."""
        return name in self.locals or any(start <= at < end for start, end in self._block_locals.get(name, ()))

    def move_to(self, at: int) -> None:
        """Enter and leave definitions up to a position."""
        nested, around = self._nested, self._open
        while self._coming < len(nested) and nested[self._coming].start <= at:
            definition = nested[self._coming]
            while around[-1][0] <= definition.start:
                around.pop()
            _, _, path, names = around[-1]
            new = self._locals[self._coming]
            own = _join(path, definition.owner, definition.name)
            around.append((definition.end, self._coming, own, names | new if new else names))
            self._coming += 1
        while around[-1][0] <= at:
            around.pop()
        end, _, self.path, self.locals = around[-1]
        self.next_at = min(end, nested[self._coming].start) if self._coming < len(nested) else end

    def path_around(self, definition: Definition, *, is_field: bool = False) -> bytes:
        """Return the path of the definitions around one whose name is at the current position; a field is in no function."""
        around = [
            path for _, number, path, _ in self._open[1:]
            if (self._nested[number].start, self._nested[number].end) != (definition.start, definition.end)
            and not (is_field and self._nested[number].kind in _FUNCTIONS)
        ]  # fmt: skip
        return _join(around[-1] if around else b"", definition.owner)


def _join(path: bytes, *names: str) -> bytes:
    return b".".join(filter(None, [path, *(name.encode("utf-8", "replace") for name in names)]))
