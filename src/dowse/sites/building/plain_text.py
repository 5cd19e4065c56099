"""The words of a page: clean text in paragraphs, without marks, addresses and what templates insert."""

import re
from typing import Any, NamedTuple

from dowse.reading.html_scan import extract_text
from dowse.reading.markdown_events import is_inline, parse_markdown

_SHORTCODE = re.compile(r"\{\{[<%](?:[^}]|\}(?!\}))*\}\}|\{%(?:[^%]|%(?!\}))*%\}|\{\{(?:[^{}]|\{[^{}]*\})*\}\}")
"""What Hugo, Jekyll and others replace: `{{< figure src="x" >}}`, `{% include x %}`, `{{ page.title }}`."""
_FENCE = re.compile(r"^[ \t]*:::+[ \t]*(?:[\w-]+)?[ \t]*(?:\[([^\]\n]*)\]|([^\n{]*))[^\n]*$", re.MULTILINE)
"""`:::tip[Title]`, `:::note Title`, `:::`."""
_ADMONITION = re.compile(
    r'^(?P<indent>[ \t]*)(?:!!!|\?\?\?\+?)[ \t]*[\w -]*(?:"(?P<title>[^"\n]*)")?[ \t]*$', re.MULTILINE
)
_ATTRIBUTES = re.compile(r"\{[:#.][^{}\n]*\}")
_COMMENT = re.compile(r"<!--(?s:.*?)(?:-->|\Z)")
_SPACES = re.compile(r"[ \t\f\v\u00a0]+")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_BLANK = re.compile(r"\n{3,}")


class PageText(NamedTuple):
    """The text of a page, and its main heading, or the first where none is main."""

    text: str
    heading: str


def markdown_text(markdown: str) -> PageText:
    """The text of Markdown, a blank line between its blocks."""
    source = _COMMENT.sub("", markdown)
    source = _SHORTCODE.sub("", source)
    source = _FENCE.sub(lambda found: f"\n{(found[1] or found[2] or '').strip()}\n", source)
    source = _flatten_admonitions(source)
    blocks = _BlockCollector()
    for event, _ in parse_markdown(source):
        blocks.see(event)
    text = clean_text("\n\n".join(blocks.done()))
    return PageText(text, " ".join((blocks.headings.get("H1") or next(iter(blocks.headings.values()), "")).split()))


def clean_text(text: str) -> str:
    """Text without control characters, needless spaces and rows of blank lines."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _BLANK.sub("\n\n", "\n".join(lines)).strip()


def first_paragraph(text: str, most: int) -> str:
    """The beginning of a text, cut at a word."""
    opening = next((block for block in text.split("\n\n") if len(block) > 40), text.partition("\n\n")[0])
    line = " ".join(opening.split())
    if len(line) <= most:
        return line
    return line[:most].rpartition(" ")[0].rstrip(" ,;:.-") + "…"


def _flatten_admonitions(source: str) -> str:
    """Admonitions as their title and their text, which is indented and would be taken for code."""
    if "!!!" not in source and "???" not in source:
        return source
    lines: list[str] = []
    inside = -1
    for line in source.split("\n"):
        if found := _ADMONITION.match(line):
            inside = len(found["indent"]) + 4
            lines += ["", found["title"] or "", ""]
        elif inside >= 0 and line.strip() and len(line) - len(line.lstrip()) < inside:
            inside = -1
            lines.append(line)
        else:
            lines.append(line[inside:] if inside >= 0 else line)
    return "\n".join(lines)


class _BlockCollector:
    """Watches events go by and keeps the text of each block."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._words: list[str] = []
        self._is_html = False
        self.headings: dict[str, str] = {}
        """The first of each level."""

    def see(self, event: Any) -> None:
        if isinstance(event, str):
            self._words.append({"SoftBreak": " ", "HardBreak": "\n"}.get(event, ""))
            return
        ((kind, value),) = event.items()
        if kind in ("Start", "End"):
            self._bound(value, is_start=kind == "Start")
        elif kind in ("Text", "Code") or kind == "Html":
            self._words.append(value)
        elif kind == "InlineHtml" and value.startswith(("<br", "<wbr")):
            self._words.append(" ")

    def _bound(self, tag: Any, *, is_start: bool) -> None:
        name = tag if isinstance(tag, str) else next(iter(tag))
        if is_inline(tag):
            return
        if name == "TableCell":
            self._words.append(" " if is_start else "")
            return
        if name == "Heading" and not is_start:
            level = tag["Heading"] if isinstance(tag["Heading"], str) else tag["Heading"]["level"]
            self.headings.setdefault(level, _ATTRIBUTES.sub("", "".join(self._words)))
        self._keep()
        self._is_html = is_start and name == "HtmlBlock"

    def _keep(self) -> None:
        text = "".join(self._words)
        self._words.clear()
        if self._is_html:
            text = extract_text(text)
        text = _ATTRIBUTES.sub("", text).strip("\n")
        if text.strip():
            self._blocks.append(text)

    def done(self) -> list[str]:
        self._keep()
        return self._blocks
