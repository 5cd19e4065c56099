"""The parts of an Office file: a zip archive of XML, of which no more is unpacked than a limit.

Macros are not run, and nothing outside the file is read.
"""

import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import NamedTuple
from xml.parsers import expat

from dowse.errors import PackageRefused
from dowse.reading.front_matter import FrontMatter
from dowse.reading.shorten import clean_title, split_keywords

_MAX_UNPACKED_BYTES = 48 * 1024 * 1024
"""The limit for all parts together, unpacked; the rest is not read. A book of a thousand pages has 20 MB."""
_MAX_ELEMENTS = 600_000
"""The limit for the elements of all parts together. Three long documents have one in 27 to 40 bytes, so that a book of 800 pages would be read whole."""
_READ_BYTES = 512 * 1024
MAX_CHARACTERS = 5_000_000
"""The maximum length of the text: that of a book of two thousand pages."""
BLOCK_CHARACTERS = 50
"""The number of characters that each paragraph or cell counts for, even if it is empty."""
_ZIP_ERRORS = (
    *(KeyError, ValueError, OSError, EOFError, RuntimeError, NotImplementedError, MemoryError),
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error),
)
"""Errors of `zipfile` for archives that are broken, encrypted or compressed in an unknown way."""

Start = Callable[[str, dict[str, str]], None]
"""Handles the start of an element. The names of elements and attributes have no namespace."""


class Relations(NamedTuple):
    """What a part refers to."""

    parts: dict[str, str]
    """The first part of each kind."""
    addresses: dict[str, str]
    """The addresses of links, by their id."""
    targets: dict[str, str]
    """All parts, by their id."""


class OfficePackage:
    """The zip archive. Nothing raises: a missing or broken part ends early, and an encrypted or broken file has no parts."""

    def __init__(self, data: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
        except _ZIP_ERRORS:
            self._archive = zipfile.ZipFile(BytesIO(), "w")
        self._bytes_left = _MAX_UNPACKED_BYTES
        self._elements_left = _MAX_ELEMENTS

    def parse(
        self,
        part: str,
        start: Start,
        end: Callable[[str], None] = lambda _name: None,
        text: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """Pass all elements of a part to functions, as far as the part can be read, or until one raises PackageRefused."""

        def count_and_start(name: str, attributes: dict[str, str]) -> None:
            self._elements_left -= 1
            if self._elements_left < 0:
                raise PackageRefused
            start(_local(name), _local_attributes(attributes))

        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = count_and_start
        parser.EndElementHandler = lambda name: end(_local(name))
        parser.CharacterDataHandler = text
        parser.StartDoctypeDeclHandler = _refuse
        try:
            with self._archive.open(part) as unpacked:
                while self._bytes_left > 0 and (piece := unpacked.read(_READ_BYTES)):
                    self._bytes_left -= len(piece)
                    parser.Parse(piece)
        except (*_ZIP_ERRORS, expat.ExpatError, PackageRefused):
            return

    def relations(self, part: str) -> Relations:
        """Return what a part refers to; the part without a name is the package."""
        folder, found = dirname(part), Relations({}, {}, {})

        def start(name: str, attributes: dict[str, str]) -> None:
            kind, target = attributes.get("Type", "").rpartition("/")[2], attributes.get("Target", "")
            if name == "Relationship" and kind == "hyperlink":
                found.addresses[attributes.get("Id", "")] = target
            elif name == "Relationship":
                path = normpath(join("/", folder, target)).lstrip("/")
                found.parts.setdefault(kind, path)
                found.targets[attributes.get("Id", "")] = path

        self.parse(join(folder, "_rels", f"{part.rpartition('/')[2]}.rels"), start)
        return found

    def metadata(self) -> FrontMatter:
        """Return the title and the keywords of the file."""
        found, last = dict[str, str](), ""

        def start(name: str, attributes: dict[str, str]) -> None:  # noqa: ARG001 - no attribute matters here
            nonlocal last
            last = name

        def add(text: str) -> None:
            found[last] = (found.get(last, "") + text)[:2000]

        self.parse(self.relations("").parts.get("core-properties", ""), start, text=add)
        return FrontMatter(clean_title(found.get("title", "")), tags=split_keywords(found.get("keywords", "")))


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _local_attributes(attributes: dict[str, str]) -> dict[str, str]:
    """Return attributes without namespaces; of `id` and `r:id`, the one that names a part."""
    plain_first = sorted(attributes, key=lambda key: " " in key) if len(attributes) > 1 else attributes
    return {_local(key): attributes[key] for key in plain_first}


def _refuse(*_: object) -> None:
    raise PackageRefused
