"""Conversion of HTML to Markdown in one pass over the tags, without a tree, so that no nesting makes it slow."""

import html
import re
from dataclasses import dataclass, field

from dowse.reading.html_scan import INVISIBLE, read_attribute
from dowse.reading.markdown_writer import code_block, code_span, heading, link, paragraph, table

_ATTRIBUTES = r"""(?:[^<>"']++|"[^"]{0,4000}+"|'[^']{0,4000}+'){0,200}+[^<>]*"""
_PIECE = re.compile(
    rf"{INVISIBLE}|<title\b(?s:.*?)(?:</title\s*>|\Z)|<[!?][^<>]*>"
    rf"|<(?P<end>/?)(?P<tag>[a-z][^\s/<>]*+)(?P<attributes>{_ATTRIBUTES})>",
    re.IGNORECASE,
)
_MAY_HIDE = re.compile(r"hidden|none", re.IGNORECASE)
_QUOTED = re.compile(r"""=\s*(?:"[^"]*"|'[^']*')""")
_HIDDEN = re.compile(r"(?:^|\s)hidden(?=[\s=/]|$)", re.IGNORECASE)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LANGUAGE = re.compile(r"\blang(?:uage)?-([\w+#.-]+)")
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"menu", "ol", "ul"})
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "head", "header", "hgroup", "hr", "html", "legend", "li",
    "main", "nav", "optgroup", "p", "pre", "search", "section", "summary", "table", "tbody", "textarea", "tfoot", "thead",
    "tr", *_LISTS, *_LEVELS,
})  # fmt: skip
_SPACED = frozenset({"button", "input", "label", "option", "select", "td", "th"})
_MARKS = {"b": "**", "caption": "*", "del": "~~", "em": "*", "figcaption": "*", "i": "*", "q": '"', "s": "~~"}
_MARKS |= {"strong": "**", "summary": "**", "var": "*"}
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_KNOWN = _BLOCKS | _SPACED | _CODE | _MARKS.keys() | {"a", "br", "img"}
_BREAK = "\v"
"""Replaces a `<br>` until the spaces of its block are folded."""
_SPACES = re.compile(r"[ \t\r\f]*\n[ \t\r\n\f]*|[ \t\r\f]{2,}|[\t\r\f]")
_ANGLE = re.compile(r"<(?![;\s=\d]|$)")
"""A `<` that would begin a tag, although it is text: `Box&lt;T&gt;`."""
_PERMALINK_SIGNS = frozenset({"", "#", "§", "¶", "\u200b", "🔗"})
"""The signs beside a heading that link to the heading."""
_MAX_DEPTH = 16
"""Lists, quotations, tables and emphasis that are nested deeper are shown as if they were at this depth."""


def convert_html(source: str) -> str:
    """Return the text of a page as a person sees it, in Markdown."""
    writer, end = _Writer(), 0
    for piece in _PIECE.finditer(source):
        if piece.start() > end:
            writer.add_text(source[end : piece.start()])
        end = piece.end()
        if tag := piece["tag"]:
            writer.add_tag(tag.lower(), piece["attributes"], is_end=bool(piece["end"]))
    writer.add_text(source[end:])
    return writer.finish()


@dataclass(slots=True, eq=False)
class _Container:
    """A list, an item of a list or a quotation, with what stands before its first line and before the others."""

    tag: str
    first: str = ""
    rest: str = ""
    number: int = 1
    """The number of the next item of a list."""


@dataclass(slots=True)
class _Table:
    """The rows of a table: the blocks of each cell."""

    rows: list[list[list[str]]] = field(default_factory=list)
    is_layout: bool = False
    """Whether a cell has a heading, code or a table, which a cell of Markdown cannot have."""


@dataclass(slots=True)
class _Inline:
    """An open tag within a block, and its position among the words."""

    tag: str
    at: int
    address: str = ""
    outer_code: str = ""
    """The tag of the code that a link stands in: Markdown has no links in code, so the code stands in the link."""


class _Writer:
    """Writes the Markdown of a page from its tags and text."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._words: list[str] = []
        self._inlines: list[_Inline] = []
        self._containers: list[_Container] = []
        self._last_containers: list[_Container] = []
        self._tables: list[_Table] = []
        self._level = 0
        self._language: str | None = None
        """The language of the `<pre>` that is open; None outside of one."""
        self._hidden_tag = ""
        self._hidden_depth = 0

    def add_text(self, markup: str) -> None:
        """Add the text between two tags."""
        if self._hidden_tag:
            return
        text = html.unescape(markup) if "&" in markup else markup
        if "<" in text and self._language is None and not self._open_code():
            text = _ANGLE.sub(r"\\<", text)
        self._words.append(text)

    def add_tag(self, tag: str, attributes: str, *, is_end: bool) -> None:
        if self._hidden_tag and not self._leave_hidden(tag, is_end=is_end):
            return
        if attributes and not is_end and tag not in _VOID and _is_hidden(attributes):
            if tag in _BLOCKS:
                self._end_block()
            self._hidden_tag, self._hidden_depth = tag, 1
        elif tag not in _KNOWN:
            return
        elif self._language is not None:
            if tag == "br":
                self._words.append("\n")
            elif tag == "pre" and is_end:
                if code := "".join(self._words).strip("\n"):
                    self._mark_layout()
                    self._show(code_block(code, self._language or ""))
                self._words.clear()
                self._language = None
            elif tag == "code" and not self._language:
                self._language = _find_language(attributes)
        elif is_end:
            self._end(tag)
        else:
            self._start(tag, attributes)

    def finish(self) -> str:
        """Return the Markdown."""
        self._end_block()
        while self._tables:
            self._end_table()
        return "\n".join([*self._lines, ""])

    def _leave_hidden(self, tag: str, *, is_end: bool) -> bool:
        """Return whether a tag stands after the hidden element instead of in it or at its end."""
        if tag == self._hidden_tag and tag != "p":
            self._hidden_depth += -1 if is_end else 1
        is_after_paragraph = self._hidden_tag == "p" and tag in _BLOCKS
        if is_after_paragraph or not self._hidden_depth:
            self._hidden_tag = ""
        return is_after_paragraph and not (tag == "p" and is_end)

    def _start(self, tag: str, attributes: str) -> None:
        if tag in _BLOCKS:
            self._end_block()
            self._start_block(tag, attributes)
        elif tag in _SPACED:
            self._words.append(" ")
        if tag in _MARKS or tag in _CODE:
            if len(self._inlines) < _MAX_DEPTH:
                self._inlines.append(_Inline(tag, len(self._words)))
        elif tag == "a":
            self._end_inline("a")
            if address := read_attribute(attributes, "href"):
                outer_code = self._open_code()
                self._end_inline(outer_code)
                self._inlines.append(_Inline("a", len(self._words), address, outer_code))
                self._inlines += [_Inline(outer_code, len(self._words))] if outer_code else []
        elif tag == "br":
            self._words.append(_BREAK)
        elif tag == "img":
            address, alt = read_attribute(attributes, "src"), read_attribute(attributes, "alt")
            self._words.append(alt if address.startswith("data:") else "!" + link(alt, address) if address else alt)
        elif tag == "input" and read_attribute(attributes, "type").lower() == "checkbox":
            self._words.append("[x] " if re.search(r"\bchecked\b", attributes, re.IGNORECASE) else "[ ] ")
        elif tag in ("td", "th") and self._tables:
            self._end_block()
            self._tables[-1].rows = self._tables[-1].rows or [[]]
            self._tables[-1].rows[-1].append([])

    def _start_block(self, tag: str, attributes: str) -> None:
        self._level = _LEVELS.get(tag, 0)
        if tag == "pre":
            self._language = _find_language(attributes)
        elif tag == "hr":
            self._show("---")
        elif tag == "table" and len(self._tables) < _MAX_DEPTH:
            self._mark_layout()
            self._tables.append(_Table())
        elif self._tables:
            if tag == "tr":
                self._tables[-1].rows.append([])
        elif tag == "li":
            self._end_container("li", *_LISTS)
            parent = self._containers[-1] if self._containers else _Container("ul")
            mark = f"{parent.number}. " if parent.tag == "ol" else "- "
            parent.number += 1
            self._containers.append(_Container("li", mark, " " * len(mark)))
        elif tag in _LISTS:
            start = read_attribute(attributes, "start")
            self._containers.append(_Container(tag, number=int(start) if start.isdecimal() else 1))
        elif tag == "blockquote":
            self._containers.append(_Container(tag, "> ", "> "))

    def _end(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._end_block()
            if tag == "table" and self._tables:
                self._end_table()
            elif not self._tables and (tag in _LISTS or tag == "blockquote"):
                self._end_container(tag)
            elif not self._tables and tag == "li":
                self._end_container("li", *_LISTS)
        elif tag in _SPACED:
            self._words.append(" ")
        else:
            self._end_inline(tag)

    def _end_container(self, tag: str, *borders: str) -> None:
        """Leave the innermost container of a tag, unless one of the borders is further in."""
        for at in range(len(self._containers) - 1, -1, -1):
            if self._containers[at].tag == tag:
                del self._containers[at:]
            elif self._containers[at].tag not in borders:
                continue
            return

    def _open_code(self) -> str:
        return next((inline.tag for inline in self._inlines if inline.tag in _CODE), "") if self._inlines else ""

    def _end_inline(self, tag: str) -> None:
        """End the innermost open tag of a name and those within it."""
        if not self._inlines or not any(inline.tag == tag for inline in self._inlines):
            return
        while True:
            inline = self._inlines.pop()
            text = "".join(self._words[inline.at :])
            if stripped := text.strip(f" \t\r\n\f{_BREAK}"):
                before, _, after = text.partition(stripped)
                self._words[inline.at :] = filter(None, (before, self._mark(inline, stripped), after))
            elif inline.address and not inline.address.startswith("#"):
                self._words.append(link("", inline.address))
            if inline.tag == tag:
                break
        if inline.outer_code:
            self._inlines.append(_Inline(inline.outer_code, len(self._words)))

    def _mark(self, inline: _Inline, text: str) -> str:
        if inline.tag == "a":
            if inline.address.startswith("#") and text in _PERMALINK_SIGNS:
                return ""
            is_balanced = text.count("[") == text.count("]")
            return link(text if is_balanced else re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", text), inline.address)
        if inline.tag in _CODE:
            begins_outer = any(outer.at == inline.at for outer in self._inlines)
            is_beside_code = inline.at > 0 and not begins_outer and self._words[inline.at - 1].endswith("`")
            return " " * is_beside_code + code_span(text)
        mark = "" if self._open_code() else _MARKS[inline.tag]
        return f"{mark}{text}{mark}"

    def _end_block(self) -> None:
        """Show the words since the last block as a paragraph or a heading."""
        text = "".join(self._words)
        if not text or text.isspace():
            if not self._inlines:
                self._words.clear()
            return
        while self._inlines:
            self._end_inline(self._inlines[-1].tag)
        text = _SPACES.sub(lambda spaces: "\n" if "\n" in spaces[0] else " ", "".join(self._words)).strip(
            f" \n{_BREAK}"
        )
        self._words.clear()
        if self._level:
            self._mark_layout()
            self._show(heading(self._level, text))
        elif text:
            self._show(paragraph(re.sub(rf"(?<! ) *{_BREAK}\s*", "  \n", text)))
        self._level = 0

    def _mark_layout(self) -> None:
        if self._tables:
            self._tables[-1].is_layout = True

    def _end_table(self) -> None:
        closed = self._tables.pop()
        if closed.is_layout:
            for block in (block for row in closed.rows for cell in row for block in cell):
                self._show(block)
        elif markdown := table([[" ".join(cell) for cell in row] for row in closed.rows]):
            self._show(markdown)

    def _show(self, block: str) -> None:
        """Add a block to the cell of the table that is open, or else to the text."""
        if self._tables and self._tables[-1].rows and self._tables[-1].rows[-1]:
            self._tables[-1].rows[-1][-1].append(block)
            return
        containers = self._containers[:_MAX_DEPTH]
        shared = [one for one, other in zip(containers, self._last_containers, strict=False) if one is other]
        is_next_item = any(one.tag in _LISTS for one in shared) and bool(containers[-1].first.strip("> "))
        if self._lines and not is_next_item:
            self._lines.append("".join(one.rest for one in shared).rstrip())
        first, rest = "".join(one.first for one in containers), "".join(one.rest for one in containers)
        for container in containers:
            container.first = container.rest
        for number, line in enumerate(block.split("\n")):
            self._lines.append(f"{rest if number else first}{line}" if line else (rest if number else first).rstrip())
        self._last_containers = containers


def _is_hidden(attributes: str) -> bool:
    """Return whether a tag hides its element. A tab panel is not hidden: a person can open it."""
    if not _MAY_HIDE.search(attributes) or read_attribute(attributes, "role").lower() == "tabpanel":
        return False
    return bool(
        _HIDDEN.search(_QUOTED.sub("=_ ", attributes))
        or read_attribute(attributes, "aria-hidden").lower() == "true"
        or _HIDDEN_STYLE.search(read_attribute(attributes, "style"))
    )


def _find_language(attributes: str) -> str:
    language = _LANGUAGE.search(read_attribute(attributes, "class"))
    return language[1] if language else ""
