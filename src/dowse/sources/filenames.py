"""Normalization of file names: invisible characters, and forms that mean the same name."""

import unicodedata

from dowse.system.platform import IS_WINDOWS
from dowse.visible_text import strip_invisible


def normalize_path(path: str) -> str:
    """Return the form of a path that the deny list matches."""
    if not path.isascii():
        path = unicodedata.normalize("NFC", strip_invisible(path))
    return strip_windows_suffixes(path)


def strip_windows_suffixes(path: str) -> str:
    """Remove the endings that Windows ignores when it opens a file: it finds `.env` under `.env. ` and `.env::$DATA`."""
    return "/".join(name.partition(":")[0].rstrip(". ") or name for name in path.split("/")) if IS_WINDOWS else path


def printable_path(path: str) -> str:
    """Return a path that can be printed, even when its bytes are not UTF-8."""
    return path.encode(errors="backslashreplace").decode()
