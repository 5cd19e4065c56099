"""The references of one source file: where it uses which names, what it imports, and their packed form."""

import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

VERSION = 7
"""Raise it whenever the same text would have other references; stored references are then made again."""

KINDS = ("", "definition", "call", "import", "inheritance", "annotation", "mention", "declaration", "typed")
_, DEFINITION, CALL, IMPORT, INHERITANCE, ANNOTATION, MENTION, DECLARATION, TYPED = range(len(KINDS))
USE_KINDS = KINDS[CALL:DECLARATION]
NO_USES = frozenset({DEFINITION, DECLARATION, TYPED})
"""Kinds of names that a file does not use there: what it defines, what it only declares, and variables with a type."""
_ALWAYS_KEPT = NO_USES | {INHERITANCE}
_WIDTH = 5
_MAX_UNPACKED_BYTES = 16_000_000


class Use(NamedTuple):
    """A name that a file defines or uses in one place."""

    name: str
    kind: int
    line: int
    within: str
    """The names of the definitions around it, joined by dots; for a definition, without its own."""
    receiver: str
    """The expression before the name, as far as it is names and calls (`self.client()`), `?` for any other, `=` for a
    field that an argument sets; the kind of symbol for a definition or declaration; the type of a variable, or of a
    function or field that is written `name()`, or `=` and its value."""


class Import(NamedTuple):
    """A name that an import statement binds: `alias` is what the file calls it, `*` stands for every name."""

    line: int
    module: str
    name: str
    """The name in the module; empty for the module itself."""
    alias: str


class SourceReferences(NamedTuple):
    """The names that a file defines and uses, in the order of its text, and its imports."""

    uses: Sequence[Use] = ()
    imports: Sequence[Import] = ()
    package: str = ""
    """The package or namespace that the file says it belongs to."""


class UseTable:
    """The uses of a file while they are collected, as five numbers each: every text is kept once."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.numbers: dict[bytes, int] = {}

    def add(self, name: str, kind: int, line: int, within: bytes, receiver: bytes) -> None:
        """Add a use."""
        number, within_number, receiver_number = (
            self.numbers.setdefault(text, len(self.numbers))
            for text in (name.encode("utf-8", "replace"), within, receiver)
        )
        self.rows += (number, kind, line, within_number, receiver_number)

    def pack(self, imports: Sequence[Import], package: str) -> bytes:
        """Return the packed form of the uses and imports of a file, about 1 KB for 100 uses."""
        texts = b"\0".join(self.numbers)
        starts = sorted(range(0, len(self.rows), _WIDTH), key=lambda at: self.rows[at + 1] not in _ALWAYS_KEPT)
        rows = array("I", [number for at in starts for number in self.rows[at : at + _WIDTH]])
        kept = sum(kind in _ALWAYS_KEPT for kind in rows[1::_WIDTH])
        head = _to_json([len(texts), kept, imports, package]).encode("utf-8", "replace")
        used = set(self.rows[::_WIDTH])
        names = {text for text, number in self.numbers.items() if number in used}
        for found in imports:
            parts = found.module.replace("::", ".").replace("/", ".").split(".")[-2:]
            names |= {name.encode("utf-8", "replace") for name in (found.name, *parts)}
        checksums = array("I", sorted(set(map(zlib.crc32, names))))
        if sys.byteorder == "big":
            rows.byteswap()
            checksums.byteswap()
        body = b"\n".join([head, texts + rows.tobytes()])
        return len(checksums).to_bytes(4, "little") + checksums.tobytes() + zlib.compress(body, 1)


_to_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


def name_checksum(name: str) -> int:
    """Return the number by which a document is found that has a name."""
    return zlib.crc32(name.encode("utf-8", "replace"))


def packed_checksums(data: bytes) -> list[int]:
    """Return the checksums of the names of a packed form: those that it uses, and the modules that it imports."""
    checksums = array("I", data[4 : 4 + 4 * int.from_bytes(data[:4], "little")])
    if sys.byteorder == "big":
        checksums.byteswap()
    return checksums.tolist()


def unpack_references(data: bytes, name: str | None = None) -> SourceReferences:
    """Return the references of a packed form; raise ValueError if it is damaged.

    With a name, other names and their aliases are dropped where they are only used: a common name is in thousands of files.
    """
    if not data:
        return SourceReferences()
    try:
        texts, rows, kept, bound, package = _unpacked(data)
        chosen: Iterable[int] = range(len(rows) // _WIDTH)
        if name is not None:
            wanted = {name, *(one.alias for one in bound if one.name == name)}
            numbers = {texts.index(one) for one in wanted if one in texts}
            others = enumerate(rows[kept * _WIDTH :: _WIDTH], kept)
            chosen = [*range(kept), *(at for at, number in others if number in numbers)]
        names, kinds, lines, withins, receivers = (rows[at::_WIDTH] for at in range(_WIDTH))
        uses = [Use(texts[names[at]], kinds[at], lines[at], texts[withins[at]], texts[receivers[at]]) for at in chosen]
        return SourceReferences(uses, bound, package)
    except (zlib.error, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"references cannot be read: {error}") from error


@lru_cache(maxsize=16)  # questions about one class read the same large files
def _unpacked(data: bytes) -> "tuple[list[str], array[int], int, list[Import], str]":
    body = zlib.decompressobj().decompress(data[4 + 4 * int.from_bytes(data[:4], "little") :], _MAX_UNPACKED_BYTES)
    head, _, rest = body.partition(b"\n")
    length, kept, imports, package = json.loads(head)
    rows = array("I", rest[length:])
    if sys.byteorder == "big":
        rows.byteswap()
    if len(rows) % _WIDTH or not 0 <= kept <= len(rows) // _WIDTH:
        raise ValueError("its rows are incomplete")
    return rest[:length].decode(errors="replace").split("\0"), rows, kept, [Import(*row) for row in imports], package
