"""Reading of a document of an archive from its files: title, date, type, question and citations.

The parser processes do this. The text and the title become those of the document, the rest its details.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from dowse.archives.archive_files import ORIGINALS, RESULT_FILE, split_note
from dowse.archives.archive_types import CitationInText, DocumentDetails
from dowse.archives.citations import extract_citations
from dowse.archives.url_identities import (
    DOI,
    RfcHeader,
    arxiv_identity,
    doi_identity,
    is_web_url,
    parse_rfc_header,
    url_identity,
)
from dowse.parsing import parser_jobs
from dowse.parsing.parser_jobs import Fields, prepare
from dowse.reading.dates import date_from_value, find_date_in_path
from dowse.reading.file_reading import document_language, read_document, suffix_of
from dowse.reading.front_matter import parse_front_matter
from dowse.reading.shorten import MAX_TITLE_CHARS, shorten
from dowse.types import Reading

_MAX_DEPTH = 20
_PROSE_KEYS = ("title", "result", "answer", "report", "response", "output", "content", "text", "markdown", "message")
_INNER_KEYS = ("summary", "description", "snippet", "abstract", "excerpt", "choices", "results", "findings")
_LIST_KEYS = ("sections", "items", "citations", "sources", "references", "links", "data")
"""Keys of text for people, and of lists and objects that have such text, in the order in which it is shown."""
_LINK_KEYS = ("url", "link", "href")


def parse_json(data: bytes) -> Any:
    """Return the value of a JSON file; None where it is not JSON."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def parse_metadata(text: str) -> dict[str, Any]:
    """Return the keys of a metadata file, including those of an inner object called `metadata`."""
    value = parse_json(text.encode("utf-8", "replace"))
    if not isinstance(value, dict):
        return {}
    inner = value.get("metadata")
    return {**inner, **value} if isinstance(inner, dict) else value


def result_to_markdown(data: bytes) -> str:
    """Return a result as Markdown: its prose, and its sources as links. A file that is not JSON is returned as it is."""
    value = parse_json(data)
    if value is None:
        return data.decode("utf-8", "replace")
    return "\n\n".join(_markdown_pieces(value, _MAX_DEPTH)).encode("utf-8", "replace").decode() + "\n"


def _markdown_pieces(value: Any, depth: int) -> list[str]:
    if not depth:
        return []
    if isinstance(value, str):
        return [f"<{value.strip()}>" if _is_url(value) else value.strip()] if value.strip() else []
    if isinstance(value, list):
        return [piece for item in value for piece in _markdown_pieces(item, depth - 1)]
    if not isinstance(value, dict):
        return []
    found = list[str]()
    url = next((value[key] for key in _LINK_KEYS if _is_url(value.get(key))), "")
    if url:
        title = next((value[key] for key in ("title", "name") if isinstance(value.get(key), str)), "") or url
        label = " ".join(title.replace("[", "(").replace("]", ")").split())
        found.append(f"- [{label}](<{url.strip()}>)")
    for key in (*_PROSE_KEYS, *_INNER_KEYS, *_LIST_KEYS):
        if not (url and key == "title"):
            found += _markdown_pieces(value.get(key), depth - 1)
    return found


def _is_url(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    url = value.strip()
    return url.startswith(("http://", "https://")) and not any(
        character.isspace() or character in "<>" for character in url
    )


_DATE_KEYS = (
    "date",
    "capturedAt",
    "captured_at",
    "timestamp",
    "created",
    "createdAt",
    "created_at",
    "published",
    "updated",
)
_QUESTION_KEYS = ("question", "query", "research_question", "researchQuestion", "prompt", "topic")
_URL_KEYS = ("url", "source_url", "sourceUrl", "canonical", "canonicalUrl", "link", "source")
_NAME_KEYS = ("aliases", "alias", "slug", "permalink", "redirect_from")
_FRONT_MATTER_SUFFIXES = (".md", ".markdown", ".mdx")
MAX_QUESTION_CHARACTERS = 2000


Stated = Sequence[Mapping[str, Any]]
"""The values that the files of a document state by key: front matter first, then metadata."""


def read_archived(path: str, data: bytes) -> Reading:
    """Return the document of some files with its details. Raise FormatNotReadable where the parser of its format is not installed."""
    data, note = split_note(data)
    kind = "query" if _is_result(path) else "text" if note is None else "page"
    if kind == "query":
        reading = read_document(result_to_markdown(data).encode(), f"{path.removesuffix('.json')}.md")
    else:
        reading = read_document(data, path)
    has_front_matter = kind == "query" or suffix_of(path) in _FRONT_MATTER_SUFFIXES
    front_matter, start = parse_front_matter(reading.text) if has_front_matter else ({}, 0)
    stated = (front_matter, parse_metadata(note or ""))
    header = parse_rfc_header(reading.text[start:], path) if kind == "text" else None
    url = next(filter(is_web_url, _text_values(stated, _URL_KEYS)), "")
    question = next(_text_values(stated, _QUESTION_KEYS), "")
    citations = extract_citations(
        reading, path, start=start, base_url=url if kind == "page" else "", header=header, front_matter=front_matter
    )
    dates = (date_from_value(values.get(name)) for values in stated for name in _DATE_KEYS)
    is_markdown, folder = document_language(path) == "markdown", path.rpartition("/")[0] if kind != "text" else ""
    details = DocumentDetails(
        _choose_type(path, kind, front_matter, header),
        is_capture=kind == "page",
        body_start=start or (reading.text.find("\n\n") + 1 if header and not is_markdown else 0),
        date=next(filter(None, dates), None) or (header.date if header else None) or find_date_in_path(path),
        question=question[:MAX_QUESTION_CHARACTERS],
        url=url,
        keys=tuple(dict.fromkeys(_find_identities(stated, url, header))),
        names=(*filter(None, [folder]), *_find_names(front_matter)),
        citations=citations,
    )
    title = (
        _rfc_title(header, reading.title, path)
        if header
        else _choose_title(path, kind, reading.title, stated, question)
    )
    # The index keeps every text, so that an archive can be searched while its disk is not plugged in.
    return replace(reading, title=title, links=(), is_verbatim=False, details=json.dumps(asdict(details)))


def details_from_json(value: str, path: str) -> DocumentDetails:
    """Return the details of a document; of one that was read as plain text, those that its path says."""
    if not value:
        kind = "query" if _is_result(path) else "text"
        return DocumentDetails(_choose_type(path, kind, {}, None), date=find_date_in_path(path))
    fields: dict[str, Any] = json.loads(value)
    citations = tuple(CitationInText(**one) for one in fields.pop("citations"))
    keys, names = tuple(fields.pop("keys")), tuple(fields.pop("names"))
    return DocumentDetails(**fields, keys=keys, names=names, citations=citations)


def _is_result(path: str) -> bool:
    return path.rpartition("/")[2] == RESULT_FILE


def _rfc_title(header: RfcHeader, found: str, path: str) -> str:
    title = header.title or (found if suffix_of(path) != ".txt" else "")
    is_named = title.lower().startswith(header.label.lower()) or not title
    return shorten(title or header.label if is_named else f"{header.label} – {title}", MAX_TITLE_CHARS)


def _choose_title(path: str, kind: str, found: str, stated: Stated, question: str) -> str:
    if kind == "text":
        return found
    # Without a heading, the title is the name of the file.
    has_heading = found.lower() not in ORIGINALS if kind == "page" else found != "result"
    heading = found if has_heading else path.split("/")[-2] if "/" in path else path
    if kind == "page":
        return shorten(next(_text_values(reversed(stated), ("title",)), heading), MAX_TITLE_CHARS)
    return shorten(next(_text_values(stated, ("title",)), question or heading), MAX_TITLE_CHARS)


def _choose_type(path: str, kind: str, front_matter: Mapping[str, Any], header: RfcHeader | None) -> str:
    """Return the type that the document states, else one that follows from its form and path."""
    if stated := next(_text_values([front_matter], ("type",)), ""):
        return shorten(stated, 40)
    if kind != "text":
        return kind
    if header:
        return header.series.name
    return "report" if find_date_in_path(path) else "note"


def _find_identities(stated: Iterable[Mapping[str, Any]], url: str, header: RfcHeader | None) -> Iterable[str]:
    if key := url_identity(url):
        yield key
    for text in _text_values(stated, ("doi", "DOI")):
        if match := DOI.search(text):
            yield doi_identity(match[0])
    for text in _text_values(stated, ("arxiv", "arxivId", "eprint")):
        if match := re.search(r"(?<![a-z-])[a-z-]+/\d{7}|\d{4}\.\d{4,5}", text):
            yield arxiv_identity(match[0])
    if header:
        yield header.series.key(header.number)


def _find_names(front_matter: Mapping[str, Any]) -> Iterable[str]:
    for name in _NAME_KEYS:
        value = front_matter.get(name)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and item.strip():
                yield item.strip()[:300]


def _text_values(stated: Iterable[Mapping[str, Any]], names: Iterable[str]) -> Iterator[str]:
    """Yield the texts under these keys, in order."""
    for values in stated:
        for name in names:
            value = values.get(name)
            if isinstance(value, str) and value.strip():
                yield value.strip().encode("utf-8", "replace").decode()


__all__ = ["prepare", "run_job"]


def run_job(fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Read and cut the files of a document."""
    return parser_jobs.parse_document(fields, data, lambda fields, data: read_archived(fields["path"], data))
