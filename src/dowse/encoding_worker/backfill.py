"""Gives the chunks of an index the vectors they lack, a few at a time, so that it can be left off at any moment."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from dowse.encoding.cache import VectorCache
from dowse.encoding.inputs import text_for
from dowse.freshness.indexer import text_reader
from dowse.indexes.encoder_state import encoded_to, lacks, note_encoded_to
from dowse.indexes.index import ProjectIndex
from dowse.protocols import Encoder
from dowse.types import Kind, StoredDocument

if TYPE_CHECKING:
    from dowse.types import Vectors

BATCH_TEXTS = 8
"""Encoded at once: 0.2 s on one core, the longest that a search waits for the processor."""
KEPT_CHUNKS = 64
KEPT_SECONDS = 2.0
"""After so many, or so long, vectors are kept in the store: a kill loses no more."""
SLICE_CHUNKS = 1024
"""Taken from the store at once, in its order."""

Filled = Literal["complete", "stopped", "stuck"]
"""How it ended. `stuck` is what is left when files have changed and the index has not followed yet."""


@dataclass(frozen=True, slots=True)
class BackfillOptions:
    """How vectors are made: what is asked before each batch, and where one may have been made before."""

    may_go_on: Callable[[], bool]
    """Waits while others need the processor; False ends it, with what is done kept."""
    first: Callable[[], Sequence[str]] = lambda: ()
    """Paths whose chunks come before all others."""
    cache: VectorCache | None = None
    batch_texts: int = BATCH_TEXTS
    kept_chunks: int = KEPT_CHUNKS


def fill(project: ProjectIndex, encoder: Encoder, manner: BackfillOptions) -> Filled:
    """Make the vectors that lack, in the order of the chunks, those of urgent files before all others."""
    store, version = project.store, encoder.version
    filling = _Filling(project, encoder, manner)
    after = encoded_to(store, version)
    while True:
        newest = store.newest_chunk()
        page = store.without_vectors(version, SLICE_CHUNKS, after=after)
        for part in _in_parts(page, manner.kept_chunks):
            if not (filling.fill_urgent() and filling.fill(part)):
                return "stopped"
            after = part[-1]
            if not filling.skipped:
                note_encoded_to(store, version, after)
        if not page:
            break
    if filling.skipped and lacks(store, version):
        return "stuck"
    note_encoded_to(store, version, newest)
    return "complete"


class _Text(NamedTuple):
    """What is encoded for a chunk: of its kind more or less of it counts."""

    text: str
    kind: Kind


class _Filling:
    """One encoder at work on one project."""

    def __init__(self, project: ProjectIndex, encoder: Encoder, manner: BackfillOptions) -> None:
        self._project, self._encoder, self._manner = project, encoder, manner
        self._read_text = text_reader(project.source)
        self._open_text: tuple[int, bytes | None] = (0, None)
        self._urgent: tuple[str, ...] = ()
        self._done_before = set[int]()
        """Chunks of urgent files, whose turn comes once more."""
        self.skipped = set[int]()
        """Documents whose files are not any more what was indexed; the index will follow."""

    def fill_urgent(self) -> bool:
        """Encode what became urgent since this was last asked; False where it must end."""
        urgent = tuple(self._manner.first())
        if urgent == self._urgent:
            return True
        self._urgent = urgent
        store = self._project.store
        documents = [document.id for path in urgent if (document := store.document(path))]
        wanted = [one for one in documents if one not in self.skipped]
        chunks = store.without_vectors(self._encoder.version, SLICE_CHUNKS, first=wanted, after=store.newest_chunk())
        self._done_before.update(chunks)
        return all(self._fill(part) for part in _in_parts(chunks, self._manner.kept_chunks))

    def fill(self, chunks: Sequence[int]) -> bool:
        """Encode chunks and keep their vectors; False where it must end, with what was done kept."""
        return self._fill([chunk for chunk in chunks if chunk not in self._done_before])

    def _fill(self, chunks: Sequence[int]) -> bool:
        if not self._manner.may_go_on():
            return False
        texts = dict(self._texts(chunks))
        kinds = sorted({text.kind for text in texts.values()})
        return all(
            self._fill_alike(kind, {at: one.text for at, one in texts.items() if one.kind == kind}) for kind in kinds
        )

    def _fill_alike(self, kind: Kind, texts: dict[int, str]) -> bool:
        """Encode texts of one kind."""
        known = dict(self._from_cache(kind, texts))
        self._keep(known)
        # Texts of one length are encoded together: a short one beside a long one costs as much as it.
        left = sorted((chunk for chunk in texts if chunk not in known), key=lambda chunk: len(texts[chunk]))
        made, kept_at, is_wanted = dict[int, "Vectors"](), time.monotonic(), True
        for some in _in_parts(left, self._manner.batch_texts):
            is_wanted = self._manner.may_go_on()
            if not is_wanted:
                break
            made.update(zip(some, self._encoder.encode([texts[chunk] for chunk in some], kind), strict=True))
            if time.monotonic() - kept_at >= KEPT_SECONDS:
                self._keep_new(made, kind, texts)
                made, kept_at = {}, time.monotonic()
        self._keep_new(made, kind, texts)
        return is_wanted

    def _from_cache(self, kind: Kind, texts: dict[int, str]) -> "Iterator[tuple[int, Vectors]]":
        if self._manner.cache and texts:
            found = self._manner.cache.get(f"{self._encoder.version} {kind}", list(texts.values()))
            for chunk, vector in zip(texts, found, strict=True):
                if vector is not None and len(vector) == self._encoder.dimensions:
                    yield chunk, vector

    def _keep_new(self, vectors: "dict[int, Vectors]", kind: Kind, texts: dict[int, str]) -> None:
        self._keep(vectors)
        if self._manner.cache and vectors:
            import numpy as np

            known = [texts[chunk] for chunk in vectors]
            self._manner.cache.put(f"{self._encoder.version} {kind}", known, np.stack(list(vectors.values())))

    def _keep(self, vectors: "dict[int, Vectors]") -> None:
        if vectors:
            self._project.store.put_vectors(self._encoder.version, list(vectors.items()))

    def _texts(self, ids: Sequence[int]) -> Iterator[tuple[int, _Text]]:
        """What is encoded for each chunk that still exists and whose file is still the same."""
        chunks = self._project.store.chunks_by_id(ids)
        documents = self._project.store.documents_by_id({chunk.document_id for chunk in chunks.values()})
        for chunk in (chunks[one] for one in ids if one in chunks):
            document = documents.get(chunk.document_id)
            data = self._text_of(document) if document else None
            if document and data is None:
                self.skipped.add(document.id)
            elif document and data is not None:
                text = data[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace")
                yield chunk.id, _Text(text_for(document.path, text), document.kind)

    def _text_of(self, document: StoredDocument) -> bytes | None:
        """The text of a chunk's document, read once for all of its chunks in a row."""
        if self._open_text[0] != document.id:
            kept = self._project.store.converted_text(document.id)
            text = self._read_text(document) if kept is None else kept
            self._open_text = document.id, None if text is None else text.encode()
        return self._open_text[1]


def _in_parts(values: Iterable[int], size: int) -> Iterator[list[int]]:
    left = iter(values)
    while part := list(islice(left, size)):
        yield part
