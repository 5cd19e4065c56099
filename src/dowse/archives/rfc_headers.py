"""What a proposal or RFC says of itself at its head: its number, its title, its date, and what it builds on."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from dowse.archives.dates import date_in
from dowse.archives.url_identities import Series, all_series

_HEAD_CHARACTERS = 8000
_FIELD = re.compile(r"^:?(?P<name>[A-Z][A-Za-z -]{1,30}):[ \t]*(?P<value>.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_COLUMNS = re.compile(r"\s{3,}")
"""What is between the two columns at the head of an RFC."""
_NUMBERS = re.compile(r"(?<![\w.])\d{1,5}(?![\w.])")
_DATES = ("Created", "Date", "Published")


@dataclass(frozen=True, slots=True)
class RfcHeaderCitation:
    """A field that cites a document of the series."""

    number: int
    field: str
    line: int


@dataclass(frozen=True, slots=True)
class RfcHeader:
    """The head of a document of a series."""

    series: Series
    number: int
    title: str = ""
    date: str | None = None
    cites: tuple[RfcHeaderCitation, ...] = ()

    @property
    def label(self) -> str:
        """What people call it."""
        return self.series.label.format(number=self.number)


def head_of(text: str, path: str) -> RfcHeader | None:
    """The head of a text as it is in its file; None for a document that is of no series."""
    text = text[:_HEAD_CHARACTERS]
    for series in all_series():
        fields = _fields(text)
        number = _number(series, fields, path)
        if number is not None:
            title, date = _title_and_date(series, fields, text)
            cites = [
                RfcHeaderCitation(int(cited), name, line)
                for name, value, line in fields
                if name.lower() in {field.lower() for field in series.cites}
                for cited in _NUMBERS.findall(value)
            ]
            return RfcHeader(series, number, title, date, tuple(dict.fromkeys(cites)))
    return None


def _fields(text: str) -> list[tuple[str, str, int]]:
    """The fields of a head with their lines; those of an RFC share their lines with the authors."""
    head = re.split(r"\n\s*\n", text.replace("\r\n", "\n").lstrip("\ufeff \n"), maxsplit=1)[0]
    before = text.replace("\r\n", "\n").find(head)
    skipped = text[: max(before, 0)].count("\n")
    found = []
    for match in _FIELD.finditer(head):
        value = match["value"]
        if not value.startswith("\n"):
            value = "\n".join(_COLUMNS.split(line)[0] if line[:1].strip() else line for line in value.split("\n"))
        found.append((match["name"].strip(), value.strip(), skipped + head.count("\n", 0, match.start()) + 1))
    return found


def _number(series: Series, fields: list[tuple[str, str, int]], path: str) -> int | None:
    stated = next((value for name, value, _ in fields if name.lower() == series.number.lower()), "")
    if stated and (match := re.match(r"\d{1,5}\b", stated)):
        return int(match[0])
    match = series.file.fullmatch(PurePosixPath(path).name.partition(".")[0])
    return int(match[1]) if match else None


def _title_and_date(series: Series, fields: list[tuple[str, str, int]], text: str) -> tuple[str, str | None]:
    stated = {name: value for name, value, _ in reversed(fields)}
    date = next(filter(None, (date_in(stated[name]) for name in _DATES if name in stated)), None)
    if "Title" in stated or not fields or series.number != "Request for Comments":
        return " ".join(stated.get("Title", "").split()), date
    head, *after = re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip(), maxsplit=2)
    title = " ".join(after[0].split()) if after else ""
    return title, date or date_in(" ".join(line.rpartition("  ")[2] for line in head.split("\n")[-3:]))
