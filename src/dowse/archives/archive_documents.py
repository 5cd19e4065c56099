"""Reading of a document of an archive from its files: title, date, source, type, question and citations."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dowse.archives.archive_locations import Archive
from dowse.archives.archive_types import ArchivedDocument, CitationInText
from dowse.archives.citations import extract_citations
from dowse.archives.dates import date_from_value, find_date_in_path
from dowse.archives.file_groups import ORIGINALS, FileGroup
from dowse.archives.query_results import parse_metadata, result_to_markdown
from dowse.archives.rfc_headers import RfcHeader, parse_rfc_header
from dowse.archives.url_identities import DOI, arxiv_identity, doi_identity, is_web_url, url_identity
from dowse.reading.file_reading import read_as_plain_text, read_document
from dowse.reading.front_matter import parse_front_matter
from dowse.reading.shorten import MAX_TITLE_CHARS, shorten
from dowse.sources.document_types import document_language, suffix_of
from dowse.types import Reading

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


@dataclass(frozen=True, slots=True)
class _ParsedFiles:
    """The parsed files of a document."""

    group: FileGroup
    reading: Reading
    front_matter: Mapping[str, Any] = field(default_factory=dict)
    start: int = 0
    """The character at which the text begins after its front front_matter."""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stated_values(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The values that the files state by key: front front_matter first, then metadata."""
        return self.front_matter, self.metadata


def read_file_group(group: FileGroup, files: Mapping[str, bytes], archive: Archive) -> ArchivedDocument:
    """Return the document of a group of files. Raise FormatNotReadable where the parser of its format is not installed."""
    parsed = _parse_files(group, files)
    header = parse_rfc_header(parsed.reading.text[parsed.start :], group.path) if group.form == "text" else None
    url = next(filter(is_web_url, _text_values(parsed.stated_values, _URL_KEYS)), "")
    citations = extract_citations(
        parsed.reading,
        start=parsed.start,
        base_url=url if group.form == "capture" else "",
        header=header,
        front_matter=parsed.front_matter,
        language=document_language(group.path),
    )
    return _make_document(parsed, archive, header, url, citations)


def read_as_plain_document(group: FileGroup, files: Mapping[str, bytes], archive: Archive) -> ArchivedDocument:
    """Return the document of a group of files without parsing them: its text as it is written, without citations."""
    return _make_document(_ParsedFiles(group, read_as_plain_text(files[group.path], group.path)), archive)


def _make_document(
    parsed: _ParsedFiles,
    archive: Archive,
    header: RfcHeader | None = None,
    url: str = "",
    citations: tuple[CitationInText, ...] = (),
) -> ArchivedDocument:
    group = parsed.group
    is_markdown = document_language(group.path) == "markdown"
    question = next(_text_values(parsed.stated_values, _QUESTION_KEYS), "")
    folder = group.path.rpartition("/")[0]
    return ArchivedDocument(
        archive=archive,
        path=group.path,
        title=_choose_title(parsed, header, question),
        text=parsed.reading.text,
        source="url-content" if group.form == "capture" or archive == "url-content" else "research",
        type=_choose_type(group, parsed.front_matter, header),
        body_start=parsed.start or (parsed.reading.text.find("\n\n") + 1 if header and not is_markdown else 0),
        date=_find_date(group, parsed.stated_values, header),
        question=question[:MAX_QUESTION_CHARACTERS],
        url=url,
        keys=tuple(dict.fromkeys(_find_identities(parsed.stated_values, url, header))),
        names=(
            *group.others,
            *([folder] if folder and group.form != "text" else []),
            *_find_names(parsed.front_matter),
        ),
        citations=citations,
    )


def _parse_files(group: FileGroup, files: Mapping[str, bytes]) -> _ParsedFiles:
    data, suffix = files[group.path], suffix_of(group.path)
    metadata = parse_metadata(files[group.entries[1].path]) if len(group.entries) > 1 else {}
    if group.form == "query":
        reading = read_document(result_to_markdown(data).encode(), f"{group.path.removesuffix('.json')}.md")
    else:
        reading = read_document(data, group.path)
    has_front_matter = group.form == "query" or suffix in _FRONT_MATTER_SUFFIXES
    front_matter, start = parse_front_matter(reading.text) if has_front_matter else ({}, 0)
    return _ParsedFiles(group, reading, front_matter, start, metadata)


def _choose_title(parsed: _ParsedFiles, header: RfcHeader | None, question: str) -> str:
    group, found = parsed.group, parsed.reading.title
    if header:
        title = header.title or (found if suffix_of(group.path) != ".txt" else "")
        is_named = title.lower().startswith(header.label.lower()) or not title
        return shorten(title or header.label if is_named else f"{header.label} – {title}", MAX_TITLE_CHARS)
    front_matter_title = next(_text_values((parsed.front_matter,), ("title",)), "")
    metadata_title = next(_text_values((parsed.metadata,), ("title",)), "")
    if group.form == "query":
        has_heading = found != "result"  # without a heading, the title is the name of the file
        return shorten(
            front_matter_title or metadata_title or question or (found if has_heading else _folder_name(group)),
            MAX_TITLE_CHARS,
        )
    if group.form == "capture":
        has_heading = found.lower() not in ORIGINALS
        return shorten(
            metadata_title or front_matter_title or (found if has_heading else _folder_name(group)), MAX_TITLE_CHARS
        )
    return found


def _folder_name(group: FileGroup) -> str:
    return group.path.split("/")[-2] if "/" in group.path else group.path


def _choose_type(group: FileGroup, front_matter: Mapping[str, Any], header: RfcHeader | None) -> str:
    """Return the type that the document states, else one that follows from its form and path."""
    if stated := next(_text_values((front_matter,), ("type",)), ""):
        return shorten(stated, 40)
    if group.form != "text":
        return "page" if group.form == "capture" else "query"
    if header:
        return header.series.name
    return "report" if find_date_in_path(group.path) else "note"


def _find_date(group: FileGroup, stated: tuple[Mapping[str, Any], ...], header: RfcHeader | None) -> str | None:
    dates = (date_from_value(values.get(name)) for values in stated for name in _DATE_KEYS)
    return next(filter(None, dates), None) or (header.date if header else None) or find_date_in_path(group.path)


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


def _text_values(stated: Iterable[Mapping[str, Any]], names: tuple[str, ...]) -> Any:
    """Yield the texts under these keys, in order."""
    for values in stated:
        for name in names:
            value = values.get(name)
            if isinstance(value, str) and value.strip():
                yield value.strip().encode("utf-8", "replace").decode()
