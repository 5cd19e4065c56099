"""The parts of an Office file: a zip archive of XML, of which no more is unpacked than a limit.

Macros are not run, and nothing outside the file is read.
"""

import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import NamedTuple
from xml.etree.ElementTree import Element
from xml.parsers import expat

from dowse.errors import PackageRefused
from dowse.reading.front_matter import FrontMatter
from dowse.reading.shorten import clean_title, split_keywords

_MAX_UNPACKED_BYTES = 48 * 1024 * 1024
"""The limit for all parts together, unpacked; the rest is not read. A book of a thousand pages has 20 MB."""
_MAX_ELEMENTS = 600_000
"""The limit for the elements of all parts together. Three long documents have one in 27 to 40 bytes, so that a book of 800 pages would be read whole."""
_MAX_DEPTH = 200
"""The limit for elements within one another; a text box in a table in a text box has 60."""
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

    def elements(self, part: str, *names: str, without: Collection[str] = ()) -> Iterator[Element]:
        """Yield the outermost elements of some names, as far as the part can be read; the last one may be incomplete.

        The names of elements and attributes have no namespace. Elements in `without` are left out.
        """
        found = _Collector(names, without)
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text, parser.buffer_size = True, _READ_BYTES
        parser.StartElementHandler, parser.EndElementHandler = found.start, found.end
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = found.add_text, _refuse
        try:
            with self._archive.open(part) as unpacked:
                while self._bytes_left > 0 and (piece := unpacked.read(_READ_BYTES)):
                    self._bytes_left -= len(piece)
                    found.elements_left = self._elements_left
                    parser.Parse(piece)
                    self._elements_left = found.elements_left
                    yield from found.done
                    found.done.clear()
        except (*_ZIP_ERRORS, expat.ExpatError, PackageRefused):
            pass
        yield from (*found.done, *found.open[:1])

    def main_part(self, usual: str) -> str:
        """Return the name of the main part, which has a usual name."""
        return self.relations("").parts.get("officeDocument", usual)

    def relations(self, part: str) -> Relations:
        """Return what a part refers to; the part without a name is the package."""
        folder, found = dirname(part), Relations({}, {}, {})
        for relation in self.elements(join(folder, "_rels", f"{part.rpartition('/')[2]}.rels"), "Relationship"):
            kind, target, key = (
                relation.get("Type", "").rpartition("/")[2],
                relation.get("Target", ""),
                relation.get("Id", ""),
            )
            if kind == "hyperlink":
                found.addresses[key] = target
            else:
                found.targets[key] = normpath(join("/", folder, target)).lstrip("/")
                found.parts.setdefault(kind, found.targets[key])
        return found

    def metadata(self) -> FrontMatter:
        """Return the title and the keywords of the file."""
        properties = self.elements(self.relations("").parts.get("core-properties", ""), "title", "keywords")
        found = {element.tag: (element.text or "")[:2000] for element in properties}
        return FrontMatter(clean_title(found.get("title", "")), tags=split_keywords(found.get("keywords", "")))


class _Collector:
    """Builds the outermost elements of some names, without others."""

    def __init__(self, names: Collection[str], without: Collection[str]) -> None:
        self.done: list[Element] = []
        self.open: list[Element] = []
        self.elements_left = 0
        self._names, self._without, self._depth_left_out = names, without, 0

    def start(self, full_name: str, attributes: dict[str, str]) -> None:
        name = full_name.rpartition(" ")[2]
        self.elements_left -= 1
        if self.elements_left < 0 or len(self.open) > _MAX_DEPTH:
            raise PackageRefused
        if self._depth_left_out or name in self._without:
            self._depth_left_out += 1
        elif self.open or name in self._names:
            element = Element(name, _local_attributes(attributes) if attributes else attributes)
            if self.open:
                self.open[-1].append(element)
            self.open.append(element)

    def end(self, _: str) -> None:
        if self._depth_left_out:
            self._depth_left_out -= 1
        elif self.open:
            element = self.open.pop()
            if not self.open:
                self.done.append(element)

    def add_text(self, text: str) -> None:
        if self.open and not self._depth_left_out and len(known := self.open[-1].text or "") < MAX_CHARACTERS:
            self.open[-1].text = known + text


def until_too_long(elements: Iterable[Element]) -> Iterator[Element]:
    """Yield elements until their text is longer than the longest one."""
    room = MAX_CHARACTERS
    for element in elements:
        if room < 0:
            return
        blocks = sum(len(list(element.iter(name))) for name in ("p", "tc", "tr"))
        room -= len("".join(element.itertext())) + BLOCK_CHARACTERS * blocks
        yield element


def text_in(element: Element, *names: str) -> str:
    """Return the text of the elements of some names in an element."""
    return "".join(one.text or "" for one in element.iter() if one.tag in names)


def _local_attributes(attributes: dict[str, str]) -> dict[str, str]:
    """Return attributes without namespaces; of `id` and `r:id`, the one that names a part."""
    plain_first = sorted(attributes, key=lambda key: " " in key) if len(attributes) > 1 else attributes
    return {key.rpartition(" ")[2]: attributes[key] for key in plain_first}


def _refuse(*_: object) -> None:
    raise PackageRefused
