"""URL slugs, as each generator makes them from titles and file names."""

import re
import unicodedata

_NUMBERED = re.compile(r"^\d+[-_. ]+(?=\D)")
_DATED = re.compile(r"^(\d{4}-\d{1,2}-\d{1,2})-(.+)$")


def hugo(path: str) -> str:
    """Return a path in lower case, with hyphens for spaces; keep letters, digits and a few signs."""
    kept = (_hugo_character(character) for character in unicodedata.normalize("NFC", path.lower()))
    return re.sub(r"-{2,}", "-", "".join(kept)) if " " in path else "".join(kept)


def _hugo_character(character: str) -> str:
    if character.isspace():
        return "-"
    is_kept = character.isalnum() or unicodedata.category(character).startswith("M") or character in "./_-#+~@"
    return character if is_kept else ""


def github(text: str) -> str:
    """Return a text in lower case, with hyphens for spaces and without signs, as in headings and content collections."""
    return re.sub(r"[^\w\- ]", "", text.lower().strip()).replace(" ", "-")


def jekyll(text: str) -> str:
    """Replace each run of other characters than letters and digits by one hyphen; for categories and titles."""
    return re.sub(r"[^\w]+|_+", "-", text.lower()).strip("-")


def strip_number(name: str) -> str:
    """Remove the number that orders a name, as in `01-intro`; keep dates and versions."""
    if re.match(r"^\d+[-_.]\d+", name):
        return name
    return _NUMBERED.sub("", name)


def split_date(name: str) -> tuple[str, str]:
    """Split a file name into the date at its beginning, empty if there is none, and the rest."""
    match = _DATED.match(name)
    return (match[1], match[2]) if match else ("", name)
