"""The interfaces of the parts that can be replaced: the source of files, the encoder, the store."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from dowse.types import (
    Batch,
    DocumentMatch,
    Entry,
    FileContent,
    Finding,
    FolderCallback,
    Kind,
    Link,
    MatchedDocuments,
    Progress,
    Scored,
    Stat,
    StoredChunk,
    StoredDocument,
    TextQuery,
    Totals,
    Verdict,
    View,
)

if TYPE_CHECKING:
    from dowse.types import Vectors


class FileSource(Protocol):
    """The files of one root that the policy allows."""

    def entries(self, below: str = "", on_folder: "FolderCallback | None" = None) -> Iterator[Entry | Verdict]:
        """Yield everything below the root or below one folder: an entry for each allowed file, a verdict for the rest.

        Call `on_folder` for each folder that the walk enters, with an empty path for the root and with a slash at the
        end for other folders.
        """
        ...

    def entry(self, path: str) -> Entry | Verdict:
        """Return one file as the walk would see it now."""
        ...

    def entry_at(self, path: str) -> Entry | Verdict:
        """Return one file like `entry`, but accept only the spelling that the walk uses. The verdict on a folder has no reason."""
        ...

    @property
    def views(self) -> View:
        """The views for which files are found."""
        ...

    def read(self, entry: Entry) -> Sequence[FileContent] | Verdict:
        """Read one file now and return its representations, or return the verdict against it."""
        ...

    def read_path(self, path: str) -> Sequence[FileContent] | Verdict:
        """Read one file now by its path, if the whole policy allows it."""
        ...

    def text_refusal(self, path: str, text: str) -> Verdict | None:
        """Return the verdict against a file that was converted to this text, or None."""
        ...

    def verdict(self, path: str) -> Verdict:
        """Return the decision of the policy about a path, whether or not the path exists."""
        ...


class Encoder(Protocol):
    """A model that turns texts into vectors of one width."""

    @property
    def version(self) -> str:
        """The version of the model; it changes whenever the same text would get another vector."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def sends_text(self) -> bool:
        """Whether texts leave dowse, so that their secrets have to be masked."""
        ...

    def encode(self, texts: Sequence[str], kind: Kind = "docs") -> "Vectors":
        """Return one row for each text, all of one kind. A row has length 1, or 0 for a text without words."""
        ...

    def encode_query(self, text: str) -> "Vectors":
        """Return the vector of a query."""
        ...


class ReadText(Protocol):
    """A function that reads a document's text again; None when the file no longer has the stored content."""

    def __call__(self, document: StoredDocument) -> str | None: ...


class ChunkReader(Protocol):
    """Documents and their chunks, as they were read."""

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        """Yield all documents, or those below a folder (`src/`) or after a path, sorted by path."""
        ...

    def ids_by_path(self) -> list[tuple[int, str]]:
        """Return the ids and the paths of all documents."""
        ...

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        """Return those of the documents that exist, by id."""
        ...

    def paths_by_id(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the paths of those of the documents that exist, by id."""
        ...

    def main_language(self) -> str:
        """Return the language of more than half of the code files; empty if there is none."""
        ...

    def chunks(self, document_id: int) -> list[StoredChunk]:
        """Return the chunks of a document, in order."""
        ...

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Return the first and last line of those of the chunks that exist, by id, in a tenth of the time of the chunks."""
        ...

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        """Return those of the chunks that exist, by id. The id of a removed chunk is never used again."""
        ...

    def converted_text(self, document_id: int) -> str | None:
        """Return the text of a document that was converted from its file; None for a verbatim one."""
        ...


class DocumentReader(ChunkReader, Protocol):
    """Documents, their chunks and their links, as they were indexed."""

    def document(self, path: str) -> StoredDocument | None:
        """Return the document at a path."""
        ...

    def documents_at(self, path: str) -> list[StoredDocument]:
        """Return the representations of the file at a path, the project's first."""
        ...

    def paths(self) -> list[str]:
        """Return the paths of all documents, sorted."""
        ...

    def find_twin(self, content: FileContent, recipe: str) -> StoredDocument | None:
        """Return a document that was chunked from the same content by the same recipe."""
        ...

    def refusals(self) -> dict[str, tuple[Stat, Verdict]]:
        """Return the files that were refused for their content, with the stat they had then, by path."""
        ...

    def links(self, document_id: int) -> list[Link]:
        """Return the links of a document, in order."""
        ...

    def link_targets(self) -> Iterator[tuple[int, int, str]]:
        """Yield the document id, the position in the document and the target of every link, in order."""
        ...


class WordSearcher(Protocol):
    """Search by words."""

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search the fields of chunks; best first, ties by id."""
        ...

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search the fields of documents; best first, ties by id."""
        ...

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        """Select documents by words; return how many there are and the ids of the first, best title first."""
        ...

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Return the documents that contain a word: whole, or all its parts in one chunk."""
        ...

    def chunk_count(self) -> int:
        """Return the number of chunks; frequencies are relative to it."""
        ...

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return how many chunks contain each term, with identifiers split into parts."""
        ...

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words that begin with a prefix, each with the number of chunks that contain it."""
        ...

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the stems that words stand for in the documents that are not in English, and their frequencies."""
        ...


class TextSearcher(WordSearcher, Protocol):
    """Search by words in an index that changes."""

    def refresh(self) -> bool:
        """Open the current state of the text index, and return whether it has all documents.

        Searches see this state until the next call.
        """
        ...

    def catch_up(self, progress: Progress | None = None) -> None:
        """Let the text index have all documents, however long that takes."""
        ...


class VectorSearcher(Protocol):
    """Search by meaning."""

    @property
    def has_vectors(self) -> bool:
        """Whether anything can be found by meaning."""
        ...

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Return those of the documents that have a vector of an encoder."""
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
        """Return the chunks with the highest dot product, best first, of one kind or among some documents."""
        ...


class Searchable(ChunkReader, WordSearcher, VectorSearcher, Protocol):
    """Everything that a search needs to rank files and to show passages of them."""


class VectorStore(VectorSearcher, Protocol):
    """Vectors of chunks, by encoder, and the search for the nearest ones."""

    def put_vectors(self, encoder: str, rows: "Sequence[tuple[int, Vectors]]") -> int:
        """Store vectors of chunks and return the sequence number; chunks that no longer exist are ignored."""
        ...

    def chunks_without_vectors(
        self, encoder: str, limit: int, *, first: Collection[int] = (), after: int = 0
    ) -> list[int]:
        """Return chunks without a vector of their own: those of the documents `first`, then those with ids above `after`."""
        ...

    def vector_counts(self, encoder: str) -> tuple[int, int]:
        """Return the number of chunks with a vector, own or borrowed, and the number of all chunks."""
        ...

    def forget_vectors(self, encoder: str) -> None:
        """Remove all vectors of an encoder."""
        ...


class IndexFacts(Protocol):
    """Facts about an index as a whole."""

    def totals(self, kind: Kind) -> Totals:
        """Return the counts of documents and chunks of one kind."""
        ...

    def size_bytes(self) -> int:
        """Return the size of the index on disk."""
        ...

    def set_fact(self, key: str, value: str | None) -> None:
        """Store a fact about the index as a whole; None removes it."""
        ...

    def fact(self, key: str) -> str | None:
        """Return a fact about the index as a whole."""
        ...


class StoreMaintenance(Protocol):
    """Checking, repairing and closing a store."""

    def quick_check(self) -> list[Finding]:
        """Return the parts that are missing or behind; cheap and read-only."""
        ...

    def check(self) -> list[Finding]:
        """Compare every derived part with the catalog and return the problems; read-only."""
        ...

    def repair(self) -> None:
        """Rebuild the derived parts that `check` finds wrong."""
        ...

    def close(self) -> None:
        """Close the files of the store."""
        ...


class ChangedDocuments(Protocol):
    """Documents added to and removed from a store after a transaction."""

    @property
    def sequence(self) -> int: ...

    @property
    def added(self) -> Collection[int]: ...

    @property
    def removed(self) -> Collection[int]: ...


class FollowableStore(DocumentReader, Protocol):
    """A store that reports changes since a transaction."""

    @property
    def identity(self) -> str:
        """The id of the index. An index that is built anew has another id, and its sequence starts at 0."""
        ...

    def sequence(self) -> int:
        """Return the number of the last transaction."""
        ...

    def changes_since(self, sequence: int) -> ChangedDocuments | None:
        """Return the documents added and removed after a transaction; None when the changes are no longer kept."""
        ...


class Store(DocumentReader, TextSearcher, VectorStore, IndexFacts, StoreMaintenance, Protocol):
    """Everything that is kept of one index. A `Batch` is atomic: readers see whole batches only."""

    def apply(self, batch: Batch) -> int:
        """Make a batch durable and searchable; return the sequence number of the store after it."""
        ...
