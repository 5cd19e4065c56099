"""What two addresses of one thing have in common: the identity that citations and documents are matched by.

`url:example.com/a` for a page, `doi:10.1000/182`, `arxiv:2101.00001`, `pep:8`, `rfc:2616`.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

_WEB = re.compile(r"(?:(?:https?|ftp):)?//", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443", "ftp": ":21", "": ""}
_DOI_ADDRESS = re.compile(r"(?:dx\.|www\.)?doi\.org/(10\.\d{4,9}/.+)", re.IGNORECASE)
_ARXIV_ADDRESS = re.compile(
    r"(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html|format)/([a-z-]+(?:\.[a-z]{2})?/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?",
    re.IGNORECASE,
)
_MAX_CHARACTERS = 4096
"""Of a longer address, which is data, the beginning counts."""

# Both begin with letters that can be looked for: a lookbehind in front would be tried at every character.
DOI = re.compile(r"10\.(?<![\w./]10\.)\d{4,9}/[^\s\"<>|\[\]{}^`\\]+")
ARXIV = re.compile(
    r"arxiv(?<![\w/]arxiv)\s?:\s?([a-z-]+(?:\.[a-z]{2})?/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?(?!\w)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Series:
    """Documents that are called by their number."""

    name: str
    label: str
    address: str
    addresses: re.Pattern[str]
    file: re.Pattern[str]
    number: str
    cites: tuple[str, ...]
    mention: re.Pattern[str]

    def key(self, number: int) -> str:
        """The identity of one of them."""
        return f"{self.name}:{number}"


@cache
def all_series() -> tuple[Series, ...]:
    """The series that are known."""
    return tuple(
        Series(
            name,
            entry["label"],
            entry["address"],
            re.compile("|".join(entry["addresses"]), re.IGNORECASE),
            re.compile(rf"(?:{entry['file']})(?:-[a-z][\w-]*)?", re.IGNORECASE),
            entry["number"],
            tuple(entry["cites"]),
            re.compile(entry["mention"]),
        )
        for name, entry in _table()["series"].items()
    )


def is_web(address: str) -> bool:
    """Whether an address leads into the web."""
    return _WEB.match(address) is not None


def identity(address: str) -> str:
    """What an address of the web is the address of; empty for any other."""
    bare = _bare(address[:_MAX_CHARACTERS])
    if not bare:
        return ""
    if match := _DOI_ADDRESS.match(bare):
        return doi_identity(unquote(match[1]))
    if match := _ARXIV_ADDRESS.match(bare):
        return arxiv_identity(match[1])
    for series in all_series():
        if match := series.addresses.match(bare):
            return series.key(int(next(filter(None, match.groups()))))
    return f"url:{bare}"


def doi_identity(doi: str) -> str:
    """The identity of a DOI, in which case does not count."""
    return f"doi:{trim_doi(doi).lower()}"


def arxiv_identity(number: str) -> str:
    """The identity of a paper, whatever its version."""
    return f"arxiv:{re.sub(r'v[0-9]+$', '', number.lower())}"


def trim_doi(doi: str) -> str:
    """A DOI without the punctuation of the sentence around it."""
    while doi and (doi[-1] in ".,;:!?'*_~…" or (doi[-1] == ")" and doi.count(")") > doi.count("("))):
        doi = doi[:-1]
    return doi


def _bare(address: str) -> str:
    """An address of the web without scheme, trailing slash, fragment and tracking; the host in small letters."""
    if not is_web(address):
        return ""
    try:
        parts = urlsplit(address.strip())
        host = (parts.hostname or "").rstrip(".")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:  # brackets that are no IPv6 address, a port that is no number
        return ""
    if not host:
        return ""
    port = "" if port == _DEFAULT_PORTS.get(parts.scheme.lower()) else port
    path = _spelled(parts.path).rstrip("/")
    query = "&".join(pair for pair in parts.query.split("&") if pair and not _is_tracking(pair))
    return f"{host}{port}{path}{'?' + query if query else ''}"


def _spelled(path: str) -> str:
    """A path in one spelling of its percent signs."""
    return quote(unquote(path, errors="surrogateescape"), safe="/:@!$&'()*+,;=~-._", errors="surrogateescape")


def _is_tracking(pair: str) -> bool:
    return _tracking().fullmatch(pair.partition("=")[0].lower()) is not None


@cache
def _tracking() -> re.Pattern[str]:
    return re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in _table()["tracking"]))


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("url_identities.toml").read_text(encoding="utf-8"))


def mentions(text: str) -> Iterator[tuple[Series, int, re.Match[str]]]:
    """Where a text speaks of documents of a series by their number."""
    for series in all_series():
        if series.name.upper() in text:
            for match in series.mention.finditer(text):
                yield series, int(match[1]), match
