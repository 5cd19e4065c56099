"""A named index of notes, as a program uses it. It is on disk, and shared with assistants."""

from typing import Any, Self

from dowse.api.results import Hit, Results
from dowse.errors import NotFound
from dowse.notes.notes_documents import StoredNote, make_note
from dowse.notes.registry import NotesRegistry


class Notes:
    """The named index of one name. Any thread may ask."""

    def __init__(self, name: str) -> None:
        self.name, self._registry = name, NotesRegistry(has_memory=False)

    def add(self, doc_id: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        """Add a note, or replace the one of this id; the index is made by its first note."""
        note = make_note(doc_id, content, metadata)
        try:
            self._registry.use(self.name, lambda index: index.add([note]))
        except NotFound:
            self._registry.create(self.name, "disk")
            self._registry.use(self.name, lambda index: index.add([note]))

    def search(self, query: str, *, limit: int = 10) -> Results[Hit]:
        """Return the notes that match, best first: +word is required, -word excluded, "some words" is a phrase."""
        found = self._registry.use(self.name, lambda index: index.search(query, limit))
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

    def __len__(self) -> int:
        return self._registry.use(self.name, lambda index: index.info().documents)

    def close(self) -> None:
        """Close the index."""
        self._registry.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
