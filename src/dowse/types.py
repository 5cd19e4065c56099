"""The shared vocabulary: what flows from sources to answers, and what can be swapped.

Data walks left to right once: an `Entry` is seen, read into a `Document`, cut into `Chunk`s,
put into a `Store`, found as `Scored` chunks. Everything here is immutable and knows nobody.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Kind = Literal["code", "docs"]
KINDS: tuple[Kind, ...] = ("code", "docs")


class Reason(StrEnum):
    """Why a file is not in the index; the value is what users read."""

    DENIED = "denied"
    EXCLUDED = "excluded"
    DOWSEIGNORED = "dowseignored"
    GITIGNORED = "gitignored"
    NESTED_REPOSITORY = "nested repository"
    SYMLINK = "symlink"
    SPECIAL = "not a regular file"
    BINARY = "binary"
    TOO_LARGE = "too large"
    TOO_DEEP = "too deep"
    NOT_INCLUDED = "not included"
    DOCS_OFF = "docs not indexed"
    BAD_NAME = "name is not UTF-8"
    UNREADABLE = "unreadable"
    VANISHED = "vanished"
    OUTSIDE = "outside the root"


@dataclass(frozen=True, slots=True)
class Rule:
    """The very rule that decided, and where it stands."""

    pattern: str
    origin: str
    """The file it was read from as a user would name it, or `built-in deny list (secrets)`."""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the policy says of one path: `reason` is None when it may be indexed."""

    path: str
    reason: Reason | None
    rule: Rule | None = None
    detail: str = ""
    """What the rule alone does not say: `1.4 MB, the limit is 1 MB`."""

    @property
    def is_allowed(self) -> bool:
        """Whether the file may be read and indexed."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Stat:
    """What tells, without reading it, that a file may have changed."""

    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that may be indexed, seen but not read. `path` is relative, with forward slashes."""

    path: str
    kind: Kind
    stat: Stat


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a document to somewhere else, with its line in the document's text."""

    target: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading makes of a file's bytes."""

    text: str
    title: str
    description: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    encoding: str = "utf-8"
    text_start: int = 0
    """Bytes before the text in the file: the length of a UTF-8 byte order mark, else 0."""
    is_verbatim: bool = True
    """The file's bytes from `text_start` on are the text in UTF-8; otherwise it was converted."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file as it was read at one moment."""

    path: str
    kind: Kind
    language: str
    """Lower-case name such as `python` or `markdown`; `text` when nothing better is known."""
    stat: Stat
    content_hash: bytes
    """SHA-256 of the file's bytes."""
    reading: Reading


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that a chunk defines."""

    name: str
    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document.

    Bytes are offsets into the UTF-8 form of the document's text, end exclusive; lines count
    from 1 and both ends are part of the chunk.
    """

    text: str
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    symbols: tuple[Symbol, ...] = ()
    headings: tuple[str, ...] = ()
    """The headings above, outermost first."""


@dataclass(frozen=True, slots=True)
class Put:
    """A document and its chunks, ready to replace what the store has under the same path."""

    document: Document
    chunks: tuple[Chunk, ...]
    is_truncated: bool = False
    """The file has more chunks than are kept."""
    recipe: str = ""
    """How the file became chunks; made by another recipe it would be made anew."""
    vectors: "Vectors | None" = None
    """A row a chunk, by the batch's encoder."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes that become visible together."""

    puts: Sequence[Put] = ()
    drops: Sequence[str] = ()
    """Paths that are gone."""
    touches: Sequence[tuple[str, Stat]] = ()
    """Paths whose stat changed and whose content did not."""
    refusals: Sequence[tuple[Stat, Verdict]] = ()
    """Files that were read and turned away for what they hold."""
    encoder: str = ""
    """Who made the vectors of the puts."""

    def __bool__(self) -> bool:
        return bool(self.puts or self.drops or self.touches or self.refusals)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as the store knows it."""

    id: int
    path: str
    kind: Kind
    language: str
    title: str
    description: str
    tags: tuple[str, ...]
    stat: Stat
    checked_ns: int
    """When the content was last known to be that of the file."""
    content_hash: bytes
    encoding: str
    text_start: int
    is_verbatim: bool
    is_truncated: bool
    chunk_count: int
    recipe: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the store knows it; its text is in the file, or in `Store.converted_text`."""

    id: int
    document_id: int
    ordinal: int
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    text_hash: bytes
    symbols: tuple[Symbol, ...]
    headings: tuple[str, ...]


Field = Literal["words", "parts", "symbols", "names", "headings", "path", "stem"]
"""Where words are looked for. Of a chunk: its text with identifiers whole or in parts, the parts
of the names it defines, those names whole however they are written, the headings above it. Of a document: its path, its
name without ending."""


@dataclass(frozen=True, slots=True)
class TextQuery:
    """Words to look for; a hit has at least one of them in one of the fields."""

    words: tuple[str, ...]
    weights: Mapping[Field, float]
    kind: Kind | None = None
    among: frozenset[int] | None = None
    """Only in these documents."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk, or a document itself, found with a score; higher is better."""

    id: int
    document_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found wrong."""

    part: str
    problem: str


@dataclass(frozen=True, slots=True)
class Totals:
    """How much a store holds of one kind."""

    documents: int = 0
    chunks: int = 0
    languages: dict[str, int] = field(default_factory=dict)
    truncated: tuple[str, ...] = ()


FolderCallback = Callable[[str], None]
"""Called with each folder that a walk enters."""

Progress = Callable[[int, int], None]
"""Called with what is done and what there is to do."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of an index's root an answer is about."""

    files: int
    expected: int
    is_indexing: bool
    is_whole: bool = False
    """Whether the last run was finished."""
    pending: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether the answer is about all files as they are now."""
        return self.is_whole and not self.pending


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """A source that a server offers, and what is wrong with it, if anything."""

    name: str
    problem: str | None = None
