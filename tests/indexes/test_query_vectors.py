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
from dowse.searching.search import SearchOptions
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
        score = text_scorer(index, parse_plain_query(QUESTION), SearchOptions(), encoder)
        assert score
        assert [score(["a", "b"]) for _ in range(3)] == [[1.0, 1.0]] * 3
    assert encoder.seconds == pytest.approx([query_vectors.SCORE_SECONDS, query_vectors.SCORE_SECONDS - 0.1, 0.0])


@pytest.mark.parametrize(
    "text", ["weigh_parcel", "src/parcel.py", "Parcels are heavy\n\n" + "a line that was pasted\n" * 30]
)
def test_names_paths_and_pasted_texts_are_not_scored(indexed: Path, text: str) -> None:
    with closing(ProjectIndex(indexed)) as index:
        assert text_scorer(index, parse_plain_query(text), SearchOptions(), Patient()) is None


def test_nothing_is_scored_without_a_model_or_by_words_alone(indexed: Path) -> None:
    with closing(ProjectIndex(indexed)) as index:
        query = parse_plain_query(QUESTION)
        assert text_scorer(index, query, SearchOptions(), None) is None
        assert text_scorer(index, query, SearchOptions(mode="lexical"), Patient()) is None
        assert text_scorer(index, query, SearchOptions(asks_model=False), Patient()) is None
        assert text_scorer(index, query, SearchOptions(kind="docs"), Patient()) is None


def encode_chunks(index: ProjectIndex, count: int) -> None:
    """Put vectors of the model for some chunks into an index."""
    version = model_version(Settings())
    assert version
    chunks = index.whole.catalog.chunks_without_vectors(version, count)
    index.whole.put_vectors(version, [(chunk, np.ones(384, np.float32)) for chunk in chunks])
    record_encoding_start(index.whole, index.settings)


def test_files_are_scored_until_the_model_has_encoded_all_chunks(indexed: Path) -> None:
    query, definitions = parse_plain_query(QUESTION), SearchOptions(detail="definitions")
    with closing(ProjectIndex(indexed)) as index:
        encode_chunks(index, 1)
        assert text_scorer(index, query, SearchOptions(), Patient())
        encode_chunks(index, 100)
        assert text_scorer(index, query, SearchOptions(), Patient()) is None
        assert text_scorer(index, query, definitions, Patient())


def test_a_program_scores_texts_with_the_model_that_a_query_has_opened() -> None:
    encoder, version = InProcessEncoder(Settings()), model_version(Settings())
    assert version
    texts = ["scales.py\ndef weigh(parcel): ...", "clock.py\ndef wait(moment): ..."]
    score = encoder.start_scoring(version, QUESTION)
    assert score(texts, 60.0) is None
    assert encoder.start_query(version, QUESTION)(60.0) is not None
    scores = score(texts, 60.0)
    assert scores is not None
    assert scores[0] > scores[1]
    assert score([text * 2 for text in texts], 0.0) is None


def test_the_vectors_of_the_model_are_loaded_before_it_is_ready(indexed: Path) -> None:
    """The second search of 140,000 chunks took 0.4 s: the first ones had no vector of the model, and loaded nothing."""
    with closing(ProjectIndex(indexed)) as index:
        encode_chunks(index, 10)
        load_vectors(index)
        assert model_version(Settings()) in index.whole._matrices._known


def test_numpy_is_imported_before_another_thread_opens_the_model(indexed: Path) -> None:
    """Two threads that imported it at once saw half of it, and one search of fifty failed."""
    with closing(ProjectIndex(indexed)) as index:
        encode_chunks(index, 10)
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
