"""The blocks of AsciiDoc, one after the other, as Markdown."""

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
"""What a heading of each level is underlined with, in the older spelling."""
_CODE_STYLES = ("source", "listing", "literal")
_FORMULA_STYLES = ("stem", "latexmath", "asciimath")
_MAX_STYLE_CHARS = 1000
_MAX_OPEN_BLOCKS = 20


class AsciiDocBlocks:
    """Converts block after block; `attributes` is what the document has said of itself."""

    def __init__(self, lines: list[str]) -> None:
        self.attributes = Attributes()
        self._lines = LineReader(lines)
        self._nesting = ListNesting()
        self._style = ""
        self._label = ""
        self._has_title = False
        self._around: list[str] = []
        """The lines that began the examples, quotations and asides that are open."""

    def convert(self) -> Iterator[str]:
        """One block after the other."""
        while self._lines:
            line = self._lines.take()
            block = self._block(line) if line else ""
            if block.strip():
                if self._label:  # of an admonition that does not begin with text
                    yield self._label.strip()
                    self._label = ""
                yield block

    def _block(self, line: str) -> str:
        """The block that begins with a line; nothing for a line that only says how the next is meant."""
        if self._is_unseen(line):
            return ""
        if said := STYLE.match(line):
            self._style = ",".join(filter(None, [self._style, said["style"]]))[:_MAX_STYLE_CHARS]
            return ""
        if title := _BLOCK_TITLE.match(line):
            return f"**{self._text(title['text'])}**"
        style, self._style = self._style, ""
        if kind := _ADMONITION.match(style.partition(",")[0]):
            self._label = f"**{kind['kind'].capitalize()}:** "
        if delimiter := DELIMITER.match(line):
            return self._delimited(line, style, delimiter["language"] or "")
        return self._written(line, style)

    def _is_unseen(self, line: str) -> bool:
        """A comment, a condition, a plus sign or an attribute, which is set."""
        is_comment = line.startswith("//") and not line.startswith("////")
        if is_comment or PREPROCESSOR.match(line) or line == "+":
            return True
        if not self.attributes.is_entry(line):
            return False
        values = [line]
        while values[-1].endswith(" \\") and self._lines:  # it goes on in the next line
            values.append(self._lines.take().strip())
        self.attributes.take("".join(value.removesuffix("\\") for value in values))
        return True

    def _written(self, line: str, style: str) -> str:
        """A block that no lines above and below set apart."""
        if level := self._heading_level(line):
            return self._heading(level, line)
        if macro := MACRO.match(line):
            return self._macro(macro)
        if _RULE.match(line):
            return "* * *" if line[0] != "<" else ""
        if match_item(line):
            return self._items(line)
        if line.startswith((" ", "\t")) or style.startswith((*_CODE_STYLES, ",")):
            return code_block("\n".join([line, *self._lines.going_on()]), _style_language(style))
        if not self._lines.is_after_plus:
            self._nesting.close()
        return self._paragraph([line, *self._lines.going_on()])

    def _heading_level(self, line: str) -> int:
        if match := _HEADING.match(line):
            return len(match["marks"])
        under = self._lines.next
        is_line = under != "" and under[0] in _UNDERLINES and under == under[0] * len(under)
        if self._around or not is_line or abs(len(under) - len(line)) > 1 or not re.search(r"\w\w", line):
            return 0
        self._lines.take()
        return _UNDERLINES.index(under[0]) + 1

    def _heading(self, level: int, line: str) -> str:
        self._nesting.close()
        if level == 1 and not self._has_title:  # the two lines after it can only be its authors and its version
            for _ in range(2):
                if (
                    self._lines.next
                    and not self._lines.next.startswith((":", "//"))
                    and not starts_block(self._lines.next)
                ):
                    self._lines.take()
        self._has_title = True
        match = _HEADING.match(line)
        return heading(level, self._text(match["text"] if match else line))

    def _macro(self, macro: re.Match[str]) -> str:
        target, label = self.attributes.put_in(macro["target"]), macro_label(macro["words"])
        if macro["name"] == "image":
            return f"![{label.partition(',')[0]}]({target.replace(' ', '%20')})"
        return link(target, target) if target else ""

    def _delimited(self, line: str, style: str, language: str) -> str:
        """What stands between two lines; of those around examples, quotations and asides only the text is shown."""
        if line[0] in "-.`" and (line != "--" or style.startswith(_CODE_STYLES)):
            code = self._lines.until("```" if line[0] == "`" else line)
            return code_block("\n".join(code), language or _style_language(style))
        if line[0] == "/":
            self._lines.until(line)
        elif line[0] == "+":  # HTML, which a reader does not see as text, unless it is a formula
            inside = self._lines.until(line)
            return code_block("\n".join(inside), "math") if style.startswith(_FORMULA_STYLES) else ""
        elif line[0] in "|,:!":
            return self.attributes.put_in(convert_table(self._lines.until(line), style, line[0]))
        elif line in self._around:
            del self._around[self._around.index(line) :]
        elif len(self._around) < _MAX_OPEN_BLOCKS:
            self._around.append(line)
        return ""

    def _items(self, line: str) -> str:
        found = list[str]()
        while match := match_item(line):
            term = f"**{self._text(match['term'])}**: " if match.re is TERM else ""
            start = self._nesting.start_of(match)
            words = self._text("\n".join([match["text"] or "", *self._lines.going_on(is_in_list=True)]).strip())
            found.append(start + term + words.replace("\n", "\n" + " " * len(start)))
            line = self._lines.next_item()
        return "\n".join(found)

    def _paragraph(self, lines: list[str]) -> str:
        if kind := _ADMONITION.match(lines[0]):
            self._label = f"**{kind['kind'].capitalize()}:** "
            lines[0] = lines[0][kind.end() :]
        label, self._label = self._label, ""
        return paragraph(label + self._text("\n".join(lines)))

    def _text(self, text: str) -> str:
        return re.sub(r" \+$", "  ", convert_inline(self.attributes.put_in(text)), flags=re.MULTILINE)


def _style_language(style: str) -> str:
    """The second of the things that a style lists: `source,java`."""
    named = style.split(",")[1:2]
    return named[0].strip() if named and re.fullmatch(r"\s*[\w+#.-]+\s*", named[0]) else ""
