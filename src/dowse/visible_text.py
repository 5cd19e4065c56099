"""Text made fit to show: without invisible characters, on one line, and printable."""

import re

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Zero-width, filler and direction characters; two names that differ only in these look the same."""


def strip_invisible(text: str) -> str:
    """Return a text without zero-width, filler and direction characters."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


_SPACES = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Direction marks and characters without a shape. Joiners (U+200C, U+200D) stay: they shape real words."""


_JOINERS = "\u200c\u200d"


def join_lines(text: str) -> str:
    """Return a text on one line: no line break, control character or hidden character is left."""
    line = _SPACES.sub(" ", _HIDDEN.sub("", text)).strip()
    if line.isprintable():
        return line
    return "".join(character for character in line if character.isprintable() or character in _JOINERS)


def shown_name(name: str) -> str:
    """Return the name of a file or a section as it is, unless a character of it could begin another line."""
    return name if name.isprintable() else join_lines(name)


_LINE_BREAKS = str.maketrans(
    {code: chr(0x2400 + code) for code in (0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E)}
    | dict.fromkeys((0x85, 0x2028, 0x2029), "\u2424")
)
"""The characters besides LF that end a line for some readers, as `str.splitlines` does, and signs that show them."""


def show_line_breaks(text: str) -> str:
    """Return a text whose lines end at LF alone, with a sign for every other character that could end one."""
    return text.replace("\r\n", "\n").translate(_LINE_BREAKS)


def one_line(text: str, max_characters: int, mark: str = "...") -> str:
    """Return the beginning of a text on one line, with a mark where it was cut."""
    line = join_lines(text[: 4 * max_characters])
    return line if len(line) <= max_characters else f"{line[: max_characters - len(mark)].rstrip()}{mark}"


def printable_path(path: str) -> str:
    """Return a path that can be printed, even when its bytes are not UTF-8."""
    return path.encode(errors="backslashreplace").decode()


def pluralize(count: int, noun: str, many: str = "") -> str:
    """Return a count with its noun: `1 file`, `2,345 files`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
