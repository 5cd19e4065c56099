"""Names as a file system may take them: characters that are not seen, forms that mean the same."""

import unicodedata

from dowse.platform import IS_WINDOWS
from dowse.visible_text import strip_invisible


def normalize_path(path: str) -> str:
    """The one spelling under which the deny list knows a path."""
    if not path.isascii():
        path = unicodedata.normalize("NFC", strip_invisible(path))
    return strip_windows_suffixes(path)


def strip_windows_suffixes(path: str) -> str:
    """The path that is opened: Windows finds `.env` when asked for `.env. ` or `.env::$DATA`."""
    return "/".join(name.partition(":")[0].rstrip(". ") or name for name in path.split("/")) if IS_WINDOWS else path


def printable_path(path: str) -> str:
    """A path that can be written out, even when its bytes are not UTF-8."""
    return path.encode(errors="backslashreplace").decode()
