"""Parsing of the headers of proposals and RFCs: number, title, date, and cited documents."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from dowse.archives.url_identities import Series, all_series
from dowse.reading.dates import find_date

_MAX_HEADER_CHARACTERS = 8000
_FIELD = re.compile(r"^:?(?P<name>[A-Z][A-Za-z -]{1,30}):[ \t]*(?P<value>.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_COLUMN_GAP = re.compile(r"\s{3,}")
"""The gap between the two columns of the header of an RFC."""
_NUMBERS = re.compile(r"(?<![\w.])\d{1,5}(?![\w.])")
_DATE_FIELDS = ("Created", "Date", "Published")


@dataclass(frozen=True, slots=True)
class RfcHeaderCitation:
    """A citation of a document of the series in a header field."""

    number: int
    field: str
    line: int


@dataclass(frozen=True, slots=True)
class RfcHeader:
    """The header of a document of a series."""

    series: Series
    number: int
    title: str = ""
    date: str | None = None
    cites: tuple[RfcHeaderCitation, ...] = ()

    @property
    def label(self) -> str:
        """The usual name of the document, such as `PEP 8`."""
        return self.series.label.format(number=self.number)


def parse_rfc_header(text: str, path: str) -> RfcHeader | None:
    """Return the header of a text as it is in its file; None for a document that belongs to no series."""
    text = text[:_MAX_HEADER_CHARACTERS]
    for series in all_series():
        fields = _parse_fields(text)
        number = _find_number(series, fields, path)
        if number is not None:
            title, date = _find_title_and_date(series, fields, text)
            cites = [
                RfcHeaderCitation(int(cited), name, line)
                for name, value, line in fields
                if name.lower() in {field.lower() for field in series.cites}
                for cited in _NUMBERS.findall(value)
            ]
            return RfcHeader(series, number, title, date, tuple(dict.fromkeys(cites)))
    return None


def _parse_fields(text: str) -> list[tuple[str, str, int]]:
    """Return the fields of a header with their lines; in an RFC, the same lines also hold the authors."""
    header = re.split(r"\n\s*\n", text.replace("\r\n", "\n").lstrip("\ufeff \n"), maxsplit=1)[0]
    before = text.replace("\r\n", "\n").find(header)
    skipped = text[: max(before, 0)].count("\n")
    found = []
    for match in _FIELD.finditer(header):
        value = match["value"]
        if not value.startswith("\n"):
            value = "\n".join(_COLUMN_GAP.split(line)[0] if line[:1].strip() else line for line in value.split("\n"))
        found.append((match["name"].strip(), value.strip(), skipped + header.count("\n", 0, match.start()) + 1))
    return found


def _find_number(series: Series, fields: list[tuple[str, str, int]], path: str) -> int | None:
    stated = next((value for name, value, _ in fields if name.lower() == series.number.lower()), "")
    if stated and (match := re.match(r"\d{1,5}\b", stated)):
        return int(match[0])
    match = series.file.fullmatch(PurePosixPath(path).name.partition(".")[0])
    return int(match[1]) if match else None


def _find_title_and_date(series: Series, fields: list[tuple[str, str, int]], text: str) -> tuple[str, str | None]:
    stated = {name: value for name, value, _ in reversed(fields)}
    date = next(filter(None, (find_date(stated[name]) for name in _DATE_FIELDS if name in stated)), None)
    if "Title" in stated or not fields or series.number != "Request for Comments":
        return " ".join(stated.get("Title", "").split()), date
    header, *after = re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip(), maxsplit=2)
    title = " ".join(after[0].split()) if after else ""
    return title, date or find_date(" ".join(line.rpartition("  ")[2] for line in header.split("\n")[-3:]))
