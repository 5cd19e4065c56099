"""Conversion of the blocks of reStructuredText, which can be nested, to Markdown."""

import re

from dowse.reading.markdown_writer import code_block, heading, indent, paragraph
from dowse.reading.rst.directives import convert_explicit
from dowse.reading.rst.indentation import (
    dedent,
    dedent_by,
    find_indented_end,
    find_nonblank,
    line_after,
    trim_blank_lines,
)
from dowse.reading.rst.inline import Names, convert_inline
from dowse.reading.rst.tables import convert_table, is_border, table_end

_RULE = re.compile(r"(?P<sign>[!-/:-@\[-`{-~])(?P=sign)*$")
_BULLET = re.compile(r"(?P<marker>[-*+•‣⁃])(?:\s+|$)")
_NUMBER = re.compile(r"\(?(?P<marker>\d{1,9}|#|[A-Za-z]|[ivxlcdmIVXLCDM]{1,9})[.)](?:\s+|$)")
_FIELD = re.compile(r":(?![:\s])(?P<name>(?:[^:\\]|\\.|:(?![\s`]|$)){1,200}):(?:\s+|$)(?P<value>.*)")
_EXPLICIT = re.compile(r"\.\.(?:\s|$)|__ ")
_TOOL_FIELDS = {"orphan", "nocomments", "tocdepth", "nosearch", "no-search", "allow-section-headings"}
_MAX_DEPTH = 16
"""Text nested deeper than this, which is never written by hand, is left as it is."""


class RstBlocks:
    """Converts block after block; keeps the order of the heading styles and the meaning of names."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._styles: list[str] = []
        self._depth = 0

    def convert(self, lines: list[str]) -> str:
        """Convert lines to Markdown, with a blank line between blocks."""
        if self._depth > _MAX_DEPTH:
            return paragraph("\n".join(lines))
        self._depth += 1
        blocks, at = list[str](), 0
        while at < len(lines):
            block, at = self._convert_block(lines, at) if lines[at] else ("", at + 1)
            blocks += [block] if block.strip() else []
        self._depth -= 1
        return "\n\n".join(blocks)

    def _convert_block(self, lines: list[str], at: int) -> tuple[str, int]:
        """Return the block that begins at a line, in Markdown, and the index of the line after it."""
        line = lines[at]
        if line.startswith(" "):
            end = find_indented_end(lines, at)
            return indent(self.convert(dedent(lines[at:end])), "> "), end
        if _EXPLICIT.match(line):
            end = find_indented_end(lines, at + 1)
            return convert_explicit(self, lines[at:end]), end
        if self._depth == 1 and (size := _count_heading_lines(lines, at)):
            return self._convert_heading(lines[at : at + size]), at + size
        if _RULE.match(line) and len(line) > 3 and not line_after(lines, at):
            return "* * *", at + 1
        if is_border(line):
            end = table_end(lines, at)
            return convert_table(lines[at:end], self.names), end
        if _FIELD.match(line):
            return self._convert_fields(lines, at)
        if _match_item(lines, at):
            return self._convert_list(lines, at)
        return self._convert_paragraph(lines, at)

    def _convert_heading(self, lines: list[str]) -> str:
        style = lines[-1][0] * len(lines)
        if style not in self._styles:
            self._styles.append(style)
        return heading(self._styles.index(style) + 1, convert_inline(lines[-2].strip(), self.names))

    def _convert_fields(self, lines: list[str], at: int) -> tuple[str, int]:
        items = list[str]()
        while at < len(lines) and (match := _FIELD.match(lines[at])):
            end = find_indented_end(lines, at + 1)
            body = self.convert(trim_blank_lines([match["value"], *dedent(lines[at + 1 : end])]))
            if match["name"] not in _TOOL_FIELDS:
                items.append(f"- **{match['name']}:** {indent(body, '  ').lstrip()}".rstrip())
            at = end
        return "\n".join(items), at

    def _convert_list(self, lines: list[str], at: int) -> tuple[str, int]:
        items, number, last = list[str](), 0, at
        bullet = _BULLET.match(lines[at])
        while at < len(lines) and (match := _match_item(lines, at)):
            sign = match["marker"]
            if bool(bullet) != (match.re is _BULLET) or (bullet and sign != bullet["marker"]):
                break
            number = int(sign) if sign.isdecimal() else number + 1
            marker = "- " if bullet else f"{number}. "
            end = find_indented_end(lines, at + 1)
            rest = dedent_by(lines[at + 1 : end], match.end())
            body = self.convert(trim_blank_lines([lines[at][match.end() :], *rest]))
            items.append(marker + indent(body, " " * len(marker)).lstrip(" "))
            last, at = end, find_nonblank(lines, end)
        return ("\n\n" if any("\n\n" in item for item in items) else "\n").join(items), last

    def _convert_paragraph(self, lines: list[str], at: int) -> tuple[str, int]:
        if line_after(lines, at).startswith(" ") and not lines[at].endswith("::"):
            return self._convert_definition(lines, at)
        end = at + 1
        while end < len(lines) and lines[end] and not (lines[end].startswith(" ") and lines[end - 1].endswith("::")):
            end += 1
        block = lines[at:end]
        if block[0].startswith(">>>"):
            return code_block("\n".join(block), "pycon"), end
        if all(line == "|" or line.startswith("| ") for line in block):
            return "  \n".join(self._convert_text([line[1:]]) for line in block), end
        if block[-1].endswith("::"):
            return self._convert_literal_block(lines, block, end)
        return self._convert_text(block), end

    def _convert_text(self, lines: list[str]) -> str:
        return paragraph(convert_inline("\n".join(line.strip() for line in lines), self.names))

    def _convert_literal_block(self, lines: list[str], block: list[str], at: int) -> tuple[str, int]:
        """Convert a paragraph that ends in `::`, and the code after it."""
        last = block[-1][:-2]
        last = f"{last}:" if last and not last.endswith(" ") else last.rstrip()
        end = find_indented_end(lines, at)
        code = "\n".join(trim_blank_lines(dedent(lines[at:end])))
        parts = [self._convert_text(trim_blank_lines([*block[:-1], last])), code_block(code) if code else ""]
        return "\n\n".join(filter(None, parts)), end

    def _convert_definition(self, lines: list[str], at: int) -> tuple[str, int]:
        end = find_indented_end(lines, at + 1)
        term = convert_inline(lines[at], self.names)
        label = paragraph(term) if "*" in term else f"**{term}**"
        return f"- {label}\n\n{indent(self.convert(dedent(lines[at + 1 : end])), '  ')}", end


def _match_item(lines: list[str], at: int) -> re.Match[str] | None:
    """Match the marker of a list item; `A. Einstein` is none if its next line is not indented."""
    if match := _BULLET.match(lines[at]):
        return match
    match, after = _NUMBER.match(lines[at]), line_after(lines, at)
    return match if match and (not after or after.startswith(" ") or _NUMBER.match(after)) else None


def _count_heading_lines(lines: list[str], at: int) -> int:
    """Return the number of lines of the heading that begins here: two, three with an overline, 0 without a heading."""
    over, after = _RULE.match(lines[at]), line_after(lines, at)
    if over:
        return 3 if after.strip() and at + 2 < len(lines) and lines[at + 2] == lines[at] else 0
    under = _RULE.match(after)
    return 2 if under and len(after) >= min(4, len(lines[at])) else 0
