"""The data types that the packages share.

Data flows in one direction: a walk finds an `Entry`, which is read into a `Document`, cut into `Chunk`s, put into a
store and found as `Scored` chunks. All types are immutable, and this module imports no other module of dowse.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag, StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Kind = Literal["code", "docs"]
KINDS: tuple[Kind, ...] = ("code", "docs")


class View(IntFlag):
    """The ways in which one index shows the files of its root.

    A project shows every file as it is. Documents show what a reader would see: Markdown and plain text as they are,
    pages, notebooks, PDF and Word files converted.
    """

    PROJECT = 1
    DOCUMENTS = 2
    BOTH = 3


class Reason(StrEnum):
    """The reason why a file is not in the index; the value is the text that users read."""

    DENIED = "denied"
    EXCLUDED = "excluded"
    DOWSEIGNORED = "dowseignored"
    GITIGNORED = "gitignored"
    HIDDEN = "hidden"
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
    VANISHED = "no such file"
    OUTSIDE = "outside the root"


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule that decided about a path, and its location."""

    pattern: str
    origin: str
    """The file that contains the rule, as a user would name it, or `built-in deny list (secrets)`."""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of the policy about one path. `reason` is None when the path may be indexed."""

    path: str
    reason: Reason | None
    rule: Rule | None = None
    detail: str = ""
    """An explanation that the rule alone does not give: `1.4 MB, the limit is 1 MB`."""

    @property
    def is_allowed(self) -> bool:
        """Whether the file may be read and indexed."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Stat:
    """The metadata that shows, without reading a file, whether it may have changed."""

    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int
    seen_ns: int = field(default=0, compare=False)
    """The time at which the file was like this; 0 when it is unknown."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that may be indexed and was not read yet. `path` is relative, with forward slashes."""

    path: str
    kind: Kind
    stat: Stat
    views: View = View.PROJECT
    """The views that show the file."""
    is_shared: bool = False
    """True when both views show the same representation of the file."""

    @property
    def representations(self) -> tuple[tuple[View, Kind], ...]:
        """The representations of the file that are stored: the views and the kind of each."""
        if self.is_shared or self.views is not View.BOTH:
            return ((self.views, self.kind),)
        return ((View.PROJECT, self.kind), (View.DOCUMENTS, "docs"))


@dataclass(frozen=True, slots=True)
class Link:
    """A link in a document, with its line in the document's text."""

    target: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The text and the metadata that a reader extracts from a file's bytes."""

    text: str
    title: str
    description: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    encoding: str = "utf-8"
    text_start: int = 0
    """The number of bytes before the text in the file: the length of a UTF-8 byte order mark, else 0."""
    is_verbatim: bool = True
    """True when the file's bytes from `text_start` on are the text in UTF-8; false when it was converted."""
    details: str = ""  # as JSON, what only the source of the document knows about


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file at the time it was read, for one representation. No parser has seen them yet."""

    path: str
    kind: Kind
    language: str
    stat: Stat
    content_hash: bytes
    """SHA-256 of the bytes."""
    data: bytes
    views: View = View.PROJECT
    """The views that show this representation."""

    @property
    def is_converted(self) -> bool:
        """True when the file is read as a document, which may become Markdown; false when its own text is kept."""
        return self.views is View.DOCUMENTS


@dataclass(frozen=True, slots=True)
class Document:
    """A file and its content at the time it was read."""

    path: str
    kind: Kind
    language: str
    """A lower-case name such as `python` or `markdown`; `text` when the language is unknown."""
    stat: Stat
    content_hash: bytes
    """SHA-256 of the file's bytes."""
    reading: Reading
    views: View = View.PROJECT


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that a chunk defines."""

    name: str
    kind: str
    line: int
    end_line: int = field(default=0, compare=False)
    """The last line of the definition; 0 if it is not known."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document that is indexed.

    Bytes are offsets into the document's text in UTF-8; the end is exclusive. Lines count from 1
    and both ends are part of the chunk.
    """

    text: str
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    symbols: tuple[Symbol, ...] = ()
    headings: tuple[str, ...] = ()
    """The headings above the chunk, outermost first."""


@dataclass(frozen=True, slots=True)
class Put:
    """A document and its chunks, ready to replace the document that the store has at the same path."""

    document: Document
    chunks: tuple[Chunk, ...]
    is_truncated: bool = False
    """True when the file has more chunks than the index keeps."""
    recipe: str = ""
    """The versions of the code that made the chunks. A document with another recipe is indexed again."""
    vectors: Sequence[bytes] | None = None
    """The packed vector of each chunk, made by the batch's encoder."""
    problem: str = ""
    """Why the file was read as plain text; empty if it was not."""
    is_repair: bool = False
    """True when it replaces a document with the same content, whose chunks are damaged."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes that become visible together. The puts of a path are all its representations."""

    puts: Sequence[Put] = ()
    drops: Sequence[str] = ()
    """Paths to remove."""
    touches: Sequence[tuple[str, Stat]] = ()
    """Paths whose stat changed while their content stayed the same."""
    refusals: Sequence[tuple[Stat, Verdict]] = ()
    """Files that were read and refused because of their content."""
    encoder: str = ""
    """The version of the encoder that made the vectors of the puts."""

    def __bool__(self) -> bool:
        return bool(self.puts or self.drops or self.touches or self.refusals)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as the store holds it."""

    id: int
    path: str
    kind: Kind
    language: str
    title: str
    description: str
    tags: tuple[str, ...]
    stat: Stat
    checked_ns: int
    """The time at which the content was last known to match the file."""
    content_hash: bytes
    encoding: str
    text_start: int
    is_verbatim: bool
    is_truncated: bool
    chunk_count: int
    recipe: str
    problem: str = ""
    views: View = View.PROJECT


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the store holds it. Its text is in the file, or in `Store.converted_text`."""

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


Field = Literal["words", "parts", "symbols", "names", "headings", "path", "stem", "title"]
"""The fields that a text query searches.

Fields of a chunk: its text with whole identifiers (`words`) and with identifiers split into parts (`parts`), the parts
of the names it defines (`symbols`), those names whole in any spelling (`names`), and the headings above it. Fields of a
document: its path, and its file name without the extension (`stem`)."""


class OtherChunks(NamedTuple):
    """Chunks that are searched beside an index, and in how many of them a field has a term: both count in how rare it is."""

    chunks: int
    frequency: Callable[[Field, str], int]


@dataclass(frozen=True, slots=True)
class TextQuery:
    """Words to search for; a hit has at least one of them in one of the fields."""

    words: tuple[str, ...]
    weights: Mapping[Field, float]
    kind: Kind | None = None
    among: frozenset[int] | None = None
    """Search these documents only."""
    repeated: tuple[str, ...] = ()
    """Words that count again in one piece, as often as they occur here."""
    others: OtherChunks | None = None
    requires_all: bool = False
    """Whether hits without all words are of no use, so that a store may leave them out."""


@dataclass(frozen=True, slots=True)
class DocumentMatch:
    """Documents to select: those with every one of `required`, else with one of the `words`, and none of `excluded`."""

    words: tuple[str, ...]
    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    in_titles: bool = True
    in_texts: bool = True
    among: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class MatchedDocuments:
    """The number of all documents that match, and the ids of the first: those with words in their title, best first."""

    total: int
    ids: tuple[int, ...] = ()
    titled: int = 0
    """How many of the ids have words of the query in their title."""


class Scored(NamedTuple):
    """A chunk or document that matches, with its score; higher is better. A search makes a thousand of them."""

    id: int
    document_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem that a check found."""

    part: str
    problem: str


@dataclass(frozen=True, slots=True)
class Totals:
    """The counts of a store for one kind of document."""

    documents: int = 0
    chunks: int = 0
    languages: dict[str, int] = field(default_factory=dict)
    truncated: tuple[str, ...] = ()
    unparsed: dict[str, str] = field(default_factory=dict)
    """The files that were read as plain text because their parser could not cope with them, each with the problem."""


FolderCallback = Callable[[str], None]
"""A function that a walk calls with the path of each folder, before it lists the folder."""

ReadText = Callable[["StoredDocument"], "str | None"]
"""Reads a document's text again; None when the file no longer has the stored content."""

Progress = Callable[[int, int], None]
"""A function that is called with the number of finished steps and the number of all steps."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of an index's root an answer is about."""

    files: int
    expected: int
    is_indexing: bool
    is_whole: bool = False
    """Whether the last run was finished."""
    pending: int = 0
    problem: str = ""
    """Why changed files are left out, if it is because nothing can be written."""
    direct: int = 0
    """The number of files that were searched directly, by words alone, because they are not indexed yet."""
    seconds_left: int | None = None
    """About how long indexing takes from now on; None if nothing can be said."""

    @property
    def is_complete(self) -> bool:
        """Whether the answer is about all files as they are now."""
        return self.is_whole and not self.pending and not self.problem


class SourceHealth(NamedTuple):
    """A source that a server offers, and its problem, if it has one."""

    name: str
    problem: str | None = None
