"""The vectors of a query: the model encodes it while its words are searched."""

from collections.abc import Callable
from pathlib import Path

from dowse.indexes.index import ProjectIndex
from dowse.indexes.query_vectors import encode_query
from dowse.searching.query_terms import parse_search_query


class SlowEncoder:
    """Records what is asked of it."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def start_query(self, version: str, text: str) -> Callable[[float], None]:
        self.events.append(f"begin {text}")

        def wait(_seconds: float) -> None:
            self.events.append("wait")

        return wait


def test_the_model_is_waited_for_when_a_vector_is_needed(indexed: Path) -> None:
    index, encoder = ProjectIndex(indexed), SlowEncoder()
    table = index.table()
    assert table
    chunks = [chunk.id for document in index.store.documents() for chunk in index.store.chunks(document.id)]
    version = "dowse-minilm-1"
    index.whole.put_vectors(version, [(chunk, table.encode(["peel"])[0]) for chunk in chunks])
    vectors = encode_query(index, parse_search_query("peel a pear"), "hybrid", encoder, index.store)
    assert encoder.events == ["begin peel a pear"]
    assert [vector.is_model for vector in vectors] == [False]  # the table answers instead
    assert encoder.events == ["begin peel a pear", "wait"]
    assert version in vectors.skipped_method
    index.close()
