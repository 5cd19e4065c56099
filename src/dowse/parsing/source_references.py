"""The references of one source file: where it uses which names, what it imports, and their packed form."""

import json
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

VERSION = 8
"""Raise it whenever the same file would have other references or another module; stored references are then made again."""

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
        body = b"\n".join([head, texts + rows.tobytes()])
        return len(checksums).to_bytes(4, "little") + checksums.tobytes() + zlib.compress(body, 1)


_to_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


def name_checksum(name: str) -> int:
    """Return the number by which a document is found that has a name."""
    return zlib.crc32(name.encode("utf-8", "replace"))


def packed_checksums(data: bytes) -> list[int]:
    """Return the checksums of the names of a packed form: those that it uses, and the modules that it imports."""
    return array("I", data[4 : 4 + 4 * int.from_bytes(data[:4], "little")]).tolist()


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
    if len(rows) % _WIDTH or not 0 <= kept <= len(rows) // _WIDTH:
        raise ValueError("its rows are incomplete")
    return rest[:length].decode(errors="replace").split("\0"), rows, kept, [Import(*row) for row in imports], package


_WORD = r"[\w$]+"
_STRING = re.compile(r"""['"]([^'"\n]+)['"]""")
_NAME_AS = re.compile(rf"(?:type\s+)?({_WORD}|\*)(?:\s*(?:\bas\b|=>|:)\s*({_WORD}))?")


_Found = Iterator[tuple[str, str, str]]
"""The module, the name in it and its alias."""


def _python(text: str) -> _Found:
    text = re.sub(r"\s+", " ", re.sub(r"#[^\n]*|\\\n", "", text))
    if match := re.match(r" ?from ?([.\w ]+?)(?:(?<=\.)| )import\b ?\(?([^)]*)", text):
        module = match[1].replace(" ", "")
        for name, alias in _NAME_AS.findall(match[2]):
            yield module, name, alias or name
    elif match := re.match(r"\s*import\s+(.+)", text, re.DOTALL):
        for module, alias in re.findall(rf"([\w.]+)(?:\s+as\s+({_WORD}))?", match[1]):
            yield module, "", alias or module


def _javascript(text: str) -> _Found:
    strings = _STRING.findall(text)
    if not strings:
        return
    module, before = strings[-1], text[: text.rfind(strings[-1])]
    if required := re.match(rf"\s*(?:({_WORD})|\{{([^}}]*)\}})\s*(?::[^=]*)?=", before):
        if required[1]:
            yield module, "", required[1]
        for name, alias in _NAME_AS.findall(required[2] or ""):
            yield module, name, alias or name
        return
    braces = re.search(r"\{([^{}]*)\}", before)
    for name, alias in _NAME_AS.findall(braces[1]) if braces else ():
        yield module, name, alias or name
    outside = re.sub(r"\{[^{}]*\}", "", before)
    if star := re.search(rf"\*\s*(?:as\s+({_WORD}))?", outside):
        yield module, "" if star[1] else "*", star[1] or "*"
    if default := re.match(rf"\s*import\s+(?:type\s+)?(?!type\b|from\b)({_WORD})", outside):
        yield module, "default", default[1]
    if not braces and not star and not default:
        yield module, "", ""


def _go(text: str) -> _Found:
    if match := re.match(r'\s*([\w.]+\s+)?["`]([^"`]+)', text):
        path = match[2]
        last = re.sub(r"/v\d+$", "", path).rsplit("/", 1)[-1]
        alias = (match[1] or "").strip() or re.sub(r"^go-|-go$|\.v\d+$", "", last)
        yield (path, "*", "*") if alias == "." else (path, "", alias)


def _dotted(text: str) -> _Found:
    """Java, Kotlin, Scala and Groovy."""
    body = re.sub(r"^\s*import\s+(?:static\s+)?", "", text.strip()).rstrip("; \n")
    if match := re.match(r"([\w.$]+)\.\{(.*)\}", body, re.DOTALL):
        for name, alias in _NAME_AS.findall(match[2]):
            yield match[1], "*" if name == "_" else name, alias or name
    elif match := re.match(r"([\w.$]+?)(?:\.([\w$]+|\*))?(?:\s+as\s+([\w$]+))?$", body):
        name = "*" if match[2] in ("_", "*") else match[2] or ""
        yield match[1], name, match[3] or name or match[1]


def _php(text: str) -> _Found:
    body = re.sub(r"^\s*use\s+(?:function\s+|const\s+)?", "", text).rstrip("; \n")
    group = re.match(r"\\?([\w\\]+)\\\{(.*)\}", body, re.DOTALL)
    prefix, parts = (f"{group[1]}\\", group[2]) if group else ("", body)
    for part in parts.split(","):
        if match := re.match(r"\s*\\?([\w\\]+)(?:\s+as\s+(\w+))?", part):
            module, _, name = f"{prefix}{match[1]}".rpartition("\\")
            yield module.replace("\\", "."), name, match[2] or name


def _rust(text: str) -> _Found:
    if match := re.search(r"\bmod\s+(\w+)\s*;", text):
        yield f"self::{match[1]}", "", match[1]
    elif match := re.search(r"\buse\s+(\S.*)", text, re.DOTALL):
        yield from _rust_tree("", re.sub(r"\s+", " ", match[1]).rstrip("; "), 0)


def _rust_tree(prefix: str, tree: str, depth: int) -> _Found:
    tree = tree.strip().removeprefix("::")
    if not tree or depth > 8:
        return
    if match := re.match(r"(?:(.*?)::)?\s*\{(.*)\}$", tree):
        inner = f"{prefix}::{match[1]}" if prefix and match[1] else prefix or match[1] or ""
        for part in _split_outside_braces(match[2]):
            yield from _rust_tree(inner, part, depth + 1)
    elif match := re.match(r"([\w:]+?|\*|[\w:]+::\*)(?: as (\w+))?$", tree):
        path = f"{prefix}::{match[1]}" if prefix else match[1]
        module, _, name = path.rpartition("::")
        if name == "self":
            module, _, name = module.rpartition("::")
        yield module, name, match[2] or name


def _split_outside_braces(text: str) -> Iterator[str]:
    depth = start = 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _haskell(text: str) -> _Found:
    if match := re.match(r"\s*import\s+(qualified\s+)?([\w.]+)(?:\s+qualified)?(?:\s+as\s+([\w.]+))?", text):
        yield match[2], "", match[3] or match[2]
        if not match[1]:
            yield match[2], "*", "*"


def _elixir(text: str) -> _Found:
    if match := re.match(r"\s*(\w+)\s+([\w.]+?)(?:\.\{([^}]*)\})?(?:,\s*as:\s*([\w.]+))?(?:,|\s|$)", text):
        for last in re.findall(r"\w+", match[3] or "") or [""]:
            module = f"{match[2]}.{last}" if last else match[2]
            yield (module, "*", "*") if match[1] == "import" else (module, "", match[4] or module.rpartition(".")[2])


_READERS = {
    "python": _python, "starlark": _python,
    "javascript": _javascript, "typescript": _javascript, "tsx": _javascript,
    "go": _go,
    "java": _dotted, "kotlin": _dotted, "scala": _dotted, "groovy": _dotted,
    "php": _php, "rust": _rust, "haskell": _haskell, "elixir": _elixir,
}  # fmt: skip

_C = (
    (r'\s*#\s*(?:include|import)\s*["<]([^">\n]+)', r"\1", "*", "*"),
    (r"\s*using\s+(?!namespace)(?:typename\s+)?([\w:]+)::(\w+)", r"\1", r"\2", r"\2"),
)
_FIRST_STRING = r"""(?>.*?['"]([^'"\n]+)['"])"""
_PATTERNS = {
    "c": _C, "cpp": _C, "objc": _C,
    "csharp": (
        (r"\s*(?:global\s+)?using\s+(?:static\s+)?(\w+)\s*=\s*(?:([\w.]+)\.)?(\w+)", r"\2", r"\3", r"\1"),
        (r"\s*(?:global\s+)?using\s+(?:static\s+)?([\w.]+)", r"\1", "*", "*"),
    ),
    "dart": ((rf"{_FIRST_STRING}.*?\bas\s+(\w+)", r"\1", "", r"\2"), (_FIRST_STRING, r"\1", "*", "*")),
    "lua": ((r"""\s*(\w++)[^=]*=\s*require\s*+(?:\(\s*)?['"]([^'"]+)""", r"\2", "", r"\1"),),
    "ruby": ((rf"\s*require_relative\b{_FIRST_STRING}", r"./\1", "*", "*"), (rf"\s*\w{_FIRST_STRING}", r"\1", "*", "*")),
    "swift": ((r"(?:@\w+\s+)*import\s+(?:class\s+|struct\s+|func\s+)?([\w.]+)", r"\1", "*", "*"),),
}  # fmt: skip
"""Patterns of statements that bind one name, each with its module, name and alias; the first one that matches decides."""


def imports_of(language: str, text: str, line: int) -> list[Import]:
    """Return what one import statement of a language binds; nothing for a statement that cannot be read."""
    if reader := _READERS.get(language):
        return [Import(line, *found) for found in reader(text)]
    for pattern, *parts in _PATTERNS.get(language, ()):
        if match := re.match(pattern, text, re.DOTALL):
            module, name, alias = map(match.expand, parts)
            return [Import(line, module, name, alias)]
    return []
