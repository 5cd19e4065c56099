"""Names in addresses, as each generator makes them of titles and file names."""

import re
import unicodedata

_NUMBERED = re.compile(r"^\d+[-_. ]+(?=\D)")
_DATED = re.compile(r"^(\d{4}-\d{1,2}-\d{1,2})-(.+)$")


def hugo(path: str) -> str:
    """Lower case, spaces as hyphens; letters, digits and a few signs stay."""
    kept = (_hugo_character(character) for character in unicodedata.normalize("NFC", path.lower()))
    return re.sub(r"-{2,}", "-", "".join(kept)) if " " in path else "".join(kept)


def _hugo_character(character: str) -> str:
    if character.isspace():
        return "-"
    is_kept = character.isalnum() or unicodedata.category(character).startswith("M") or character in "./_-#+~@"
    return character if is_kept else ""


def github(text: str) -> str:
    """Lower case, spaces as hyphens, signs gone: what headings and content collections have."""
    return re.sub(r"[^\w\- ]", "", text.lower().strip()).replace(" ", "-")


def jekyll(text: str) -> str:
    """Runs of anything but letters and digits as one hyphen; used for categories and titles."""
    return re.sub(r"[^\w]+|_+", "-", text.lower()).strip("-")


def strip_number(name: str) -> str:
    """A name without the number that orders it: `01-intro`; one that is a date or a version keeps it."""
    if re.match(r"^\d+[-_.]\d+", name):
        return name
    return _NUMBERED.sub("", name)


def split_date(name: str) -> tuple[str, str]:
    """The date that a file's name begins with, and the rest."""
    match = _DATED.match(name)
    return (match[1], match[2]) if match else ("", name)
