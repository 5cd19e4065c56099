"""The interfaces between packages: a model that encodes, files that can be searched, and the copies among them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from dowse.types import (
    DocumentMatch,
    Kind,
    MatchedDocuments,
    Scored,
    StoredChunk,
    StoredDocument,
    TextQuery,
)

if TYPE_CHECKING:
    from dowse.types import Vectors


ScoreTexts = Callable[[Sequence[str]], Sequence[float] | None]
"""Scores texts against a query, the best highest; None if the scores do not come in time."""
DocumentWords = Sequence[Mapping[str, float]]
"""The words of a query: of each its spellings, with what a document scores for one; the highest that it has counts."""


class Encoder(Protocol):
    """A model that turns texts into vectors of one width."""

    @property
    def version(self) -> str:
        """The version of the model; it changes whenever the same text would get another vector."""
        ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str], kind: Kind = "docs") -> "Vectors":
        """Return one row for each text, all of one kind. A row has length 1, or 0 for a text without words."""
        ...

    def encode_query(self, text: str) -> "Vectors":
        """Return the vector of a query."""
        ...


class Copies(Protocol):
    """Knows the copies of which a search ranks one."""

    def copies_of(self, document: int) -> Sequence[str]:
        """Return the paths of the other copies that were found."""
        ...

    def merged(self, shares: Mapping[int, float]) -> Mapping[int, float]:
        """Return the shares of documents, of copies those of all of them for the one that is ranked."""
        ...


class Searchable(Protocol):
    """Everything that a search needs to rank files and to show passages of them."""

    def documents(self) -> Iterator[StoredDocument]:
        """Yield all documents, sorted by path."""
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

    def given_words(self) -> frozenset[str]:
        """Return the words that all files are about: the language of more than half of the code files, the project's name."""
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

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search the fields of chunks; best first, ties by id."""
        ...

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search the fields of documents; best first, ties by id."""
        ...

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        """Select documents by words; return how many there are and the ids of the first, best title first."""
        ...

    def cover_documents(self, words: DocumentWords, match: DocumentMatch, limit: int) -> list[Scored]:
        """Return the documents that match and have the most words of a query, however far apart; best first."""
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

    def similar_words(self, word: str, max_typos: int) -> list[tuple[str, int]]:
        """Return other whole words within a number of typos, each with that number; fewest first, then most frequent."""
        ...

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the stems that words stand for in the documents that are not in English, and their frequencies."""
        ...

    @property
    def stored_share(self) -> float:
        """About the share of the chunks that an index has; without any, nothing is found by meaning."""
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
