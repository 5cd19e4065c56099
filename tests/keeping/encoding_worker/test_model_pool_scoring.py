"""Texts that the model's process scores while a search waits: in time, late, or not at all."""

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dowse.encoding.minilm import CosineScorer
from dowse.encoding.selection import MINILM_VERSION, MODELS_FOLDER, open_minilm
from dowse.indexes import query_vectors
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import search_now
from dowse.keeping.encoding_worker.background_encoder import BackgroundEncoder
from dowse.keeping.encoding_worker.model_process import ModelProcess
from dowse.searching.query_terms import parse_plain_query
from dowse.searching.search import SearchOptions
from tests.keeping.encoding_worker.conftest import StartEncoder, is_complete, wait_for_query, wait_until
from tests.sample_data import write_tree

if TYPE_CHECKING:
    from dowse.types import Vectors

Indexed = Callable[[Path], ProjectIndex]

QUESTION = "how much must a reader pay for a late book"
TEXTS = ["src/fees.py\ndef late_fee(days): return days * RATE", "src/labels.py\ndef print_label(parcel): ..."]
LIBRARY = {
    "src/shelf.py": "def be_late(shelf):\n    return shelf.pop()\n",
    "src/fees.py": "def overdue_fine(book, days):\n    return book.member.charge(days * FINE)\n",
    "src/label.py": "def print_book(printer):\n    return printer.wake_up()\n",
}
SILENT = (sys.executable, "-c", "import sys; sys.stdin.buffer.read()")
"""A process that reads everything and answers nothing."""
NONSENSE = (sys.executable, "-c", "print('no message', flush=True); import sys; sys.stdin.buffer.read()")
CRASHING = (sys.executable, "-c", "import sys; sys.exit(7)")
LOADED_AND_SILENT = (
    sys.executable,
    "-c",
    "import sys\n"
    "from dowse.system.child_messages import open_messages, write_message\n"
    "received, sent = open_messages()\n"
    "write_message(sent, {'dimensions': 384})\n"
    "received.read()\n",
)
BROKEN = (*LOADED_AND_SILENT[:2], LOADED_AND_SILENT[2].replace("received.read()", "received.read(1); sys.exit(7)"))


def wait_for_scores(encoder: BackgroundEncoder, text: str, texts: Sequence[str]) -> "Vectors":
    wait_for_query(encoder, text)
    scores = encoder.start_scoring(MINILM_VERSION, text)(texts, 60.0)
    assert scores is not None
    return scores


def test_the_process_of_a_model_gives_the_scores_of_the_model() -> None:
    with contextlib.closing(ModelProcess(MODELS_FOLDER / "minilm", MINILM_VERSION)) as caged:
        found = caged.start_scoring(QUESTION, TEXTS, 60.0).result()
        expected = CosineScorer(open_minilm(), 2).score(QUESTION, TEXTS)
        assert np.allclose(np.frombuffer(found, "<f4"), expected, atol=0.05)
        assert caged.start_scoring(QUESTION, TEXTS, 60.0).result() == found
        assert caged.start_scoring(QUESTION, [], 60.0).result() == b""


def test_any_text_can_be_asked_and_scored(start: StartEncoder) -> None:
    encoder, texts = start(), ["", "\0\n\r\x1b[31m", "half \ud800", "x" * 1_000_000, "日本語" * 5000, '"\\' * 3000]
    for text in texts:
        assert wait_for_query(encoder, text).shape == (384,)
    scores = wait_for_scores(encoder, "half \ud800", texts)
    assert scores.shape == (6,)
    assert np.isfinite(scores).all()


def test_texts_are_scored_while_chunks_are_encoded(many: Path, indexed: Indexed, start: StartEncoder) -> None:
    project, encoder = indexed(many), start()
    encoder.encode_indexes([project.root])
    wait_until(lambda: project.store.vector_counts(MINILM_VERSION)[0] > 0)
    for number in range(5):
        scores = wait_for_scores(encoder, QUESTION, [*TEXTS, f"text {number}"])
        assert scores.argmax() == 0
        assert number or not is_complete(project)
    wait_until(lambda: is_complete(project))


def test_scores_that_are_late_are_none_and_the_next_ones_come(start: StartEncoder) -> None:
    encoder = start()
    wait_for_query(encoder, QUESTION)
    assert encoder.start_scoring(MINILM_VERSION, QUESTION)(TEXTS, 0.0) is None
    assert wait_for_scores(encoder, QUESTION, TEXTS).argmax() == 0


def test_a_model_that_is_not_loaded_is_loaded_for_the_next_search(start: StartEncoder) -> None:
    encoder = start()
    assert encoder.start_scoring(MINILM_VERSION, QUESTION)(TEXTS, 60.0) is None
    wait_until(lambda: encoder.start_scoring(MINILM_VERSION, QUESTION)(TEXTS, 60.0) is not None)


@pytest.mark.parametrize("program", [SILENT, NONSENSE, CRASHING, ("/no/such/program",)])
def test_a_process_that_does_not_work_scores_nothing(start: StartEncoder, program: tuple[str, ...]) -> None:
    encoder = start(program=program)
    for _ in range(3):
        assert encoder.start_scoring(MINILM_VERSION, QUESTION)(TEXTS, 0.05) is None


def test_a_process_that_ends_while_texts_are_scored_keeps_nobody_waiting(start: StartEncoder) -> None:
    encoder = start(program=BROKEN)
    score = encoder.start_scoring(MINILM_VERSION, QUESTION)
    wait_until(lambda: encoder.process_id is not None or encoder.problem is not None)
    assert score(TEXTS, 60.0) is None


def test_a_question_in_prose_finds_the_definition_that_means_it(
    tmp_path: Path, indexed: Indexed, start: StartEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right after indexing: no chunk has a vector of the model."""
    monkeypatch.setattr(query_vectors, "SCORE_SECONDS", 60.0)
    project, encoder = indexed(write_tree(tmp_path / "library", LIBRARY)), start()
    project.store.refresh()

    def best(encoder: BackgroundEncoder | None, text: str = QUESTION) -> str:
        options = SearchOptions(20, detail="definitions", keeps_weak=True)
        answer = search_now(project, parse_plain_query(text), options, encoder)
        return min((one.rank, hit.path) for hit in answer.hits for one in hit.passages)[1]

    assert best(None) == best(start(program=SILENT)) == "src/shelf.py"
    wait_for_query(encoder, "warm")
    assert best(encoder) == "src/fees.py"
    assert best(encoder, "be_late") == "src/shelf.py", "a name is not scored"
