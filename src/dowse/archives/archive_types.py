"""The types of the archives: documents, citations, hits, graphs and the report of a run."""

from dataclasses import dataclass, field
from typing import Literal

from dowse.archives.archive_locations import Archive

CitationKind = Literal["link", "path", "wiki", "doi", "arxiv", "role", "header"]
"""The form in which a citation is written: a web URL, a link to another file, a wiki link, a DOI or arXiv id, a role of
reStructuredText such as `:pep:`, a field at the head of a proposal or RFC or a list in front matter."""


@dataclass(frozen=True, slots=True)
class CitationInText:
    """A citation as a text has it. Its target is resolved once all documents are known."""

    url: str
    """A web URL, or the link as it is written."""
    kind: CitationKind
    key: str = ""
    """The identity of the cited document (see `url_identities`); empty for a link to a file."""
    context: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """The properties that only documents of an archive have, as read from their files."""

    type: str
    is_capture: bool = False
    body_start: int = 0
    """The character at which the text begins after its front matter or header."""
    date: str | None = None
    question: str = ""
    url: str = ""
    keys: tuple[str, ...] = ()
    """Identities that citations may refer to it by."""
    names: tuple[str, ...] = ()
    """Other names: its folder, and the aliases in its front matter."""
    citations: tuple[CitationInText, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredArchiveDocument:
    """A document of an archive, without its text."""

    number: int
    """Its number in the database; 0 while the database lacks it."""
    id: str
    title: str
    path: str
    """The path, beginning with the name of the archive's folder."""
    source: Archive
    type: str
    date: str | None
    question: str
    url: str
    archive: Archive
    archive_path: str
    """The path below the folder of the archive."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation of a document or, without a target, of something outside the archives."""

    source_id: str
    target_id: str | None
    target_url: str
    context: str
    confidence: float
    kind: str
    line: int
    fault: str = ""
    """The reason why a link to a file is broken."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A field in which a search found something, as snippets with the words in `<mark>` elements."""

    field: Literal["title", "question", "content"]
    snippets: list[str]
    masked: list[str]
    """The kinds of secrets that are masked."""
    flags: list[str]
    """The content warnings."""


@dataclass(frozen=True, slots=True)
class ArchiveHit:
    """A document that matches a query."""

    document: StoredArchiveDocument
    score: float
    highlights: tuple[Highlight, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A document in a graph."""

    document: StoredArchiveDocument
    type: Literal["source", "target", "both"]
    distance: int


@dataclass(frozen=True, slots=True)
class Edge:
    """One or more citations of one document by another."""

    source: str
    target: str
    confidence: float


@dataclass(frozen=True, slots=True)
class CitationGraph:
    """Documents and the citations between them."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    truncation: str = ""
    """A sentence about what is left out; empty for a complete graph."""


@dataclass(slots=True)
class ArchiveReport:
    """The counts and warnings of a run."""

    citations: int = 0
    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
