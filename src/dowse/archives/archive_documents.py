"""A document of an archive as its files tell it: title, date, source, type, question, and what it cites."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dowse.archives.archive_locations import Archive
from dowse.archives.archive_types import ArchivedDocument
from dowse.archives.citations import citations_of
from dowse.archives.dates import date_of, date_of_path
from dowse.archives.file_groups import ORIGINALS, FileGroup
from dowse.archives.query_results import metadata_of, result_text
from dowse.archives.rfc_headers import RfcHeader, head_of
from dowse.archives.url_identities import DOI, arxiv_identity, doi_identity, identity, is_web
from dowse.reading import read_document
from dowse.reading.decoding import decode
from dowse.reading.front_matter import all_front_matter
from dowse.reading.shorten import TITLE_CHARS, shorten
from dowse.sources.document_files import suffix_of
from dowse.types import Reading

_DATES = (
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
_QUESTIONS = ("question", "query", "research_question", "researchQuestion", "prompt", "topic")
_URLS = ("url", "source_url", "sourceUrl", "canonical", "canonicalUrl", "link", "source")
_NAMES = ("aliases", "alias", "slug", "permalink", "redirect_from")
_WITH_MATTER = (".md", ".markdown", ".mdx")
QUESTION_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class _Told:
    """What the files of a unit say before it is put together."""

    unit: FileGroup
    reading: Reading
    source: str = ""
    """A reStructuredText or plain text as it is in its file."""
    matter: Mapping[str, Any] = field(default_factory=dict)
    start: int = 0
    """Where the text begins after its front matter."""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stated(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """What is said in so many words: front matter before metadata."""
        return self.matter, self.metadata


def read_unit(unit: FileGroup, files: Mapping[str, bytes], archive: Archive) -> ArchivedDocument:
    """The document that a unit's files make. Raises NotReadable for a format whose parser is not installed."""
    told = _told(unit, files)
    head = head_of(told.source or told.reading.text[told.start :], unit.path) if unit.form == "text" else None
    url = next(filter(is_web, _texts(told.stated, _URLS)), "")
    is_capture = unit.form == "capture"
    question = next(_texts(told.stated, _QUESTIONS), "")
    folder = unit.path.rpartition("/")[0]
    return ArchivedDocument(
        archive=archive,
        path=unit.path,
        title=_title(told, head, question),
        text=told.reading.text,
        source="url-content" if is_capture or archive == "url-content" else "research",
        type=_type(unit, told.matter, head),
        body=told.start or (told.reading.text.find("\n\n") + 1 if head and told.source else 0),
        date=_date(unit, told.stated, head),
        question=question[:QUESTION_CHARACTERS],
        url=url,
        keys=tuple(dict.fromkeys(_keys(told.stated, url, head))),
        names=(*unit.others, *([folder] if folder and unit.form != "text" else []), *_names(told.matter)),
        cited=citations_of(
            told.reading,
            start=told.start,
            source=told.source if suffix_of(unit.path) == ".rst" else "",
            base_url=url if is_capture else "",
            head=head,
            matter=told.matter,
            is_markdown=suffix_of(unit.path) != ".txt",
        ),
    )


def _told(unit: FileGroup, files: Mapping[str, bytes]) -> _Told:
    data, suffix = files[unit.path], suffix_of(unit.path)
    metadata = metadata_of(files[unit.entries[1].path]) if len(unit.entries) > 1 else {}
    if unit.form == "query":
        reading, source = read_document(result_text(data).encode(), f"{unit.path.removesuffix('.json')}.md"), ""
    else:
        reading, source = read_document(data, unit.path), decode(data).text if suffix in (".rst", ".txt") else ""
    has_matter = unit.form == "query" or suffix in _WITH_MATTER
    matter, start = all_front_matter(reading.text) if has_matter else ({}, 0)
    return _Told(unit, reading, source, matter, start, metadata)


def _title(told: _Told, head: RfcHeader | None, question: str) -> str:
    unit, found = told.unit, told.reading.title
    if head:
        title = head.title or (found if suffix_of(unit.path) != ".txt" else "")
        is_named = title.lower().startswith(head.label.lower()) or not title
        return shorten(title or head.label if is_named else f"{head.label} – {title}", TITLE_CHARS)
    own = next(_texts((told.matter,), ("title",)), "")
    noted = next(_texts((told.metadata,), ("title",)), "")
    if unit.form == "query":
        has_heading = found != "result"  # without one, a document is called by its file
        return shorten(own or noted or question or (found if has_heading else _folder_name(unit)), TITLE_CHARS)
    if unit.form == "capture":
        has_heading = found.lower() not in ORIGINALS
        return shorten(noted or own or (found if has_heading else _folder_name(unit)), TITLE_CHARS)
    return found


def _folder_name(unit: FileGroup) -> str:
    return unit.path.split("/")[-2] if "/" in unit.path else unit.path


def _type(unit: FileGroup, matter: Mapping[str, Any], head: RfcHeader | None) -> str:
    """What sort of document it is: as it says itself, else by its form and place."""
    if stated := next(_texts((matter,), ("type",)), ""):
        return shorten(stated, 40)
    if unit.form != "text":
        return "page" if unit.form == "capture" else "query"
    if head:
        return head.series.name
    return "report" if date_of_path(unit.path) else "note"


def _date(unit: FileGroup, stated: tuple[Mapping[str, Any], ...], head: RfcHeader | None) -> str | None:
    dates = (date_of(one.get(name)) for one in stated for name in _DATES)
    return next(filter(None, dates), None) or (head.date if head else None) or date_of_path(unit.path)


def _keys(stated: Iterable[Mapping[str, Any]], url: str, head: RfcHeader | None) -> Iterable[str]:
    if key := identity(url):
        yield key
    for text in _texts(stated, ("doi", "DOI")):
        if match := DOI.search(text):
            yield doi_identity(match[0])
    for text in _texts(stated, ("arxiv", "arxivId", "eprint")):
        if match := re.search(r"[a-z-]+/\d{7}|\d{4}\.\d{4,5}", text):
            yield arxiv_identity(match[0])
    if head:
        yield head.series.key(head.number)


def _names(matter: Mapping[str, Any]) -> Iterable[str]:
    for name in _NAMES:
        value = matter.get(name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one.strip():
                yield one.strip()[:300]


def _texts(stated: Iterable[Mapping[str, Any]], names: tuple[str, ...]) -> Any:
    """What is stated under the first of some names, as text."""
    for one in stated:
        for name in names:
            value = one.get(name)
            if isinstance(value, str) and value.strip():
                yield value.strip().encode("utf-8", "replace").decode()
