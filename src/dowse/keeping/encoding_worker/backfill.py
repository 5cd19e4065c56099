"""The backfill of missing vectors, in small batches, so that it can stop at any moment."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal

from dowse.encoding.cache import VectorCache
from dowse.encoding.packing import encoder_input
from dowse.indexes.encoding_progress import encoded_up_to, lacks_vectors, record_encoded_up_to
from dowse.indexes.freshness.indexer import text_reader
from dowse.indexes.index import ProjectIndex
from dowse.protocols import Encoder
from dowse.types import Kind, StoredDocument

if TYPE_CHECKING:
    from dowse.types import Vectors

BATCH_TEXTS = 8
"""Texts encoded at once: 0.2 s on one core, the longest that a search waits for the processor."""
SAVE_CHUNKS = 64
SAVE_SECONDS = 2.0
"""Vectors are saved in the store after this many chunks or seconds; a kill loses no more."""
PAGE_CHUNKS = 1024
"""Chunks read from the store at once, in its order."""

BackfillOutcome = Literal["complete", "stopped", "stuck"]
"""How a backfill ended. It is `stuck` when the files of the rest have changed and the index has not followed yet."""


MayContinue = Callable[[], bool]
"""Called before each batch; waits while others need the processor. False ends the backfill and keeps its work."""


def fill_vectors(
    project: ProjectIndex,
    encoder: Encoder,
    may_continue: MayContinue,
    cache: VectorCache | None = None,
    batch_texts: int = BATCH_TEXTS,
) -> BackfillOutcome:
    """Make the missing vectors in the order of the chunks, or take them from the cache, if another index had them made."""
    store, version = project.whole, encoder.version
    backfill = _Backfill(project, encoder, may_continue, cache, batch_texts)
    after = encoded_up_to(store, version)
    while True:
        newest = store.catalog.newest_chunk_id()
        page = store.catalog.chunks_without_vectors(version, PAGE_CHUNKS, after=after)
        for batch in _batches(page, max(SAVE_CHUNKS, batch_texts)):
            if not backfill.fill(batch):
                return "stopped"
            after = batch[-1]
            if not backfill.skipped:
                record_encoded_up_to(store, version, after)
        if not page:
            break
    if backfill.skipped and lacks_vectors(store, version):
        return "stuck"
    record_encoded_up_to(store, version, newest)
    return "complete"


@dataclass(slots=True)
class _Backfill:
    """The backfill of one index with one encoder."""

    project: ProjectIndex
    encoder: Encoder
    may_continue: MayContinue
    cache: VectorCache | None
    batch_texts: int
    skipped: set[int] = field(default_factory=set)
    """Documents whose files have changed since they were indexed; the index will follow."""
    open_text: tuple[int, bytes | None] = (0, None)

    def fill(self, chunks: Sequence[int]) -> bool:
        """Encode chunks and save their vectors; return False to end the backfill."""
        if not self.may_continue():
            return False
        texts = self._texts(chunks)
        return all(self._fill_kind(kind, texts[kind]) for kind in sorted(texts))

    def _fill_kind(self, kind: Kind, texts: dict[int, str]) -> bool:
        """Encode texts of one kind: an encoder may read more of one than of another."""
        known = dict(self._from_cache(kind, texts))
        self._save(known)
        # Texts of similar length are encoded together: in a batch, a short text costs as much as the longest one.
        left = sorted((chunk for chunk in texts if chunk not in known), key=lambda chunk: len(texts[chunk]))
        made, saved_at, may_continue = dict[int, "Vectors"](), time.monotonic(), True
        for batch in _batches(left, self.batch_texts):
            may_continue = self.may_continue()
            if not may_continue:
                break
            made.update(zip(batch, self.encoder.encode([texts[chunk] for chunk in batch], kind), strict=True))
            if time.monotonic() - saved_at >= SAVE_SECONDS:
                self._save_new(made, kind, texts)
                made, saved_at = {}, time.monotonic()
        self._save_new(made, kind, texts)
        return may_continue

    def _from_cache(self, kind: Kind, texts: dict[int, str]) -> "Iterator[tuple[int, Vectors]]":
        if self.cache and texts:
            found = self.cache.get(f"{self.encoder.version} {kind}", list(texts.values()))
            for chunk, vector in zip(texts, found, strict=True):
                if vector is not None and len(vector) == self.encoder.dimensions:
                    yield chunk, vector

    def _save_new(self, vectors: "dict[int, Vectors]", kind: Kind, texts: dict[int, str]) -> None:
        self._save(vectors)
        if self.cache and vectors:
            import numpy as np

            known = [texts[chunk] for chunk in vectors]
            self.cache.put(f"{self.encoder.version} {kind}", known, np.stack(list(vectors.values())))

    def _save(self, vectors: "dict[int, Vectors]") -> None:
        if vectors:
            self.project.whole.put_vectors(self.encoder.version, list(vectors.items()))

    def _texts(self, ids: Sequence[int]) -> dict[Kind, dict[int, str]]:
        """Return the text of each chunk that still exists and whose file has not changed, by its kind."""
        texts = defaultdict[Kind, dict[int, str]](dict)
        chunks = self.project.whole.chunks_by_id(ids)
        documents = self.project.whole.documents_by_id({chunk.document_id for chunk in chunks.values()})
        for chunk in (chunks[chunk_id] for chunk_id in ids if chunk_id in chunks):
            document = documents.get(chunk.document_id)
            data = self._text_of(document) if document else None
            if document and data is None:
                self.skipped.add(document.id)
            elif document and data is not None:
                text = data[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace")
                texts[document.kind][chunk.id] = encoder_input(document.path, text)
        return texts

    def _text_of(self, document: StoredDocument) -> bytes | None:
        """Return the text of a document; it is read once for consecutive chunks."""
        if self.open_text[0] != document.id:
            converted = self.project.whole.converted_text(document.id)
            text = text_reader(self.project.kept_source)(document) if converted is None else converted
            self.open_text = document.id, None if text is None else text.encode()
        return self.open_text[1]


def _batches(values: Iterable[int], size: int) -> Iterator[list[int]]:
    left = iter(values)
    while batch := list(islice(left, size)):
        yield batch
