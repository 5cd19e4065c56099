"""Reading of an AsciiDoc document line by line or block by block."""

import re

from dowse.reading.asciidoc.lists import match_item

MACRO = re.compile(r"(?P<name>image|video|audio|include|toc)::(?P<target>[^\[\]]{0,1000})\[(?P<words>.*)\]$")
STYLE = re.compile(r"\[(?P<style>.*)\]$")
DELIMITER = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|[|,:!]={3,}|```(?P<language>[\w+-]*))$")
PREPROCESSOR = re.compile(r"(?:ifdef|ifndef|ifeval|endif)::[^\[]{0,300}\[.*\]$")


class LineReader:
    """The lines of a document, with the position of the next one."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._lines)

    @property
    def next(self) -> str:
        """The next line; empty at the end."""
        return self._lines[self._at] if self else ""

    @property
    def is_after_plus(self) -> bool:
        """Whether a lone plus sign attaches the line just taken to the list item above."""
        return self._lines[max(0, self._at - 2) : self._at - 1] == ["+"]

    def take(self) -> str:
        """Return the next line and advance."""
        line = self.next
        self._at += 1
        return line

    def take_until(self, delimiter: str) -> list[str]:
        """Take the lines up to a delimiter, or up to the end; the delimiter is skipped."""
        start = self._at
        while self and self.next != delimiter:
            self._at += 1
        self._at += 1
        return self._lines[start : self._at - 1]

    def take_continuation(self, *, is_in_list: bool = False) -> list[str]:
        """Take the lines that continue the current text, without comments."""
        start = self._at
        while (line := self.next) and line != "+" and not starts_block(line) and not (is_in_list and match_item(line)):
            self._at += 1
        return [line for line in self._lines[start : self._at] if not line.startswith("//")]

    def take_next_item(self) -> str:
        """Take the next item of a list, skipping blank lines; empty if something else comes next."""
        at = self._at
        while at < len(self._lines) and not self._lines[at]:
            at += 1
        if at == len(self._lines) or not match_item(self._lines[at]) or starts_block(self._lines[at]):
            return ""
        self._at = at
        return self.take()


def starts_block(line: str) -> bool:
    """Return whether a line ends the text above it even without a blank line."""
    return any(pattern.match(line) for pattern in (DELIMITER, STYLE, MACRO, PREPROCESSOR))
