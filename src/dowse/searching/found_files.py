"""The files that a search has found: verified, with the scores of their chunks, and ordered by the model.

A file must still have the indexed content, and be text for a reader.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

from dowse.errors import PathRefused
from dowse.protocols import ScoreTexts, Searchable
from dowse.searching import ranking_constants
from dowse.searching.ranking import Evidence, RankedFile, best_chunks
from dowse.store.catalog_rows import text_hash
from dowse.types import Stat, StoredChunk, StoredDocument

ReadBytes = Callable[[str], tuple[bytes, Stat]]
"""Reads a file of the project, if the policy allows it; raises OSError or PathRefused otherwise."""
IsShown = Callable[[str], bool]
"""Returns whether a path may be in an answer: its file may be gone or denied by now."""


@dataclass(frozen=True, slots=True)
class Current:
    """A document whose file is unchanged since it was indexed, with its text in UTF-8."""

    document: StoredDocument
    data: bytes

    def has(self, chunk: StoredChunk) -> bool:
        """Return whether the text still has a chunk at its position."""
        return text_hash(self.data[chunk.start_byte : chunk.end_byte]) == chunk.text_hash


def verify(
    store: Searchable, read: ReadBytes, document: StoredDocument, *, compares_content: bool = False
) -> Current | None:
    """Read the file of a document and return its text; None if the file is gone or has changed since it was indexed.

    With the same stat, the content is taken as unchanged unless the caller asks for a comparison, and the bytes of a
    chunk are compared before they are shown. With another stat, the whole content is compared.
    """
    try:
        data, stat = read(document.path)
    except (OSError, PathRefused):
        return None
    if (compares_content or stat != document.stat) and hashlib.sha256(data).digest() != document.content_hash:
        return None
    if document.is_verbatim:
        return Current(document, data[document.text_start :])
    text = store.converted_text(document.id)
    return None if text is None else Current(document, text.encode())


SAMPLE_BYTES = 16_000
MIN_BYTES = 500
"""A shorter file is shown, whatever it is."""
MAX_MEAN_LINE = 300
"""Mean length of the lines of code that somebody wrote; longer lines of prose have spaces."""
MIN_SPACE_SHARE = 0.08
MIN_LETTER_SHARE = 0.15
"""Share of letters in code and prose; tables of numbers have fewer."""
MAX_ENCODED_SHARE = 0.5
MIN_MEAN_WORD = 6
"""Characters for each space and line: code has 3 to 5, certificates that are indented by eight spaces have 8."""

_ENCODED_LINE = re.compile(rb"^[ \t\"']*[A-Za-z0-9+/=_-]{40,}[\"',;\\ \t\r]*$", re.MULTILINE)


def is_blob(data: bytes) -> bool:
    """Return whether a text is data rather than code or prose; its beginning and its end decide."""
    return len(data) >= MIN_BYTES and _is_data(data[:SAMPLE_BYTES]) and _is_data(data[-SAMPLE_BYTES:])


def _is_data(sample: bytes) -> bool:
    import numpy as np  # counts in a third of the time; imported here because most commands need no count

    values = np.frombuffer(sample, np.uint8)
    spaces, tabs, line_ends = (int(np.count_nonzero(values == ord(sign))) for sign in " \t\n")
    spaces, lines = spaces + tabs, line_ends + 1
    if len(sample) / lines > MAX_MEAN_LINE and spaces < MIN_SPACE_SHARE * len(sample):
        return True
    has_long_words = len(sample) > MIN_MEAN_WORD * (spaces + lines)  # the pattern takes longer than all the rest
    if has_long_words and len(_ENCODED_LINE.findall(sample)) > MAX_ENCODED_SHARE * lines:
        return True
    visible = len(sample) - spaces - lines
    # The letters of ASCII differ in one bit from those in lower case; all other bytes from 128 on are letters, too.
    letters = np.count_nonzero(((values | 32) - ord("a") < 26) | (values >= 128))
    return bool(letters < MIN_LETTER_SHARE * visible)


ChunkLines = Mapping[int, tuple[int, int]]
"""The first and last line of chunks, by their ids."""


class FoundFile(NamedTuple):
    """A file that is shown, with its text and the chunk that its passages are taken from; None for all of the text."""

    file: RankedFile
    checked: Current
    part: StoredChunk | None
    scores: dict[int, float]
    """The scores of its chunks."""


def scores_by_lines(found: FoundFile, places: ChunkLines) -> dict[tuple[int, int], float]:
    """Return the scores of the chunks that are considered, by their lines, which are known by chunk."""
    part, scores = found.part, found.scores
    if part:
        return {(part.start_line, part.end_line): scores[part.id]}
    # A long line may have several chunks; the best one comes first.
    return {places[chunk]: scores[chunk] for chunk in reversed(scores) if chunk in places}


class SearchedFiles(NamedTuple):
    """The files that an answer is about, if some of them are not indexed yet."""

    direct: int = 0
    """Files that were searched directly."""
    indexed: int = 0
    """Files that were searched in the index beside them."""
    unread: int = 0
    """Files that were searched in neither way."""

    @property
    def were_compared(self) -> bool:
        """Whether all files were compared with the index for this answer."""
        return bool(self.direct or self.indexed)


ALL_INDEXED = SearchedFiles()


def order_by_scores(
    ranked: list[RankedFile], evidence: Evidence, store: Searchable, read: ReadBytes, score_texts: ScoreTexts
) -> list[RankedFile]:
    """Put the best files into the order of their scores, to which those of their best chunks above the mean are added.

    Each gets the score of its place, so that scores fall down the list. The order stays if the scores do not come in time.
    """
    first, weight = ranked[: ranking_constants.SCORED_FILES], ranking_constants.SCORED_FILE_WEIGHT
    added = scores_above_mean(_best_texts(first, evidence, store, read), score_texts, weight)
    order = sorted(range(len(added)), key=lambda at: -(first[at].score + added[at]))
    placed = [first[at]._replace(score=place.score) for at, place in zip(order, first, strict=False)]
    return [*placed, *ranked[len(placed) :]]


def scores_above_mean(texts: Sequence[str], score_texts: ScoreTexts, weight: float) -> list[float]:
    """Return how far the score of each text is above their mean, weighted; nothing if the scores do not come in time."""
    scores = score_texts(texts) if texts else None
    if scores is None or len(scores) != len(texts):
        return []
    mean = fsum(scores) / len(texts)
    return [weight * (score - mean) for score in scores]


def _best_texts(files: Sequence[RankedFile], evidence: Evidence, store: Searchable, read: ReadBytes) -> list[str]:
    """Return the path of each file, and the beginning of its best chunk as far as the file can be read."""
    ids = [file.document_id for file in files]
    documents, found = store.documents_by_id(ids), best_chunks(evidence, ids)
    chunks = store.chunks_by_id([next(iter(scored)) for scored in found.values()])
    texts = []
    for number in ids:
        document, chunk, text = documents.get(number), chunks.get(next(iter(found.get(number, ())), 0)), b""
        if document and chunk and (checked := verify(store, read, document)):
            text = checked.data[chunk.start_byte : chunk.end_byte]
        path = document.path if document else ""
        texts.append(f"{path}\n{text.decode('utf-8', 'replace')[: ranking_constants.SCORED_CHARACTERS]}")
    return texts
