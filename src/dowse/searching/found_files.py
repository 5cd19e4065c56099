"""Files that a search has found and verified, with the scores of their chunks."""

from collections.abc import Mapping
from typing import NamedTuple

from dowse.searching import ranking_constants
from dowse.searching.ranking import RankedFile
from dowse.searching.verification import Current
from dowse.types import StoredChunk

ChunkLines = Mapping[int, tuple[int, int]]
"""The first and last line of chunks, by their ids."""


class FoundFile(NamedTuple):
    """A file that is shown, with its text and the chunk that its passages are taken from; None for all of the text."""

    file: RankedFile
    checked: Current
    part: StoredChunk | None
    scores: dict[int, float]
    """The scores of its chunks."""


def is_aside(found: FoundFile) -> bool:
    """Return whether a file is of a kind that is rarely meant, and that the query does not request."""
    return not ranking_constants.ASIDE_SIGNALS.isdisjoint(found.file.signals)


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
