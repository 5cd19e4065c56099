"""The values of this room: a document as it was read, what it cites, and what a search or a walk gives."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from dowse.archives.archive_locations import Archive

Source = Literal["research", "url-content"]


class CitationKind(StrEnum):
    """How a citation is written."""

    LINK = "link"
    """A web address: in a link, in angle brackets, or bare."""
    PATH = "path"
    """A link to another file."""
    WIKI = "wiki"
    DOI = "doi"
    ARXIV = "arxiv"
    KEY = "key"
    """`@key`, with an entry in a BibTeX file."""
    ROLE = "role"
    """`:pep:` and `:rfc:` in reStructuredText."""
    HEADER = "header"
    """A field such as `Requires` at the head of a proposal or RFC, or a list in front matter."""
    MENTION = "mention"
    """Inferred: the name of a document in running text, such as “PEP 8”."""
    QUOTE = "quote"
    """Inferred: words of a captured page."""


INFERRED = (CitationKind.MENTION, CitationKind.QUOTE)


@dataclass(frozen=True, slots=True)
class CitationInText:
    """A citation as it stands in a text; what it leads to is found out when all documents are known."""

    url: str
    """Where it leads: a web address, or the link as it is written."""
    kind: CitationKind
    key: str = ""
    """The identity of what is cited (`identities`); empty for a link to a file."""
    context: str = ""
    line: int = 0
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class ArchivedDocument:
    """A document of an archive as it was read."""

    archive: Archive
    path: str
    """Below the archive's folder."""
    title: str
    text: str
    source: Source
    type: str
    body: int = 0
    """Where the text begins after its front matter or head."""
    date: str | None = None
    question: str = ""
    url: str = ""
    keys: tuple[str, ...] = ()
    """Identities that citations may know it by."""
    names: tuple[str, ...] = ()
    """Other names: of its folder and files as paths, of its front matter as they are written there."""
    cited: tuple[CitationInText, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredArchiveDocument:
    """A document as the database knows it."""

    number: int
    id: str
    title: str
    path: str
    """With the name of the archive's folder before it."""
    source: Source
    type: str
    date: str | None
    question: str
    url: str
    archive: Archive
    below: str
    """The path below the archive's folder."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation between documents, or out of the archive: then there is no target."""

    source_id: str
    target_id: str | None
    target_url: str
    context: str
    confidence: float
    kind: str
    line: int
    fault: str = ""
    """Why a link to a file leads nowhere."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """Where a search found something, with the words in marks."""

    field: Literal["title", "question", "content"]
    snippets: tuple[str, ...]
    masked: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """What of it is masked, and what it is to be read with care for."""


@dataclass(frozen=True, slots=True)
class ArchiveHit:
    """A document that was found."""

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
    """That one document cites another, however often."""

    source: str
    target: str
    confidence: float


@dataclass(frozen=True, slots=True)
class CitationGraph:
    """Documents and what cites what among them."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    cut: str = ""
    """What was left out, where something was."""


@dataclass(slots=True)
class ArchiveReport:
    """What a run did."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    citations: int = 0
    seconds: float = 0.0
    skipped: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def changed_anything(self) -> bool:
        """Whether the database is another one than before."""
        return bool(self.added or self.updated or self.removed)
