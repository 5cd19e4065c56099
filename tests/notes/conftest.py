"""Fixtures: an empty index of each backend, and a limit small enough to make many batches."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dowse.notes import notes_search
from dowse.notes.named_index import NamedIndex
from dowse.notes.notes_documents import make_note
from dowse.notes.registry import NotesRegistry

Make = Callable[..., NamedIndex]


@pytest.fixture
def library() -> Iterator[NotesRegistry]:
    """Return the indexes of this process."""
    library = NotesRegistry()
    yield library
    library.close()


@pytest.fixture(params=["memory", "disk"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(library: NotesRegistry, backend: str) -> Make:
    """Return a function that makes an index with documents."""

    def make(documents: dict[str, str] | None = None, **config: Any) -> NamedIndex:
        library.create("notes", backend, config)
        index = library.use("notes", lambda index: index)
        for doc_id, content in (documents or {}).items():
            index.add([make_note(doc_id, content)])
        return index

    return make


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limit so that a few documents make a batch."""
    monkeypatch.setattr(notes_search, "BATCH_TOKENS", 60)
