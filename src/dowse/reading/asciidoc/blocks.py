"""Conversion of the blocks of AsciiDoc to Markdown."""

import re
from collections.abc import Iterator

from dowse.reading.asciidoc.attributes import Attributes
from dowse.reading.asciidoc.inline import convert_inline, macro_label
from dowse.reading.asciidoc.line_reader import DELIMITER, MACRO, PREPROCESSOR, STYLE, LineReader, starts_block
from dowse.reading.asciidoc.lists import TERM, ListNesting, match_item
from dowse.reading.asciidoc.tables import convert_table
from dowse.reading.markdown_writer import code_block, heading, link, paragraph

_HEADING = re.compile(r"(?P<marks>={1,6}|#{1,6})[ \t]+(?P<text>\S.*?)(?:[ \t]+(?P=marks))?$")
_BLOCK_TITLE = re.compile(r"\.(?P<text>[^\s.].*)")
_RULE = re.compile(r"'{3,}$|-{3}$|\*{3}$|<{3,}$")
_ADMONITION = re.compile(r"(?P<kind>NOTE|TIP|IMPORTANT|WARNING|CAUTION)(?::[ \t]+|$)")
_UNDERLINES = "=-~^+"
"""The underline character for each heading level, in the older syntax."""
_CODE_STYLES = ("source", "listing", "literal")
_FORMULA_STYLES = ("stem", "latexmath", "asciimath")
_MAX_STYLE_CHARS = 1000
_MAX_OPEN_BLOCKS = 20


class AsciiDocBlocks:
    """Converts block after block; `attributes` are those that the document has set so far."""

    def __init__(self, lines: list[str]) -> None:
        self.attributes = Attributes()
        self._lines = LineReader(lines)
        self._nesting = ListNesting()
        self._style = ""
        self._label = ""
        self._has_title = False
        self._open_blocks: list[str] = []
        """The opening lines of the examples, quotations and asides that are open."""

    def convert(self) -> Iterator[str]:
        """Yield the blocks in Markdown, in order."""
        while self._lines:
            line = self._lines.take()
            block = self._convert_block(line) if line else ""
            if block.strip():
                if self._label:  # of an admonition that does not begin with text
                    yield self._label.strip()
                    self._label = ""
                yield block

    def _convert_block(self, line: str) -> str:
        """Return the block that begins with a line; empty for a line that only sets the style of the next block."""
        if self._consume_invisible(line):
            return ""
        if match := STYLE.match(line):
            self._style = ",".join(filter(None, [self._style, match["style"]]))[:_MAX_STYLE_CHARS]
            return ""
        if title := _BLOCK_TITLE.match(line):
            return f"**{self._convert_text(title['text'])}**"
        style, self._style = self._style, ""
        if kind := _ADMONITION.match(style.partition(",")[0]):
            self._label = f"**{kind['kind'].capitalize()}:** "
        if delimiter := DELIMITER.match(line):
            return self._convert_delimited(line, style, delimiter["language"] or "")
        return self._convert_undelimited(line, style)

    def _consume_invisible(self, line: str) -> bool:
        """Return whether a line shows nothing: a comment, a condition, a plus sign, or an attribute, which is set here."""
        is_comment = line.startswith("//") and not line.startswith("////")
        if is_comment or PREPROCESSOR.match(line) or line == "+":
            return True
        if not self.attributes.is_entry(line):
            return False
        values = [line]
        while values[-1].endswith(" \\") and self._lines:  # it continues on the next line
            values.append(self._lines.take().strip())
        self.attributes.set_from("".join(value.removesuffix("\\") for value in values))
        return True

    def _convert_undelimited(self, line: str, style: str) -> str:
        """Convert a block without delimiter lines."""
        if level := self._heading_level(line):
            return self._convert_heading(level, line)
        if macro := MACRO.match(line):
            return self._convert_macro(macro)
        if _RULE.match(line):
            return "* * *" if line[0] != "<" else ""
        if match_item(line):
            return self._convert_list(line)
        if line.startswith((" ", "\t")) or style.startswith((*_CODE_STYLES, ",")):
            return code_block("\n".join([line, *self._lines.take_continuation()]), _style_language(style))
        if not self._lines.is_after_plus:
            self._nesting.close()
        return self._convert_paragraph([line, *self._lines.take_continuation()])

    def _heading_level(self, line: str) -> int:
        if match := _HEADING.match(line):
            return len(match["marks"])
        below = self._lines.next
        is_underline = below != "" and below[0] in _UNDERLINES and below == below[0] * len(below)
        if self._open_blocks or not is_underline or abs(len(below) - len(line)) > 1 or not re.search(r"\w\w", line):
            return 0
        self._lines.take()
        return _UNDERLINES.index(below[0]) + 1

    def _convert_heading(self, level: int, line: str) -> str:
        self._nesting.close()
        if level == 1 and not self._has_title:  # the two lines after the title can only be its authors and its version
            for _ in range(2):
                line_below = self._lines.next
                if line_below and not line_below.startswith((":", "//")) and not starts_block(line_below):
                    self._lines.take()
        self._has_title = True
        match = _HEADING.match(line)
        return heading(level, self._convert_text(match["text"] if match else line))

    def _convert_macro(self, macro: re.Match[str]) -> str:
        target, label = self.attributes.substitute(macro["target"]), macro_label(macro["words"])
        if macro["name"] == "image":
            return f"![{label.partition(',')[0]}]({target.replace(' ', '%20')})"
        return link(target, target) if target else ""

    def _convert_delimited(self, line: str, style: str, language: str) -> str:
        """Convert a block between delimiter lines; of examples, quotations and asides only the text is shown."""
        if line[0] in "-.`" and (line != "--" or style.startswith(_CODE_STYLES)):
            code = self._lines.take_until("```" if line[0] == "`" else line)
            return code_block("\n".join(code), language or _style_language(style))
        if line[0] == "/":
            self._lines.take_until(line)
        elif line[0] == "+":  # raw HTML, which is not shown, unless it is a formula
            inside = self._lines.take_until(line)
            return code_block("\n".join(inside), "math") if style.startswith(_FORMULA_STYLES) else ""
        elif line[0] in "|,:!":
            return self.attributes.substitute(convert_table(self._lines.take_until(line), style, line[0]))
        elif line in self._open_blocks:
            del self._open_blocks[self._open_blocks.index(line) :]
        elif len(self._open_blocks) < _MAX_OPEN_BLOCKS:
            self._open_blocks.append(line)
        return ""

    def _convert_list(self, line: str) -> str:
        items = list[str]()
        while match := match_item(line):
            term = f"**{self._convert_text(match['term'])}**: " if match.re is TERM else ""
            prefix = self._nesting.item_prefix(match)
            lines = [match["text"] or "", *self._lines.take_continuation(is_in_list=True)]
            text = self._convert_text("\n".join(lines).strip())
            items.append(prefix + term + text.replace("\n", "\n" + " " * len(prefix)))
            line = self._lines.take_next_item()
        return "\n".join(items)

    def _convert_paragraph(self, lines: list[str]) -> str:
        if kind := _ADMONITION.match(lines[0]):
            self._label = f"**{kind['kind'].capitalize()}:** "
            lines[0] = lines[0][kind.end() :]
        label, self._label = self._label, ""
        return paragraph(label + self._convert_text("\n".join(lines)))

    def _convert_text(self, text: str) -> str:
        return re.sub(r" \+$", "  ", convert_inline(self.attributes.substitute(text)), flags=re.MULTILINE)


def _style_language(style: str) -> str:
    """Return the language of a style such as `source,java`."""
    language = style.split(",")[1:2]
    return language[0].strip() if language and re.fullmatch(r"\s*[\w+#.-]+\s*", language[0]) else ""
