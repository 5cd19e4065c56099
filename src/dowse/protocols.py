"""The interfaces behind which a part can be swapped: the source of files, the encoder, the store."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from dowse.types import (
    Batch,
    Document,
    Entry,
    Finding,
    FolderCallback,
    Kind,
    Link,
    Scored,
    Stat,
    StoredChunk,
    StoredDocument,
    TextQuery,
    Totals,
    Verdict,
)

if TYPE_CHECKING:
    from dowse.types import Vectors


class FileSource(Protocol):
    """Where documents come from, behind the policy."""

    def entries(self, below: str = "", on_folder: "FolderCallback | None" = None) -> Iterator[Entry | Verdict]:
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


class DocumentReader(Protocol):
    """Documents, their chunks and their links, as they were indexed."""

    def document(self, path: str) -> StoredDocument | None: ...

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        """All documents, or those below a folder (`src/`) or after a path, by path."""
        ...

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]: ...

    def find_twin(self, document: Document, recipe: str) -> StoredDocument | None:
        """A document that became chunks from the very same content in the very same way."""
        ...

    def refusals(self) -> dict[str, tuple[Stat, Verdict]]:
        """Files that were turned away for what they hold, and the stat they had then."""
        ...

    def chunks(self, document_id: int) -> list[StoredChunk]:
        """A document's chunks, in order."""
        ...

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        """Chunks that still exist; an id that was dropped is absent, and never comes back."""
        ...

    def links(self, document_id: int) -> list[Link]: ...

    def link_targets(self) -> Iterator[tuple[int, int, str]]:
        """Where all links lead, in order: a document's id, a link's place in it, its target."""
        ...

    def converted_text(self, document_id: int) -> str | None:
        """The text of a document that is not its file's bytes; None for a verbatim one."""
        ...


class TextSearcher(Protocol):
    """Search by words."""

    def refresh(self) -> None:
        """See the state of this moment; until the next call, all answers about words are about it."""
        ...

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Chunks by the fields of chunks, best first, equals by id."""
        ...

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Documents by the fields of documents, best first, equals by id."""
        ...

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Documents that hold a word: whole, or all its parts in one chunk."""
        ...

    def entry_count(self) -> int:
        """How many chunks and paths words are looked for in, to weigh frequencies against."""
        ...

    def chunk_frequency(self, term: str) -> int:
        """How many chunks hold a term in their parts."""
        ...

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Whole words that begin with a prefix, and how many chunks hold each."""
        ...


class VectorStore(Protocol):
    """Vectors of chunks, by encoder, and search by nearness."""

    def put_vectors(self, encoder: str, rows: "Sequence[tuple[int, Vectors]]") -> int:
        """Keep vectors for chunks; those of chunks that are gone are ignored."""
        ...

    def chunks_without_vectors(self, encoder: str, limit: int, *, first: Collection[int] = (), after: int = 0) -> list[int]:
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


class IndexFacts(Protocol):
    """Facts about an index as a whole."""

    def totals(self, kind: Kind) -> Totals: ...

    def size_bytes(self) -> int: ...

    def set_fact(self, key: str, value: str | None) -> None:
        """Remember (or forget, with None) a fact about the index as a whole."""
        ...

    def fact(self, key: str) -> str | None: ...


class StoreMaintenance(Protocol):
    """Checking, repairing and closing a store."""

    def quick_check(self) -> list[Finding]:
        """What is wrong at first sight: parts that are missing or behind; cheap and read-only."""
        ...

    def check(self) -> list[Finding]:
        """Compare every part with the truth; read-only."""
        ...

    def repair(self) -> None:
        """Rebuild whatever `check` finds wrong and can be rebuilt without the files' owner."""
        ...

    def close(self) -> None: ...


class Store(DocumentReader, TextSearcher, VectorStore, IndexFacts, StoreMaintenance, Protocol):
    """All that is kept of one index. A `Batch` is atomic: readers see whole batches only."""

    def apply(self, batch: Batch) -> int:
        """Make a batch durable and searchable; returns the number the store has reached."""
        ...
