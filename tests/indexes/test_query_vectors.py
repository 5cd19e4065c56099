"""The vectors that a query is compared with."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dowse.encoding.selection import model_version
from dowse.indexes import query_vectors
from dowse.indexes.encoding_progress import record_encoding_start
from dowse.indexes.index import ProjectIndex
from dowse.indexes.query_vectors import InProcessEncoder, load_vectors, text_scorer
from dowse.searching.query_terms import parse_plain_query
from dowse.settings import Settings

if TYPE_CHECKING:
    from dowse.types import Vectors

QUESTION = "how is a parcel weighed"


class Patient(InProcessEncoder):
    """Scores all texts alike, and records how long it might have taken."""

    def __init__(self) -> None:
        super().__init__(Settings())
        self.seconds: list[float] = []

    def start_scoring(self, version: str, text: str) -> "Callable[[Sequence[str], float], Vectors | None]":
        assert (version, text) == (model_version(Settings()), QUESTION)

        def score(texts: Sequence[str], seconds: float) -> "Vectors":
            self.seconds.append(seconds)
            return np.ones(len(texts), np.float32)

        return score


def test_all_scores_of_a_search_together_have_a_limit_of_time(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, now = Patient(), iter([1.0, 1.1, 2.0, 2.5, 3.0, 3.0])
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    with closing(ProjectIndex(indexed)) as index:
        score = text_scorer(index, parse_plain_query(QUESTION), "hybrid", encoder, index.store)
        assert score
        assert [score(["a", "b"]) for _ in range(3)] == [[1.0, 1.0]] * 3
    assert encoder.seconds == pytest.approx([query_vectors.SCORE_SECONDS, query_vectors.SCORE_SECONDS - 0.1, 0.0])


@pytest.mark.parametrize(
    "text", ["weigh_parcel", "src/parcel.py", "Parcels are heavy\n\n" + "a line that was pasted\n" * 30]
)
def test_names_paths_and_pasted_texts_are_not_scored(indexed: Path, text: str) -> None:
    with closing(ProjectIndex(indexed)) as index:
        assert text_scorer(index, parse_plain_query(text), "hybrid", Patient(), index.store) is None


def test_nothing_is_scored_without_a_model_or_by_words_alone(indexed: Path) -> None:
    with closing(ProjectIndex(indexed)) as index:
        query = parse_plain_query(QUESTION)
        assert text_scorer(index, query, "hybrid", None, index.store) is None
        assert text_scorer(index, query, "lexical", Patient(), index.store) is None


def test_the_vectors_of_the_model_are_loaded_before_it_is_ready(indexed: Path) -> None:
    """The second search of 140,000 chunks took 0.4 s: the first ones had no vector of the model, and loaded nothing."""
    version = model_version(Settings())
    assert version
    with closing(ProjectIndex(indexed)) as index:
        store = index.whole
        chunks = store.catalog.chunks_without_vectors(version, 10)
        store.put_vectors(version, [(chunk, np.ones(384, np.float32)) for chunk in chunks])
        record_encoding_start(store, index.settings)
        load_vectors(index)
        assert version in store._matrices._rows


def test_numpy_is_imported_before_another_thread_opens_the_model(indexed: Path) -> None:
    """Two threads that imported it at once saw half of it, and one search of fifty failed."""
    version = model_version(Settings())
    assert version
    with closing(ProjectIndex(indexed)) as index:
        chunks = index.whole.catalog.chunks_without_vectors(version, 10)
        index.whole.put_vectors(version, [(chunk, np.ones(384, np.float32)) for chunk in chunks])
        record_encoding_start(index.whole, index.settings)
    program = f"""
import sys, threading
from pathlib import Path
from dowse.indexes.index import ProjectIndex
from dowse.indexes.query_vectors import InProcessEncoder
threading.Thread.start = lambda self: print(self.name, "numpy" in sys.modules)
index = ProjectIndex(Path({str(indexed)!r}))
InProcessEncoder(index.settings).open_early(index)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "opens the model True\n"
