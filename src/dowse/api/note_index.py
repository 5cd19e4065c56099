"""A named index of notes, as a program uses it. It is on disk, and shared with assistants."""

from collections.abc import Iterable, Iterator
from typing import Any, Self

from dowse.api.results import Hit, Results
from dowse.errors import NotFound
from dowse.notes.limits import DEFAULT_MIN_LENGTH
from dowse.notes.notes_documents import StoredNote, make_note
from dowse.notes.registry import NotesRegistry, names_on_disk


class Notes:
    """The named index of one name. Any thread may ask."""

    def __init__(self, name: str, *, min_length: int = DEFAULT_MIN_LENGTH, keep_case: bool = False) -> None:
        """The first note makes the index, of words with at least so many letters, in lower case unless it is kept."""
        self.name, self._registry = name, NotesRegistry(has_memory=False)
        self._words = {"lowercase": not keep_case, "min_length": min_length}

    @staticmethod
    def names() -> list[str]:
        """Return the names of all indexes of notes."""
        return names_on_disk()

    def add(self, doc_id: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        """Add a note, or replace the one of this id; the index is made by its first note."""
        self.add_all([(doc_id, content, metadata)])

    def add_all(self, notes: Iterable[tuple[str, str, dict[str, Any] | None]]) -> None:
        """Add notes, each with its id, content and metadata, all or none of them."""
        made = [make_note(*note) for note in notes]
        try:
            self._registry.use(self.name, lambda index: index.add(made))
        except NotFound:
            self._registry.create(self.name, "disk", self._words)
            self._registry.use(self.name, lambda index: index.add(made))

    def search(self, query: str, *, limit: int = 10, offset: int = 0) -> Results[Hit]:
        """Return the notes that match, best first: +word is required, -word excluded, "some words" is a phrase."""
        found = self._registry.use(self.name, lambda index: index.search(query, limit, offset))
        hits = [
            Hit(
                one.doc_id,
                (0, 0),
                "\n".join(one.highlights),
                score=one.score,
                id=one.doc_id,
                source=f"index/{self.name}",
            )
            for one in found.results
        ]
        return Results(tuple(hits), query, found.total)

    def read(self, doc_id: str) -> StoredNote:
        """Return a note with its content and metadata."""
        return self._registry.use(self.name, lambda index: index.document(doc_id))

    def remove(self, doc_id: str) -> None:
        """Remove a note."""
        self._registry.use(self.name, lambda index: index.delete(doc_id))

    def delete(self) -> None:
        """Delete the index with all its notes."""
        self._registry.delete(self.name)

    def __iter__(self) -> Iterator[StoredNote]:
        """Return all notes in the order of their ids."""
        return iter(self._registry.use(self.name, lambda index: list(index.every_document())))

    def __len__(self) -> int:
        return self._registry.use(self.name, lambda index: index.info().documents)

    def close(self) -> None:
        """Close the index."""
        self._registry.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
