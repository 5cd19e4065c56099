"""Questions to a folder of documents: listed, and found by title and content."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from dowse.lines import lines_of
from dowse.reading.outlines import section_of
from dowse.searching.documents import Asked, Found, Place, Titles, find
from dowse.searching.query import parse
from dowse.serving.asking import Answer, Coverage, Options, answer_now, coverage
from dowse.serving.project import ProjectIndex
from dowse.sources.documents import suffix_of
from dowse.types import Document, Entry

Gather = Callable[[ProjectIndex], Titles]

MOST_HITS = 60
"""Documents that are ranked by what they say, at least; titles may put a later one first."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for, and how much of it is shown."""

    text: str
    place: Place = "both"
    limit: int = 10
    extensions: frozenset[str] = frozenset()
    """In small letters with their dots; without any, all."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found in one folder, and how much of it was searched."""

    found: list[Found]
    total: int
    answer: Answer
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Listed:
    """What is listed of a document."""

    path: str
    title: str
    description: str
    tags: tuple[str, ...] = ()


def find_documents(project: ProjectIndex, wanted: Wanted, gather: Gather, pending: int = 0) -> Findings:
    """Documents by a folder's index as it is now, whose titles somebody may have gathered already."""
    options = Options(max(wanted.limit, MOST_HITS), "docs", _glob_of(wanted.extensions))
    answer = answer_now(project, wanted.text, options)
    titles = gather(project)
    among = [
        number
        for number, one in titles.documents.items()
        if not wanted.extensions or suffix_of(one.path) in wanted.extensions
    ]
    asked = Asked(parse(wanted.text), answer.corrected, wanted.place, wanted.limit, among)
    found, total = find(project.store, project.source.read_bytes, titles, asked, answer)
    return Findings(found, total, answer, coverage(project, pending))


def list_documents(project: ProjectIndex, after: str = "", most: int | None = None) -> tuple[list[Listed], bool]:
    """Documents by path, those after one, and whether the index knew them; else they are read themselves."""
    if project.exists and not project.is_being_updated() and project.store.noted("state") == "complete":
        stored = islice(project.store.documents(after=after), most)
        return [Listed(one.path, one.title, one.description, one.tags) for one in stored], True
    return list(islice(_read(project, after), most)), False


def read_now(project: ProjectIndex, path: str) -> Document | None:
    """A document of a folder, behind its policy; None where there is none."""
    entry = project.source.entry_at(path) if _is_plain(path) else None
    read = project.source.read(entry) if isinstance(entry, Entry) else None
    return read if isinstance(read, Document) else None


def text_of(document: Document, anchor: str = "") -> str | None:
    """A document's text, or that of a section; None where it has no such section."""
    text = document.reading.text
    if not anchor:
        return text
    section = section_of(text, anchor)
    return "".join(lines_of(text)[section.start_line - 1 : section.end_line]) if section else None


def _is_plain(path: str) -> bool:
    """Whether a path is spelled as listed: below the root, without dots."""
    return bool(path) and "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


def _read(project: ProjectIndex, after: str) -> Iterator[Listed]:
    for entry in project.source.entries():
        read = project.source.read(entry) if isinstance(entry, Entry) and entry.path > after else None
        if isinstance(read, Document):
            yield Listed(read.path, read.reading.title, read.reading.description, read.reading.tags)


def _glob_of(extensions: frozenset[str]) -> str | None:
    """The paths with these extensions, in any case."""
    if not extensions:
        return None
    names = ("".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in name[1:]) for name in extensions)
    return f"**/*.{{{','.join(sorted(names))}}}"
