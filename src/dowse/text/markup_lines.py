"""The headings and the code of reStructuredText and AsciiDoc, which dowse keeps as they are written."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

MARKUP_LANGUAGES = ("rst", "asciidoc")

_RULE = re.compile(r"(?P<sign>[!-/:-@\[-`{-~])(?P=sign)*$")
_MARKED = re.compile(r"(?P<marks>={1,6}|#{1,6})[ \t]+(?P<text>\S.*)")
_ASCIIDOC_UNDERLINES = "=-~^+"
"""The underline of each level, in the older syntax of AsciiDoc."""
_UNDERLINE_SLACK = 2
"""The characters by which an underline of AsciiDoc may be shorter or longer than its heading."""
_CODE_DIRECTIVE = re.compile(
    r"\.\. +(?:[\w-]*code[\w-]*|literalinclude|parsed-literal|prompt|ipython3?|jupyter-execute|math|productionlist"
    r"|graphviz|digraph|mermaid|uml|plantuml|doctest|test\w+|console|plot|raw)::"
)
_ITEM = re.compile(r"[ \t]*(?:(?:[-*+•]|[\d#]{1,9}[.)])[ \t]+)*")
_DIRECTIVE = re.compile(r"\.\. +[\w:.+-]+ ?::")
_COMMENT = re.compile(r"\.\.(?: +(?!_|__|\[|\||[\w:.+-]+ ?::)|$)")
_VERBATIM = re.compile(r"(?:-{4,}|\.{4,}|\+{4,}|/{4,}|```[\w+-]*)$")
"""The lines around code and comments in AsciiDoc."""
_SERIES_ROLE = re.compile(r":(pep|rfc):`(?=\d)")
_MARKUP = re.compile(r":\w[\w:.+-]{0,60}:(?=`)|\s?<[^<>`]{1,500}>(?=`)|``|`_{0,2}|\\(?=\S)|\[\d+\]_")


class MarkupHeading(NamedTuple):
    """A heading: its first line, counted from 0, the number of its lines, its level from 1, and its text."""

    line: int
    length: int
    level: int
    text: str


def find_markup_headings(lines: Sequence[str], language: str) -> Iterator[MarkupHeading]:
    """Yield the headings of a text in one of the two languages, given as lines with or without their line ends."""
    lines = [line.rstrip() for line in lines]
    code_lines = _code_lines(lines, language)
    styles: list[str] = []
    at = known = 0
    while at < len(lines):
        heading = None
        if lines[at] and (language == "asciidoc" or _underlined_length(lines, at)):
            is_code = next(islice(code_lines, at - known, None))
            known = at + 1
            heading = None if is_code else _heading_at(lines, at, language, styles)
        if heading:
            yield heading
            at += heading.length
        else:
            at += 1
            while language == "rst" and at < len(lines) and lines[at - 1]:  # a heading follows a blank line
                at += 1


def _heading_at(lines: Sequence[str], at: int, language: str, styles: list[str]) -> MarkupHeading | None:
    if language == "asciidoc" and (marked := _MARKED.match(lines[at])):
        return MarkupHeading(
            at, 1, len(marked["marks"]), strip_markup(marked["text"].removesuffix(f" {marked['marks']}"))
        )
    length = _underlined_length(lines, at)
    if not length or (
        language == "asciidoc" and (length == 3 or abs(len(lines[at]) - len(lines[at + 1])) > _UNDERLINE_SLACK)
    ):
        return None
    style, text = lines[at + length - 1][0] * length, lines[at + length - 2].strip()
    if language == "asciidoc":
        level = _ASCIIDOC_UNDERLINES.find(style[0]) + 1
        return MarkupHeading(at, length, level, strip_markup(text)) if level else None
    if style not in styles:
        styles.append(style)
    return MarkupHeading(at, length, styles.index(style) + 1, strip_markup(text))


def _underlined_length(lines: Sequence[str], at: int) -> int:
    """Return the number of lines of the heading that begins here: two, three with an overline, 0 without a heading."""
    after = lines[at + 1] if at + 1 < len(lines) else ""
    if _RULE.match(lines[at]):
        return 3 if after and at + 2 < len(lines) and lines[at + 2] == lines[at] else 0
    is_underlined = _RULE.match(after) and len(after) >= min(4, len(lines[at])) and lines[at][0] not in " \t."
    return 2 if is_underlined else 0


def find_code_lines(lines: Sequence[str], language: str) -> list[bool]:
    """Return for each line whether it is part of code or of a comment."""
    return list(_code_lines(lines, language))


def _code_lines(lines: Sequence[str], language: str) -> Iterator[bool]:
    return _rst_code(lines) if language == "rst" else _asciidoc_code(lines)


def _rst_code(lines: Sequence[str]) -> Iterator[bool]:
    limit = -1
    """The indentation of the line above the current code; -1 outside of code."""
    was_prompt = False
    for line in lines:
        text = line.strip()
        if not text:
            was_prompt = False
            yield limit >= 0
            continue
        if limit >= 0 and len(line) - len(line.lstrip()) <= limit:
            limit = -1
        was_prompt = was_prompt or text.startswith(">>> ")
        is_explicit = limit < 0 and text.startswith("..")
        is_comment = is_explicit and _COMMENT.match(text) is not None
        yield limit >= 0 or was_prompt or is_comment
        is_lead = limit < 0 and text.endswith("::") and not _DIRECTIVE.match(text)
        if is_comment or is_lead or (is_explicit and _CODE_DIRECTIVE.match(text)):
            limit = _ITEM.match(line).end()  # type: ignore[union-attr]  # it matches any line


def _asciidoc_code(lines: Sequence[str]) -> Iterator[bool]:
    fence, above, is_literal = "", "", False
    for line in lines:
        text = line.rstrip()
        is_literal = bool(text) and line[0] in " \t" and (not above or is_literal)
        is_underline = above[:1].isalnum() and abs(len(above) - len(text)) <= _UNDERLINE_SLACK
        is_edge = (text == fence) if fence else bool(_VERBATIM.match(text)) and not is_underline
        yield bool(fence) or is_edge or is_literal or text.startswith("//")
        if is_edge:
            fence = "" if fence else "```" if text.startswith("```") else text
        above = text


def strip_markup(text: str) -> str:
    """Return a heading or a paragraph on one line, without the marks of roles, links and literals."""
    named = _SERIES_ROLE.sub(lambda role: f"{role[1].upper()} ", text)
    return " ".join(_MARKUP.sub("", named).split())
