"""The kinds of stores that the contract is for, and what is found in one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from dowse.store.local import LocalStore
from dowse.types import Finding, ReadText, StoredDocument
from tests.sample_data import find

OpenStore = Callable[[], LocalStore]


class _WithTables(LocalStore):
    """The store with LanceDB tables, which are written before they are compared with the catalog."""

    def __init__(self, folder: Path, read_text: ReadText) -> None:
        super().__init__(folder, read_text, has_tables=True)

    def check(self) -> list[Finding]:
        self.write_tables()
        return super().check()


EAST = np.array([1, 0], dtype=np.float32)
STORES: dict[str, Callable[[Path, ReadText], LocalStore]] = {"local": LocalStore, "lancedb": _WithTables}


def lexical_folder(folder: Path) -> Path:
    """Return the folder of the lexical index."""
    (found,) = folder.glob("lexical-*")
    return found


def found_paths(store: LocalStore, *words: str) -> list[str]:
    chunks = store.chunks_by_id([hit.id for hit in find(store, *words)])
    documents = store.documents_by_id({chunk.document_id for chunk in chunks.values()})
    return sorted({document.path for document in documents.values()})


def document_at(store: LocalStore, path: str) -> StoredDocument:
    """Return a document that exists."""
    document = store.document(path)
    assert document is not None
    return document


def encode_all(store: LocalStore) -> None:
    """Give each chunk without a vector of the encoder "e" one to the east."""
    store.put_vectors("e", [(chunk, EAST) for chunk in store.catalog.chunks_without_vectors("e", 10)])
