"""Identities of documents: all URLs of one document have the same identity, by which citations find it; and headers that state one.

`url:example.com/a` for a page, `doi:10.1000/182`, `arxiv:2101.00001`, `pep:8`, `rfc:2616`.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from dowse.reading.dates import find_date

_WEB_URL = re.compile(r"(?:(?:https?|ftp):)?//", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443", "ftp": ":21", "": ""}
_DOI_URL = re.compile(r"(?:dx\.|www\.)?doi\.org/(10\.\d{4,9}/.+)", re.IGNORECASE)
_ARXIV_URL = re.compile(
    r"(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html|format)/([a-z-]+(?:\.[a-z]{2})?/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?",
    re.IGNORECASE,
)
_MAX_URL_CHARACTERS = 4096
"""Longer URLs, which hold data, are cut to this length."""

# Both begin with literal characters, which are fast to search for: a leading lookbehind would be tried at every character.
DOI = re.compile(r"10\.(?<![\w./]10\.)\d{4,9}/[^\s\"<>|\[\]{}^`\\]+")
ARXIV = re.compile(
    r"arxiv(?<![\w/]arxiv)\s?:\s?([a-z-]+(?:\.[a-z]{2})?/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?(?!\w)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Series:
    """A series of numbered documents, such as the PEPs; the fields are explained in `url_identities.toml`."""

    name: str
    label: str
    address: str
    addresses: re.Pattern[str]
    file: re.Pattern[str]
    number: str
    cites: tuple[str, ...]

    def key(self, number: int) -> str:
        """Return the identity of the document with this number."""
        return f"{self.name}:{number}"


@cache
def all_series() -> tuple[Series, ...]:
    """Return all known series."""
    return tuple(
        Series(
            name,
            entry["label"],
            entry["address"],
            re.compile("|".join(entry["addresses"]), re.IGNORECASE),
            re.compile(rf"(?:{entry['file']})(?:-[a-z][\w-]*)?", re.IGNORECASE),
            entry["number"],
            tuple(entry["cites"]),
        )
        for name, entry in _load_table()["series"].items()
    )


def is_web_url(text: str) -> bool:
    """Return whether this is a web URL."""
    return _WEB_URL.match(text) is not None


def url_identity(url: str) -> str:
    """Return the identity of a web URL; empty for anything else."""
    normalized = _normalize_url(url[:_MAX_URL_CHARACTERS])
    if not normalized:
        return ""
    if match := _DOI_URL.match(normalized):
        return doi_identity(unquote(match[1]))
    if match := _ARXIV_URL.match(normalized):
        return arxiv_identity(match[1])
    for series in all_series():
        if match := series.addresses.match(normalized):
            return series.key(int(next(filter(None, match.groups()))))
    return f"url:{normalized}"


def doi_identity(doi: str) -> str:
    """Return the identity of a DOI, which ignores case."""
    return f"doi:{trim_doi(doi).lower()}"


def arxiv_identity(number: str) -> str:
    """Return the identity of an arXiv paper, which ignores its version."""
    return f"arxiv:{re.sub(r'v[0-9]+$', '', number.lower())}"


def trim_doi(doi: str) -> str:
    """Return a DOI without the punctuation of the sentence around it."""
    while doi and (doi[-1] in ".,;:!?'*_~…" or (doi[-1] == ")" and doi.count(")") > doi.count("("))):
        doi = doi[:-1]
    return doi


def _normalize_url(url: str) -> str:
    """Return a web URL without scheme, trailing slash, fragment and tracking parameters, with the host in lower case."""
    if not is_web_url(url):
        return ""
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").rstrip(".")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:  # brackets without an IPv6 address, a port that is not a number
        return ""
    if not host:
        return ""
    port = "" if port == _DEFAULT_PORTS.get(parts.scheme.lower()) else port
    # One spelling of the percent encoding.
    path = quote(unquote(parts.path, errors="surrogateescape"), safe="/:@!$&'()*+,;=~-._", errors="surrogateescape")
    pairs = (pair for pair in parts.query.split("&") if pair)
    query = "&".join(one for one in pairs if not _tracking_pattern().fullmatch(one.partition("=")[0].lower()))
    return f"{host}{port}{path.rstrip('/')}{'?' + query if query else ''}"


@cache
def _tracking_pattern() -> re.Pattern[str]:
    return re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in _load_table()["tracking"]))


@cache
def _load_table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("url_identities.toml").read_text(encoding="utf-8"))


_MAX_HEADER_CHARACTERS = 8000
_BLANK_LINES = re.compile(r"\n\s*\n")
_FIELD = re.compile(r"^:?([A-Z][A-Za-z -]{1,30}):[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_NUMBERS = re.compile(r"(?<![\w.])\d{1,5}(?![\w.])")
_DATE_FIELDS = ("created", "date", "published")


@dataclass(frozen=True, slots=True)
class RfcHeader:
    """The header of a document of a series."""

    series: Series
    number: int
    title: str
    date: str | None
    cites: tuple[tuple[str, int], ...]
    """The cited documents of the series, each with the field that cites it."""

    @property
    def label(self) -> str:
        """The usual name of the document, such as `PEP 8`."""
        return self.series.label.format(number=self.number)


def parse_rfc_header(text: str, path: str) -> RfcHeader | None:
    """Return the header of a text as it is in its file; None for a document that belongs to no series."""
    text = text[:_MAX_HEADER_CHARACTERS].replace("\r\n", "\n").strip("\ufeff \n")
    header, *after = _BLANK_LINES.split(text, maxsplit=2)
    fields = {name.strip().lower(): " ".join(value.split()) for name, value in reversed(_FIELD.findall(header))}
    dates = (find_date(fields[name]) for name in _DATE_FIELDS if name in fields)
    title, date = fields.get("title", ""), next(filter(None, dates), None)
    for series in all_series():
        match = re.match(r"(\d{1,5})\b", fields.get(series.number.lower(), ""))
        if not match and not (match := series.file.fullmatch(PurePosixPath(path).name.partition(".")[0])):
            continue
        if fields and not title and series.name == "rfc":  # it stands below the header, in whose last lines is the date
            title = " ".join(after[0].split()) if after else ""
            date = date or find_date(" ".join(line.rpartition("  ")[2] for line in header.split("\n")[-3:]))
        cites = (
            (name, int(cited)) for name in series.cites for cited in _NUMBERS.findall(fields.get(name.lower(), ""))
        )
        return RfcHeader(series, int(match[1]), title, date, tuple(dict.fromkeys(cites)))
    return None
