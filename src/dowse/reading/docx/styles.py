"""Styles and lists of a Word document."""

import re
from dataclasses import dataclass, field

_HEADING = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_TITLE = re.compile(r"title", re.IGNORECASE)
_CODE = re.compile(r"\b(?:source ?code|code|preformatted|verbatim|listing)\b", re.IGNORECASE)
_CONTENTS = re.compile(r"toc(?: ?\d| heading)|table of (?:figures|authorities)", re.IGNORECASE)
_MAX_CHAIN = 10


@dataclass(slots=True)
class Style:
    """A style as defined in the file; it inherits the other properties from the style it is based on."""

    name: str = ""
    based_on: str = ""
    outline: int | None = None
    list_id: str = ""
    list_depth: str = ""

    @property
    def level(self) -> int:
        """The heading level of this style; 0 if it is not a heading style."""
        if match := _HEADING.fullmatch(self.name):
            return int(match[1])
        return 1 if _TITLE.fullmatch(self.name) else 0

    @property
    def is_code(self) -> bool:
        """Whether this is a style for code."""
        return bool(_CODE.search(self.name))

    @property
    def is_contents(self) -> bool:
        """Whether this is a style for tables of contents, which repeat the headings of the document."""
        return bool(_CONTENTS.fullmatch(self.name))


class Styles:
    """Handles the part that defines styles, and then returns them by their ids."""

    def __init__(self) -> None:
        self._styles: dict[str, Style] = {}
        self._current = Style()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        value = attributes.get("val", "")
        match name:
            case "w:style":
                identifier = attributes.get("styleId", "")
                self._current = self._styles[identifier] = Style(name=identifier)
            case "w:name":
                self._current.name = value
            case "w:basedOn":
                self._current.based_on = value
            case "w:outlineLvl":
                self._current.outline = parse_small_int(value, 9)
            case "w:numId":
                self._current.list_id = value
            case "w:ilvl":
                self._current.list_depth = value

    def end(self, name: str) -> None:
        """Nothing to do."""

    def text(self, text: str) -> None:
        """Nothing to do."""

    def chain(self, identifier: str) -> list[Style]:
        """Return a style and the styles it is based on; an undefined style has its id as name."""
        found = [self._styles.get(identifier) or Style(name=identifier)]
        while found[-1].based_on in self._styles and len(found) < _MAX_CHAIN:
            found.append(self._styles[found[-1].based_on])
        return found


@dataclass(slots=True)
class Lists:
    """Handles the part that defines lists, and then returns which are numbered."""

    _kinds: dict[tuple[str, str], str] = field(default_factory=dict)
    _definitions: dict[str, str] = field(default_factory=dict)
    _definition: str = ""
    _depth: str = ""
    _list: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        match name:
            case "w:abstractNum":
                self._definition = attributes.get("abstractNumId", "")
            case "w:lvl":
                self._depth = attributes.get("ilvl", "")
            case "w:numFmt":
                self._kinds.setdefault((self._definition, self._depth), attributes.get("val", ""))
            case "w:num":
                self._list = attributes.get("numId", "")
            case "w:abstractNumId":
                self._definitions[self._list] = attributes.get("val", "")

    def end(self, name: str) -> None:
        """Nothing to do."""

    def text(self, text: str) -> None:
        """Nothing to do."""

    def is_numbered(self, identifier: str, depth: int) -> bool:
        """Return whether the items of a list are numbered at a given depth."""
        kind = self._kinds.get((self._definitions.get(identifier, ""), str(depth)), "bullet")
        return kind not in ("bullet", "none")


def parse_small_int(text: str, default: int) -> int:
    """Parse a number of at most four digits; return the default for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else default
