"""Parsing of BibTeX files, without running any TeX."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dowse.archives.url_identities import ARXIV, arxiv_identity, doi_identity, is_web_url, trim_doi, url_identity

_ENTRY = re.compile(r"@\s*(?P<type>[A-Za-z]+)\s*[{(]\s*(?P<key>[^\s,{}()\"=#%~\\]+)\s*,")
_NOT_ENTRIES = {"comment", "string", "preamble"}
_FIELD = re.compile(r"\s*+(?:,\s*+)?(?P<name>[A-Za-z][\w-]*)\s*=\s*")
_MAX_FIELDS = 100


@dataclass(frozen=True, slots=True)
class BibEntry:
    """An entry of a BibTeX file."""

    key: str
    url: str
    identity: str
    title: str


def parse_bibtex(text: str) -> Iterator[BibEntry]:
    """Yield the entries of a BibTeX file. A malformed entry ends where the next begins."""
    starts = [match for match in _ENTRY.finditer(text) if match["type"].lower() not in _NOT_ENTRIES]
    for number, match in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        yield _build_entry(match["key"], _parse_fields(text, match.end(), end))


def _build_entry(key: str, fields: dict[str, str]) -> BibEntry:
    title = _strip_tex(fields.get("title", ""))
    doi = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", fields.get("doi", ""), flags=re.IGNORECASE)
    doi = trim_doi(doi.replace("\\_", "_"))
    url = fields.get("url", "").replace("\\_", "_").replace("\\%", "%").replace("\\&", "&").strip()
    if match := re.search(r"\\url\{([^{}]+)\}", fields.get("howpublished", "")):
        url = url or match[1]
    if doi.startswith("10."):
        return BibEntry(key, f"https://doi.org/{doi}", doi_identity(doi), title)
    eprint = fields.get("eprint", "")
    is_arxiv = fields.get("archiveprefix", fields.get("eprinttype", "")).lower() == "arxiv"
    if eprint and (is_arxiv or re.fullmatch(r"\d{4}\.\d{4,5}(?:v\d+)?", eprint)):
        return BibEntry(key, f"https://arxiv.org/abs/{eprint}", arxiv_identity(eprint), title)
    if is_web_url(url):
        return BibEntry(key, url, url_identity(url), title)
    if match := ARXIV.search(fields.get("journal", "")):
        return BibEntry(key, f"https://arxiv.org/abs/{match[1]}", arxiv_identity(match[1]), title)
    return BibEntry(key, "", "", title)


def _parse_fields(text: str, at: int, end: int) -> dict[str, str]:
    fields = dict[str, str]()
    while len(fields) < _MAX_FIELDS and (match := _FIELD.match(text, at, end)):
        value, at = _parse_value(text, match.end(), end)
        fields.setdefault(match["name"].lower(), " ".join(value.split()))
    return fields


def _parse_value(text: str, at: int, end: int) -> tuple[str, int]:
    """Return the value at a place, and the place after it. The parts of `a # b` are joined."""
    pieces = list[str]()
    while at < end:
        if text[at] in '{"':
            close = _find_value_end(text, at, end)
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


def _find_value_end(text: str, at: int, end: int) -> int:
    """Return the place where a value in braces or quotes ends; braces nest in both."""
    depth, is_quoted = 0, text[at] == '"'
    for place in range(at + 1, end):
        character = text[place]
        if text[place - 1] == "\\":
            continue
        if character == '"' and is_quoted and depth == 0:
            return place
        if character == "{":
            depth += 1
        elif character == "}":
            if depth == 0 and not is_quoted:
                return place
            depth -= 1
    return end


def _strip_tex(title: str) -> str:
    """Return a title without braces and commands."""
    return " ".join(re.sub(r"\\[A-Za-z]+\s?|[{}]", "", title).split())
