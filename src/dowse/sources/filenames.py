"""Names as a file system may take them: characters that are not seen, forms that mean the same."""

import re
import unicodedata

from dowse.platform import IS_WINDOWS

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Zero-width, filling and direction characters: two names that differ only in them look the same."""


def visible(path: str) -> str:
    """A path without the characters that nobody sees."""
    return path if path.isascii() else _UNSEEN.sub("", path)


def normalised(path: str) -> str:
    """The one spelling under which the deny list knows a path."""
    if not path.isascii():
        path = unicodedata.normalize("NFC", visible(path))
    return as_the_system_finds_it(path)


def as_the_system_finds_it(path: str) -> str:
    """The path that is opened: Windows finds `.env` when asked for `.env. ` or `.env::$DATA`."""
    return "/".join(name.partition(":")[0].rstrip(". ") or name for name in path.split("/")) if IS_WINDOWS else path


def printable(path: str) -> str:
    """A path that can be written out, even when its bytes are not UTF-8."""
    return path.encode(errors="backslashreplace").decode()
