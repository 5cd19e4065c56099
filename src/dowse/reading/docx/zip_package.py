"""The parts of a Word document: XML in a zip archive, read bit by bit and no further than a limit."""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import NamedTuple, Protocol
from xml.parsers import expat

from dowse.errors import PackageRefused

_MAX_UNPACKED_BYTES = 48 * 1024 * 1024
"""Of all parts together, unpacked: that of a book of a thousand pages has 20 MB. What comes after is not read."""
_READ_BYTES = 512 * 1024
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_WORD_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_PREFIXES = {_WORD: "w:", _WORD_STRICT: "w:", _COMPATIBILITY: "mc:"}


class ElementHandler(Protocol):
    """Sees the elements of a part go by, by names such as `w:p`; names of attributes have no prefix."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...
    def end(self, name: str) -> None: ...
    def text(self, text: str) -> None: ...


class Relation(NamedTuple):
    """What a part points to."""

    id: str
    kind: str
    """The last word of its type: `styles`, `hyperlink`."""
    target: str


class Package:
    """The archive. Raises nothing once it is open: a part that is missing or broken ends early."""

    def __init__(self, data: bytes) -> None:
        self._archive = zipfile.ZipFile(BytesIO(data))
        self._left = _MAX_UNPACKED_BYTES

    def watch(self, part: str, watcher: ElementHandler) -> None:
        """Show all elements of a part, as far as it can be read."""
        parser = _make_parser(watcher)
        try:
            for piece in self._pieces(part):
                parser.Parse(piece)
            parser.Parse(b"", True)  # noqa: FBT003 - its own way to say that this was all
        except (*_ZIP_ERRORS, expat.ExpatError, PackageRefused):
            return

    def relations(self, part: str) -> list[Relation]:
        """What a part points to; targets inside the archive by their full names."""
        folder = dirname(part)
        found: list[Relation] = []

        def see(name: str, attributes: dict[str, str]) -> None:
            if name == "Relationship":
                target = attributes.get("Target", "")
                if attributes.get("TargetMode") != "External":
                    target = normpath(join("/", folder, target)).lstrip("/")
                found.append(Relation(attributes.get("Id", ""), attributes.get("Type", "").rpartition("/")[2], target))

        self.watch(join(folder, "_rels", f"{part.rpartition('/')[2]}.rels"), StartHandler(see))
        return found

    def _pieces(self, part: str) -> Iterator[bytes]:
        with self._archive.open(part) as unpacked:
            while self._left > 0 and (piece := unpacked.read(_READ_BYTES)):
                self._left -= len(piece)
                yield piece


_ZIP_ERRORS = (
    *(KeyError, ValueError, OSError, EOFError, RuntimeError, NotImplementedError, MemoryError),
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error),
)
"""What `zipfile` raises for archives that are broken, encrypted or packed in ways it does not know."""


class StartHandler:
    """A watcher that only wants to see elements begin."""

    def __init__(self, see: Callable[[str, dict[str, str]], None]) -> None:
        self.start = see

    def end(self, name: str) -> None:
        """Nothing to do."""

    def text(self, text: str) -> None:
        """Nothing to do."""


def open_package(data: bytes) -> Package | None:
    """The archive, if it is one."""
    try:
        return Package(data)
    except _ZIP_ERRORS:
        return None


def _make_parser(watcher: ElementHandler) -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    names: dict[str, str] = {}

    def short(name: str) -> str:
        if name not in names:
            space, _, local = name.rpartition(" ")
            names[name] = _PREFIXES.get(space, "") + local
        return names[name]

    def start(name: str, attributes: dict[str, str]) -> None:
        watcher.start(short(name), {key.rpartition(" ")[2]: value for key, value in attributes.items()})

    def refuse(*_: object) -> None:
        raise PackageRefused

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: watcher.end(short(name))
    parser.CharacterDataHandler = watcher.text
    parser.StartDoctypeDeclHandler = refuse
    return parser
