"""The shared vocabulary: what flows from sources to answers, and what can be swapped.

Data walks left to right once: an `Entry` is seen, read into a `Document`, cut into `Chunk`s,
put into a `Store`, found as `Scored` chunks. Everything here is immutable and knows nobody.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

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


class FileSource(Protocol):
    """Where documents come from, behind the policy."""

    def entries(self, below: str = "", entered: "Entered | None" = None) -> Iterator[Entry | Verdict]:
        """Everything below the root, or a folder of it: what may be indexed as entries, the rest as verdicts.

        Each folder that is entered is told, the root as an empty path, others with a slash at the end.
        """
        ...

    def entry(self, path: str) -> Entry | Verdict:
        """One file as the walk would see it now."""
        ...

    def entry_at(self, path: str) -> Entry | Verdict:
        """The same for a path that is spelled as the walk spells it, and no other; a folder has no reason."""
        ...

    def read(self, entry: Entry) -> Document | Verdict:
        """Read one file now, or say why not."""
        ...

    def read_path(self, path: str) -> Document | Verdict:
        """Read one file now by its path, if the whole policy allows it."""
        ...

    def verdict(self, path: str) -> Verdict:
        """What the policy says of one path, whether or not it exists."""
        ...


class Encoder(Protocol):
    """Turns text into vectors of one width."""

    @property
    def version(self) -> str:
        """Changes whenever the same text would get another vector."""
        ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str], kind: Kind = "docs") -> "Vectors":
        """One row a text of one kind, each of length 1 (or 0 for a text without words)."""
        ...


class ReadText(Protocol):
    """Reads a document's text anew; None when the file no longer has the stored content."""

    def __call__(self, document: StoredDocument) -> str | None: ...


class Store(Protocol):
    """What is kept of one index. `Batch`es are atomic; readers see whole batches only."""

    def apply(self, batch: Batch) -> int:
        """Make a batch durable and searchable; returns the number the store has reached."""
        ...

    def document(self, path: str) -> StoredDocument | None: ...

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        """All documents, or those below a folder (`src/`) or after a path, by path."""
        ...

    def twin(self, document: Document, recipe: str) -> StoredDocument | None:
        """A document that became chunks from the very same content in the very same way."""
        ...

    def refusals(self) -> dict[str, tuple[Stat, Verdict]]:
        """Files that were turned away for what they hold, and the stat they had then."""
        ...

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]: ...

    def chunks(self, document_id: int) -> list[StoredChunk]:
        """A document's chunks, in order."""
        ...

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        """Chunks that still exist; an id that was dropped is absent, and never comes back."""
        ...

    def links(self, document_id: int) -> list[Link]: ...

    def targets(self) -> Iterator[tuple[int, int, str]]:
        """Where all links lead, in order: a document's id, a link's place in it, its target."""
        ...

    def converted_text(self, document_id: int) -> str | None:
        """The text of a document that is not its file's bytes; None for a verbatim one."""
        ...

    def refresh(self) -> None:
        """See the state of this moment; until the next call, all answers about words are about it."""
        ...

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Chunks by the fields of chunks, best first, equals by id."""
        ...

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Documents by the fields of documents, best first, equals by id."""
        ...

    def holders(self, word: str) -> frozenset[int]:
        """Documents that hold a word: whole, or all its parts in one chunk."""
        ...

    def extent(self) -> int:
        """How many chunks and paths words are looked for in, to weigh frequencies against."""
        ...

    def frequency(self, term: str) -> int:
        """How many chunks hold a term in their parts."""
        ...

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Whole words that begin with a prefix, and how many chunks hold each."""
        ...

    def put_vectors(self, encoder: str, rows: "Sequence[tuple[int, Vectors]]") -> int:
        """Keep vectors for chunks; those of chunks that are gone are ignored."""
        ...

    def without_vectors(self, encoder: str, limit: int, *, first: Collection[int] = (), after: int = 0) -> list[int]:
        """Chunks that have no vector of their own of this encoder: of the documents `first`, then by id `after` one."""
        ...

    def vector_counts(self, encoder: str) -> tuple[int, int]:
        """Chunks that have a vector, be it a borrowed one, and all chunks."""
        ...

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Those of some documents that have a vector of an encoder."""
        ...

    def forget_vectors(self, encoder: str) -> None:
        """Remove everything of an encoder."""
        ...

    def nearest(
        self,
        encoder: str,
        vector: "Vectors",
        limit: int,
        *,
        kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:
        """Chunks with the highest dot product, of one kind or of some documents."""
        ...

    def totals(self, kind: Kind) -> Totals: ...

    def note(self, key: str, value: str | None) -> None:
        """Remember (or forget, with None) a fact about the index as a whole."""
        ...

    def noted(self, key: str) -> str | None: ...

    def size_bytes(self) -> int: ...

    def glance(self) -> list[Finding]:
        """What is wrong at first sight: parts that are missing or behind; cheap and read-only."""
        ...

    def check(self) -> list[Finding]:
        """Compare every part with the truth; read-only."""
        ...

    def repair(self) -> None:
        """Rebuild whatever `check` finds wrong and can be rebuilt without the files' owner."""
        ...

    def close(self) -> None: ...


Entered = Callable[[str], None]
"""Called with each folder that a walk enters."""

Progress = Callable[[int, int], None]
"""Called with what is done and what there is to do."""
