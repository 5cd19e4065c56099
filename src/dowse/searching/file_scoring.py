"""The order of the best files by the scores of their texts, which the model gives at the time of a question."""

from collections.abc import Sequence
from math import fsum

from dowse.protocols import ScoreTexts, Searchable
from dowse.searching import ranking_constants
from dowse.searching.ranking import Evidence, RankedFile, best_chunks
from dowse.searching.verification import Current, ReadBytes, verify


def order_by_scores(
    ranked: list[RankedFile], evidence: Evidence, store: Searchable, read: ReadBytes, score_texts: ScoreTexts
) -> list[RankedFile]:
    """Put the best files into the order of their scores, to which those of their best chunks above the mean are added.

    Each gets the score of its place, so that scores fall down the list. The order stays if the scores do not come in time.
    """
    first = ranked[: ranking_constants.SCORED_FILES]
    scores = score_texts(_best_texts(first, evidence, store, read)) if len(first) > 1 else None
    if scores is None or len(scores) != len(first):
        return ranked
    mean, weight = fsum(scores) / len(first), ranking_constants.SCORED_FILE_WEIGHT
    values = [file.score + weight * (score - mean) for file, score in zip(first, scores, strict=True)]
    order = sorted(range(len(first)), key=lambda at: -values[at])
    placed = [first[at]._replace(score=place.score) for at, place in zip(order, first, strict=True)]
    return [*placed, *ranked[len(first) :]]


def _best_texts(files: Sequence[RankedFile], evidence: Evidence, store: Searchable, read: ReadBytes) -> list[str]:
    """Return the path of each file, and the beginning of its best chunk as far as the file can be read."""
    ids = [file.document_id for file in files]
    documents, found = store.documents_by_id(ids), best_chunks(evidence, ids)
    chunks = store.chunks_by_id([next(iter(scored)) for scored in found.values()])
    texts = []
    for number in ids:
        document, chunk, text = documents.get(number), chunks.get(next(iter(found.get(number, ())), 0)), b""
        if document and chunk and isinstance(checked := verify(store, read, document), Current):
            text = checked.data[chunk.start_byte : chunk.end_byte]
        path = document.path if document else ""
        texts.append(f"{path}\n{text.decode('utf-8', 'replace')[: ranking_constants.SCORED_CHARACTERS]}")
    return texts
