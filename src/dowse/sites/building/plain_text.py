"""The plain text of a Markdown page, in paragraphs, without markup, link targets and template tags; and a page as its file has it."""

import re
from dataclasses import dataclass
from typing import Any

from dowse.reading.html_scan import extract_text
from dowse.reading.markdown_events import is_inline, parse_markdown
from dowse.reading.shorten import shorten

_SHORTCODE = re.compile(
    r"\{\{[<%](?:[^{}]|\}(?!\})|\{(?!\{))*+\}\}|\{%(?:[^{%]|%(?!\})|\{(?!%))*+%\}|\{\{(?:[^{}]|\{[^{}]*\})*+\}\}"
)
"""Template tags of Hugo, Jekyll and others: `{{< figure src="x" >}}`, `{% include x %}`, `{{ page.title }}`."""
_ATTRIBUTES = re.compile(r"\{[:#.][^{}\n]*\}")
_NOTHING = re.compile(r"(?!)")
_COMMENT = re.compile(r"<!--(?s:.*?)(?:-->|\Z)")
_SPACES = re.compile(r"[ \t\f\v\u00a0]+")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_BLANK = re.compile(r"\n{3,}")


def markdown_text(markdown: str, *, has_tags: bool = True) -> tuple[str, str]:
    """Return the plain text of Markdown, and its first heading of level 1, or else its first heading.

    There is a blank line between blocks; template tags are not part of the text.
    """
    source = _SHORTCODE.sub("", _COMMENT.sub("", markdown)) if has_tags else markdown
    collector = _BlockCollector(_ATTRIBUTES if has_tags else _NOTHING)
    for event, _ in parse_markdown(source):
        collector.handle(event)
    heading = collector.headings.get("H1") or next(iter(collector.headings.values()), "")
    return clean_text("\n\n".join(collector.finish())), " ".join(heading.split())


def clean_text(text: str) -> str:
    """Remove control characters, repeated spaces and repeated blank lines."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _BLANK.sub("\n\n", "\n".join(lines)).strip()


class _BlockCollector:
    """Collects the text of each block from parser events."""

    def __init__(self, left_out: re.Pattern[str]) -> None:
        self._left_out = left_out
        self._blocks: list[str] = []
        self._words: list[str] = []
        self._is_html = False
        self.headings: dict[str, str] = {}
        """The first heading of each level."""

    def handle(self, event: Any) -> None:
        if isinstance(event, str):
            self._words.append({"SoftBreak": " ", "HardBreak": "\n"}.get(event, ""))
            return
        ((kind, value),) = event.items()
        if kind in ("Start", "End"):
            self._handle_boundary(value, is_start=kind == "Start")
        elif kind in ("Text", "Code", "Html"):
            self._words.append(value)
        elif kind == "InlineHtml" and value.startswith(("<br", "<wbr")):
            self._words.append(" ")

    def _handle_boundary(self, tag: Any, *, is_start: bool) -> None:
        name = tag if isinstance(tag, str) else next(iter(tag))
        if is_inline(tag):
            return
        if name == "TableCell":
            self._words.append(" " if is_start else "")
            return
        if name == "Heading" and not is_start:
            level = tag["Heading"] if isinstance(tag["Heading"], str) else tag["Heading"]["level"]
            self.headings.setdefault(level, self._left_out.sub("", "".join(self._words)))
        self._end_block()
        self._is_html = is_start and name == "HtmlBlock"

    def _end_block(self) -> None:
        text = "".join(self._words)
        self._words.clear()
        if self._is_html:
            text = extract_text(text)
        text = self._left_out.sub("", text).strip("\n")
        if text.strip():
            self._blocks.append(text)

    def finish(self) -> list[str]:
        self._end_block()
        return self._blocks


ABSTRACT_CHARACTERS = 200
"""Maximum length of an abstract that is taken from the beginning of the page."""


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page as its file has it. Its fields are values of JSON."""

    url: str
    """The path that the page states, or that its file has."""
    title: str
    abstract: str
    day: str
    """YYYY-MM-DD; empty if the page has no date."""
    topics: tuple[str, ...]
    text: str
    """The plain text, in paragraphs."""
    host: str = ""
    """The host of the canonical URL; empty if the page states none."""
    is_draft: bool = False
    warnings: tuple[str, ...] = ()


def make_abstract(stated: str, text: str, heading: str) -> str:
    """Return the abstract that a page states, or else the first paragraph of more than 40 characters below its heading."""
    first, _, rest = text.partition("\n\n")
    opening = rest if rest and " ".join(first.split()) == heading else text
    paragraphs = opening.split("\n\n")
    first = next((block for block in paragraphs if len(block) > 40), paragraphs[0])
    return clean_text(stated) or shorten(first, ABSTRACT_CHARACTERS)


def title_from_path(path: str) -> str:
    """Make a title from the file name of a page that has none."""
    words = re.sub(r"[-_]+", " ", path.rpartition("/")[2].rpartition(".")[0]).strip()
    return words[:1].upper() + words[1:] or "Untitled"
