"""The reply about documents that were found while some are not indexed yet."""

import time

from dowse.surfaces.documents.document_replies import documents_reply
from dowse.types import Coverage


def text_of(total: int, coverage: Coverage) -> str:
    return documents_reply([], total, [coverage], 20_000, time.perf_counter()).text


def test_the_number_of_matches_of_an_index_that_grows_is_said_to_be_a_lower_bound() -> None:
    growing = Coverage(100, 300, is_indexing=True, direct=200)
    assert text_of(120, growing).startswith("Search results: at least 120 matches")
    assert text_of(0, growing).startswith("Search results: 0 matches")
    assert text_of(120, Coverage(300, 300, is_indexing=False, is_whole=True)).startswith("Search results: 120 matches")


def test_documents_that_were_searched_directly_count_as_searched() -> None:
    """A reply said "Searched 0 of 300 documents" although all had been read."""
    assert "there may be more in a moment" in text_of(1, Coverage(100, 300, is_indexing=True, direct=200))
    assert "Searched 250 of 300 documents so far" in text_of(1, Coverage(100, 300, is_indexing=True, direct=150))
