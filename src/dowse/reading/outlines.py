"""Outline of a document: its headings, their sections, and the anchors that lead to them."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from dowse.reading.front_matter import read_front_matter
from dowse.reading.html_scan import Token, read_attribute, scan_tokens
from dowse.reading.markdown_events import MarkdownVisitor
from dowse.text.line_numbers import line_number_at, line_starts, split_lines
from dowse.text.markup_lines import MARKUP_LANGUAGES, find_markup_headings

_HTML_HEADING = re.compile(r"h([1-6])$")
_MAX_HEADING_CHARS = 2000
"""An HTML heading that is still open after this many characters is a mistake and is ignored."""
_ATTRIBUTE_LIST = re.compile(r"\{(?::|/\*)?[ \t]*(?P<attributes>[#.][^{}\r\n]*?)(?:\*/)?\}")
"""`{#id}`, `{: #id .class}` or, in MDX, `{/* #id */}` at the end of a heading."""
_MARKUP_TARGET = re.compile(r"\.\. _(?P<rst>[^:\n]+):\s*$|\[(?:\[|\#)(?P<asciidoc>[^\[\],.%\n]+)")
"""`.. _target:` in reStructuredText, `[[target]]` or `[#target]` in AsciiDoc."""
_NESTING_TAGS = frozenset({"BlockQuote", "List", "Item", "FootnoteDefinition", "Table"})


@dataclass(frozen=True, slots=True)
class Anchor:
    """A heading, or an explicit anchor (level 0); `start` and `end` are byte offsets in UTF-8."""

    start: int
    end: int
    id: str = ""
    """The id that the author gave it."""
    level: int = 0
    text: str = ""
    is_nested: bool = False
    """Whether it stands inside a quotation, a list or a table."""


def find_anchors(markdown: str, language: str = "markdown") -> list[Anchor]:
    """Return the headings and anchors of a text, in order; code, comments and scripts are ignored."""
    if language in MARKUP_LANGUAGES:
        return _markup_anchors(markdown, language)
    finder = _AnchorFinder(markdown.encode("utf-8"))
    finder.visit(markdown)
    return sorted(finder.anchors, key=lambda anchor: anchor.start)


def _markup_anchors(text: str, language: str) -> list[Anchor]:
    """Return the headings of reStructuredText or AsciiDoc, each with the target that stands above it."""
    lines = split_lines(text)
    starts = list(accumulate((len(line.encode("utf-8", "surrogatepass")) for line in lines), initial=0))
    found = []
    for line, length, level, title in find_markup_headings(lines, language):
        above = next((other for other in reversed(lines[max(0, line - 3) : line]) if other.strip()), "")
        target = _MARKUP_TARGET.match(above)
        name = (target["rst"] or target["asciidoc"]).strip("`") if target else ""
        found.append(Anchor(starts[line], starts[line + length], name, level, title))
    return found


class _AnchorFinder(MarkdownVisitor):
    """Collects the anchors of a text."""

    def __init__(self, source: bytes) -> None:
        super().__init__()
        self.anchors: list[Anchor] = []
        self._source = source
        self._depth = 0
        self._open: Anchor | None = None
        """The heading that is open."""
        self._has_attributes = False

    def start(self, name: str, details: Any, start: int, end: int) -> None:
        if name == "Heading":
            attributes = _heading_attributes(self._source[start:end].decode("utf-8", "ignore"))
            given = next((word[1:] for word in attributes.split() if word.startswith("#")), "")
            self._begin(Anchor(start, end, given, int(details["level"].removeprefix("H"))))
            self._has_attributes = bool(attributes)
        elif name == "CodeBlock":
            self._open = None
        elif name in _NESTING_TAGS:
            self._depth += 1

    def end(self, name: str, end: int) -> None:
        if name == "Heading":
            self._finish(end)
        elif name in _NESTING_TAGS:
            self._depth -= 1

    def add_words(self, words: str) -> None:
        if self._open:
            super().add_words(words)

    def visit_html(self, markup: str, offset_of: Callable[[int], int]) -> None:
        for token in scan_tokens(markup):
            level = _HTML_HEADING.match(token.value)
            if token.kind == "text":
                self.add_words(token.value)
            elif token.kind == "close":
                if level:
                    if sum(map(len, self.words)) <= _MAX_HEADING_CHARS:
                        self._finish(offset_of(token.start) + len(token.value) + len("</>"))
                    self._open = None
            else:
                self._start_tag(token, level, offset_of(token.start))

    def _start_tag(self, tag: Token, level: re.Match[str] | None, at: int) -> None:
        tag_id = read_attribute(tag.attributes, "id").strip()
        if not tag_id and tag.value == "a":
            tag_id = read_attribute(tag.attributes, "name").strip()
        end = at + len(f"<{tag.value}{tag.attributes}>".encode())
        if level:
            self._begin(Anchor(at, end, tag_id, int(level[1])))
        elif tag_id:
            self.anchors.append(Anchor(at, end, tag_id, is_nested=self._depth > 0))
        elif tag.value == "br":
            self.add_words(" ")

    def _begin(self, heading: Anchor) -> None:
        self._open, self._has_attributes = heading, False
        self.clear_words()

    def _finish(self, end: int) -> None:
        heading, self._open = self._open, None
        if heading is None:
            return
        text = "".join(self.words)
        if self._has_attributes:
            text = text.rpartition("{")[0].rstrip()
        if not text.strip():
            text = "".join(self.image_words)
        self.anchors.append(Anchor(heading.start, end, heading.id, heading.level, text, self._depth > 0))


def _heading_attributes(heading: str) -> str:
    """Return the attributes at the end of a heading, before its closing `#` signs or its underline."""
    text = heading.strip()
    underline = max(text.rfind("\n"), text.rfind("\r"), 0)
    text = (text.rstrip("#") if text.startswith("#") else text[:underline]).rstrip()
    at = text.rfind("{")
    match = _ATTRIBUTE_LIST.fullmatch(text, at) if at >= 0 else None
    return match["attributes"] if match else ""


_NON_SLUG = re.compile(r"[^\w\- ]", re.ASCII)
_BARE_MARKUP = re.compile(rb"(?:\s|<!--(?s:.*?)-->|</?[A-Za-z][^<>]*>)*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with its line and the anchor that links use: given by the author, or made from its text."""

    level: int
    text: str
    line: int
    anchor: str


class Section(NamedTuple):
    """The first and last line of a section, and its headings, outermost first."""

    start_line: int
    end_line: int
    headings: tuple[str, ...]


def make_slug(text: str) -> str:
    """Return the anchor that GitHub makes from the text of a heading."""
    lowered = text.lower()
    if lowered.isascii():
        return _NON_SLUG.sub("", lowered).replace(" ", "-")
    return "".join(filter(_is_slug_character, lowered)).replace(" ", "-")


class Outline:
    """The headings of a text, and the sections that links can lead to.

    Headings in quotations and lists do not begin a section, but links can lead to them, as to anchors in
    running text. Headings in code are ignored.
    """

    def __init__(self, text: str, language: str = "markdown") -> None:
        body = read_front_matter(text).end
        self._offset = len(text[:body].encode("utf-8"))
        self._source = text.encode("utf-8")
        self._starts = line_starts(self._source)
        anchors, counts = find_anchors(text[body:], language), dict[str, int]()
        headings = {anchor: self._make_heading(anchor, counts) for anchor in anchors if anchor.level}
        self._top_anchors = [anchor for anchor in headings if not anchor.is_nested]
        self._inner_anchors = [anchor for anchor in anchors if anchor.is_nested or not anchor.level]
        self._names = {anchor: heading.anchor for anchor, heading in headings.items()}
        self.headings = tuple(headings[anchor] for anchor in self._top_anchors)
        """The headings that begin a section, in order."""

    def section(self, anchor: str) -> Section | None:
        """Return the section that an anchor leads to.

        `a-b`, `a_b` and `A b` are equal, since each site joins words in its own way. The section of a
        heading ends at the next heading of the same or a higher level; an anchor in running text leads to the
        section around it. `Part#Detail` is a heading below another one.
        """
        anchor = anchor.removeprefix("#").partition(":~:")[0]
        found = self._sections.get(anchor) or self._by_match_key.get(_match_key(anchor.removeprefix("user-content-")))
        return self._find_below(anchor) if found is None and "#" in anchor else found

    def _make_heading(self, anchor: Anchor, counts: dict[str, int]) -> Heading:
        """Return a heading; of equal slugs, the later ones get `-1`, `-2` and so on, which `counts` remembers."""
        first = slug = make_slug(anchor.text)
        while slug and slug in counts:
            counts[first] += 1
            slug = f"{first}-{counts[first]}"
        counts[slug] = 0
        return Heading(anchor.level, " ".join(anchor.text.split()), self._line(anchor), anchor.id or slug)

    def _line(self, anchor: Anchor) -> int:
        return line_number_at(self._starts, self._offset + anchor.start)

    @cached_property
    def _heading_sections(self) -> list[Section]:
        """The section of each heading, in order."""
        sections, open_ones = list[Section](), list[int]()
        for index, heading in enumerate(self.headings):
            while open_ones and self.headings[open_ones[-1]].level >= heading.level:
                closed = sections[ended := open_ones.pop()]
                sections[ended] = closed._replace(end_line=_line_before(heading.line, closed.start_line))
            above = sections[open_ones[-1]].headings if open_ones else ()
            headings = (*above, heading.text) if heading.text else above
            sections.append(Section(heading.line, len(self._starts), headings))
            open_ones.append(index)
        return sections

    @cached_property
    def _sections(self) -> dict[str, Section]:
        """The section of each anchor; anchors that the author gave take precedence."""
        inner = list(zip(self._inner_anchors, self._sections_around(), strict=True))
        given = [(anchor.id, section) for anchor, section in inner if not anchor.level]
        own = zip((heading.anchor for heading in self.headings), self._heading_sections, strict=True)
        nested = [(self._names[anchor], section) for anchor, section in inner if anchor.level]
        sections = dict[str, Section]()
        for name, section in (*given, *own, *nested):
            sections.setdefault(name, section)
        sections.pop("", None)
        return sections

    @cached_property
    def _by_match_key(self) -> dict[str, Section]:
        sections = dict[str, Section]()
        titles = zip((heading.text for heading in self.headings), self._heading_sections, strict=True)
        for name, section in (*self._sections.items(), *titles):
            sections.setdefault(_match_key(name), section)
        sections.pop("", None)
        return sections

    def _sections_around(self) -> list[Section]:
        """Return the section that each inner anchor stands in; directly before a heading, that of the heading."""
        starts, found = [anchor.start for anchor in self._top_anchors], list[Section]()
        first = line_number_at(self._starts, self._offset)
        top = Section(first, _line_before(self.headings[0].line, first) if self.headings else len(self._starts), ())
        near, following = -1, top
        for anchor in reversed(self._inner_anchors):
            at = bisect_right(starts, anchor.start)
            if at < len(starts) and not 0 <= near < starts[at]:
                near, following = starts[at], self._heading_sections[at]
            is_in_heading = at > 0 and anchor.start < self._top_anchors[at - 1].end
            if is_in_heading or near < 0 or not self._is_only_markup(anchor.start, near):
                following = self._heading_sections[at - 1] if at else top
            near = anchor.start
            found.append(following)
        return found[::-1]

    def _is_only_markup(self, start: int, end: int) -> bool:
        """Return whether there are only tags, comments and white space between two offsets."""
        gap = _BARE_MARKUP.match(self._source, self._offset + start, self._offset + end)
        return gap is not None and gap.end() == self._offset + end

    def _find_below(self, anchor: str) -> Section | None:
        *above, last = map(_match_key, anchor.split("#"))
        for heading, section in zip(self.headings, self._heading_sections, strict=True):
            path = map(_match_key, section.headings[:-1])
            if last and _match_key(heading.text) == last and all(part in path for part in above):
                return section
        return None


def _line_before(line: int, first: int) -> int:
    """Return the last line of a section that ends before a line; two HTML headings can share their line."""
    return max(first, line - 1)


def _is_slug_character(letter: str) -> bool:
    category = unicodedata.category(letter)
    return letter in "- " or category[0] in "LM" or category in {"Nd", "Nl", "Pc"}


def _match_key(anchor: str) -> str:
    """Return only the letters and digits of an anchor, which every way of making slugs keeps."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", anchor).casefold()))
