"""BibTeX files: their entries by key, read without carrying out any TeX."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dowse.archives.url_identities import ARXIV, arxiv_identity, doi_identity, identity, is_web, trim_doi

_ENTRY = re.compile(r"@\s*(?P<type>[A-Za-z]+)\s*[{(]\s*(?P<key>[^\s,{}()\"=#%~\\]+)\s*,")
_NO_ENTRIES = {"comment", "string", "preamble"}
_FIELD = re.compile(r"\s*,?\s*(?P<name>[A-Za-z][\w-]*)\s*=\s*")
_MAX_FIELDS = 100


@dataclass(frozen=True, slots=True)
class BibEntry:
    """What an entry leads to."""

    key: str
    url: str
    identity: str
    title: str


def bib_entries(text: str) -> Iterator[BibEntry]:
    """The entries of a BibTeX file; one that is broken ends where the next begins."""
    starts = [match for match in _ENTRY.finditer(text) if match["type"].lower() not in _NO_ENTRIES]
    for number, match in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        yield _entry(match["key"], _fields(text, match.end(), end))


def _entry(key: str, fields: dict[str, str]) -> BibEntry:
    title = _plain(fields.get("title", ""))
    doi = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", fields.get("doi", ""), flags=re.IGNORECASE)
    doi = trim_doi(doi.replace("\\_", "_"))
    address = fields.get("url", "").replace("\\_", "_").replace("\\%", "%").replace("\\&", "&").strip()
    if match := re.search(r"\\url\{([^}]+)\}", fields.get("howpublished", "")):
        address = address or match[1]
    if doi.startswith("10."):
        return BibEntry(key, f"https://doi.org/{doi}", doi_identity(doi), title)
    eprint = fields.get("eprint", "")
    is_arxiv = fields.get("archiveprefix", fields.get("eprinttype", "")).lower() == "arxiv"
    if eprint and (is_arxiv or re.fullmatch(r"\d{4}\.\d{4,5}(?:v\d+)?", eprint)):
        return BibEntry(key, f"https://arxiv.org/abs/{eprint}", arxiv_identity(eprint), title)
    if is_web(address):
        return BibEntry(key, address, identity(address), title)
    if match := ARXIV.search(fields.get("journal", "")):
        return BibEntry(key, f"https://arxiv.org/abs/{match[1]}", arxiv_identity(match[1]), title)
    return BibEntry(key, "", "", title)


def _fields(text: str, at: int, end: int) -> dict[str, str]:
    fields = dict[str, str]()
    while len(fields) < _MAX_FIELDS and (match := _FIELD.match(text, at, end)):
        value, at = _value(text, match.end(), end)
        fields.setdefault(match["name"].lower(), " ".join(value.split()))
    return fields


def _value(text: str, at: int, end: int) -> tuple[str, int]:
    """The value that begins at a place, and the place after it; `a # b` are joined."""
    pieces = list[str]()
    while at < end:
        if text[at] in '{"':
            close = _close(text, at, end)
            pieces.append(text[at + 1 : close])
            at = close + 1
        else:
            stop = next((place for place in range(at, end) if text[place] in ",}#\n"), end)
            pieces.append(text[at:stop].strip())
            at = stop
        joined = re.compile(r"\s*#\s*").match(text, at, end)
        if not joined:
            break
        at = joined.end()
    return "".join(pieces), at


def _close(text: str, at: int, end: int) -> int:
    """Where a value in braces or quotes ends; braces nest in both."""
    depth, is_quoted = 0, text[at] == '"'
    for place in range(at + 1, end):
        sign = text[place]
        if text[place - 1] == "\\":
            continue
        if sign == '"' and is_quoted and depth == 0:
            return place
        if sign == "{":
            depth += 1
        elif sign == "}":
            if depth == 0 and not is_quoted:
                return place
            depth -= 1
    return end


def _plain(title: str) -> str:
    """A title without braces and commands."""
    return " ".join(re.sub(r"\\[A-Za-z]+\s?|[{}]", "", title).split())
