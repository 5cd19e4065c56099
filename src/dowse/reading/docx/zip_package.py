"""Parts of a Word document: XML in a zip archive, read in steps up to a limit."""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import NamedTuple, Protocol
from xml.parsers import expat

from dowse.errors import PackageRefused

_MAX_UNPACKED_BYTES = 48 * 1024 * 1024
"""The limit for all parts together, unpacked; the rest is not read. A book of a thousand pages has 20 MB."""
_READ_BYTES = 512 * 1024
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_WORD_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_PREFIXES = {_WORD: "w:", _WORD_STRICT: "w:", _COMPATIBILITY: "mc:"}


class ElementHandler(Protocol):
    """Handles the elements of a part, which have names such as `w:p`; names of attributes have no prefix."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...
    def end(self, name: str) -> None: ...
    def text(self, text: str) -> None: ...


class Relation(NamedTuple):
    """A reference from a part to another part or to an address."""

    id: str
    kind: str
    """The last part of its type: `styles`, `hyperlink`."""
    target: str


class Package:
    """The zip archive. Once it is open, no method raises: a missing or broken part ends early."""

    def __init__(self, data: bytes) -> None:
        self._archive = zipfile.ZipFile(BytesIO(data))
        self._bytes_left = _MAX_UNPACKED_BYTES

    def parse_part(self, part: str, handler: ElementHandler) -> None:
        """Pass all elements of a part to a handler, as far as the part can be read."""
        parser = _make_parser(handler)
        try:
            for piece in self._pieces(part):
                parser.Parse(piece)
            parser.Parse(b"", True)  # noqa: FBT003 - expat takes the end flag by position
        except (*_ZIP_ERRORS, expat.ExpatError, PackageRefused):
            return

    def relations(self, part: str) -> list[Relation]:
        """Return the references of a part; targets inside the archive have their full names."""
        folder = dirname(part)
        found: list[Relation] = []

        def handle_start(name: str, attributes: dict[str, str]) -> None:
            if name == "Relationship":
                target = attributes.get("Target", "")
                if attributes.get("TargetMode") != "External":
                    target = normpath(join("/", folder, target)).lstrip("/")
                found.append(Relation(attributes.get("Id", ""), attributes.get("Type", "").rpartition("/")[2], target))

        self.parse_part(join(folder, "_rels", f"{part.rpartition('/')[2]}.rels"), StartHandler(handle_start))
        return found

    def _pieces(self, part: str) -> Iterator[bytes]:
        with self._archive.open(part) as unpacked:
            while self._bytes_left > 0 and (piece := unpacked.read(_READ_BYTES)):
                self._bytes_left -= len(piece)
                yield piece


_ZIP_ERRORS = (
    *(KeyError, ValueError, OSError, EOFError, RuntimeError, NotImplementedError, MemoryError),
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error),
)
"""Errors of `zipfile` for archives that are broken, encrypted or compressed in an unknown way."""


class StartHandler:
    """A handler that only handles the starts of elements."""

    def __init__(self, start: Callable[[str, dict[str, str]], None]) -> None:
        self.start = start

    def end(self, name: str) -> None:
        """Nothing to do."""

    def text(self, text: str) -> None:
        """Nothing to do."""


def open_package(data: bytes) -> Package | None:
    """Open an archive; return None if it cannot be opened."""
    try:
        return Package(data)
    except _ZIP_ERRORS:
        return None


def _make_parser(handler: ElementHandler) -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    names: dict[str, str] = {}

    def prefix_name(name: str) -> str:
        if name not in names:
            space, _, local = name.rpartition(" ")
            names[name] = _PREFIXES.get(space, "") + local
        return names[name]

    def start(name: str, attributes: dict[str, str]) -> None:
        handler.start(prefix_name(name), {key.rpartition(" ")[2]: value for key, value in attributes.items()})

    def refuse(*_: object) -> None:
        raise PackageRefused

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: handler.end(prefix_name(name))
    parser.CharacterDataHandler = handler.text
    parser.StartDoctypeDeclHandler = refuse
    return parser
