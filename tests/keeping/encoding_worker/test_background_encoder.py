"""Encoding with the shipped model: queries, vectors, crashes, starts and stops."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dowse.encoding.selection import MINILM_VERSION, STATIC_VERSION, open_minilm
from dowse.indexes.encoding_progress import encoding_lease, serving_version
from dowse.indexes.index import ProjectIndex
from dowse.keeping.encoding_worker import background_encoder, model_pool, model_process
from dowse.keeping.encoding_worker.backfill import BackfillOutcome, fill_vectors
from dowse.keeping.encoding_worker.background_encoder import BackgroundEncoder
from dowse.keeping.encoding_worker.model_pool import ModelPool
from dowse.keeping.encoding_worker.model_process import count_cores
from dowse.protocols import Encoder
from dowse.system import child_process
from tests.keeping.encoding_worker.conftest import (
    MANY,
    StartEncoder,
    encoding_progress,
    is_complete,
    wait_for_query,
    wait_until,
)
from tests.mcp.stdio.stdio_client import is_alive

Indexed = Callable[[Path], ProjectIndex]

CRASHES = (sys.executable, "-c", "import sys; print('no memory is left', file=sys.stderr); sys.exit(7)")

SERVER = """
import sys, time
from pathlib import Path
from dowse.keeping.encoding_worker.background_encoder import BackgroundEncoder
encoder = BackgroundEncoder()
encoder.encode_indexes([Path(sys.argv[1])])
while encoder.process_id is None:
    time.sleep(0.01)
print(encoder.process_id, flush=True)
time.sleep(600)
"""


def outcome(encoder: BackgroundEncoder, root: Path) -> str | None:
    visit = encoder.last_visit(root)
    return visit.outcome if visit else None


def count(project: ProjectIndex) -> int:
    return project.store.vector_counts(MINILM_VERSION)[0]


def test_all_chunks_get_their_vectors_and_questions_find_them(
    root: Path, indexed: Indexed, start: StartEncoder
) -> None:
    project, encoder = indexed(root), start()
    assert encoding_progress(project).state == "waiting"
    encoder.encode_indexes([project.root])
    wait_until(lambda: is_complete(project))
    assert project.store.vector_counts(STATIC_VERSION) == project.store.vector_counts(MINILM_VERSION) == (3, 3)
    assert serving_version(project.store, project.settings) == MINILM_VERSION
    vector = wait_for_query(encoder, "take the skin off an orange")
    (hit,) = project.store.nearest(MINILM_VERSION, vector, 1)
    assert project.store.documents_by_id([hit.document_id])[hit.document_id].path == "guide.md"


def test_the_first_question_waits_for_the_model_for_a_moment(
    root: Path, indexed: Indexed, start: StartEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An assistant asks once for each question: in fourteen sessions the model took part in no reply."""
    indexed(root)
    monkeypatch.setattr(model_pool, "LOADING_SECONDS", 60.0)
    monkeypatch.setattr(model_pool, "LOADING_WAIT_SECONDS", 60.0)
    assert start().start_query(MINILM_VERSION, "fruit")(5.0) is not None
    monkeypatch.setattr(model_pool, "LOADING_WAIT_SECONDS", 0.0)
    assert start().start_query(MINILM_VERSION, "fruit")(5.0) is None


def test_questions_of_many_threads_each_get_their_own_answer(start: StartEncoder) -> None:
    encoder, ours = start(), open_minilm()
    wait_for_query(encoder, "warm")
    answers = dict[str, object]()

    def ask(text: str) -> None:
        answers[text] = encoder.start_query(MINILM_VERSION, text)(30.0)

    texts = [f"question {number}" for number in range(20)]
    threads = [threading.Thread(target=ask, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text in texts:  # one at a time: in eight bits, other texts of a batch change a vector slightly
        assert np.allclose(answers[text], ours.encode([text])[0], atol=1e-4)  # type: ignore[arg-type]


def test_a_question_that_was_asked_before_needs_no_process(start: StartEncoder) -> None:
    encoder = start()
    vector = wait_for_query(encoder, "peel")
    encoder.stop()
    again = encoder.start_query(MINILM_VERSION, "peel")(0.0)
    assert again is not None
    assert np.array_equal(vector, again)
    assert encoder.start_query(MINILM_VERSION, "another")(0.0) is None


def test_a_kill_in_the_middle_loses_little_and_the_rest_is_done(
    many: Path, indexed: Indexed, start: StartEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "FIRST_DELAY_SECONDS", 0.01)
    project, encoder = indexed(many), start()
    encoder.encode_indexes([project.root])
    wait_until(lambda: 0 < count(project) < MANY)
    killed = encoder.process_id
    assert killed
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: encoder.process_id != killed)
    kept = count(project)
    assert kept > 0

    def is_done() -> bool:
        encoder.encode_if_needed(project)  # as a server does from time to time
        return is_complete(project)

    wait_until(is_done)
    assert count(project) == MANY


def test_a_process_whose_server_is_killed_goes_away(many: Path, indexed: Indexed) -> None:
    indexed(many)
    with subprocess.Popen([sys.executable, "-c", SERVER, str(many)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        child = int(server.stdout.readline())
        assert is_alive(child)
        server.kill()
    wait_until(lambda: not is_alive(child))


def test_it_leaves_when_nothing_is_to_be_done_and_the_next_question_wakes_it(
    root: Path, indexed: Indexed, start: StartEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_pool, "IDLE_SECONDS", 0.5)
    project, encoder = indexed(root), start()
    encoder.encode_indexes([project.root])
    wait_until(lambda: is_complete(project))
    wait_until(lambda: encoder.process_id is None)
    assert encoder.problem is None
    encoder.encode_if_needed(project)
    assert encoder.process_id is None  # no process is started without work
    encoder.start_query(MINILM_VERSION, "peel")
    wait_for_query(encoder, "peel")


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (CRASHES, "The encoding process ended with code 7. no memory is left"),
        (("/no/such/program",), "The encoding process cannot be started: No such file or directory."),
    ],
)
def test_a_process_that_always_crashes_is_given_up_with_its_reason(
    root: Path, indexed: Indexed, start: StartEncoder, monkeypatch: pytest.MonkeyPatch, program: Any, problem: str
) -> None:
    monkeypatch.setattr(child_process, "FIRST_DELAY_SECONDS", 0.01)
    project, encoder = indexed(root), start(program=program)

    def is_given_up() -> bool:
        encoder.encode_if_needed(project)
        assert encoder.start_query(MINILM_VERSION, "peel")(0.1) is None
        return encoding_progress(project).state == "failed"

    wait_until(is_given_up)
    assert encoding_progress(project).problem == encoder.problem == problem
    encoder.encode_if_needed(project)
    wait_until(lambda: encoder.last_visit(root))  # it is noted a moment after the problem


def test_after_a_crash_fewer_texts_are_encoded_at_once_on_one_core(
    many: Path, indexed: Indexed, start: StartEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "FIRST_DELAY_SECONDS", 0.01)
    project, encoder, sizes = indexed(many), start(cores=4), list[int]()

    def fill(project: ProjectIndex, model: Encoder, *options: Any, **more: Any) -> BackfillOutcome:
        if model.version == MINILM_VERSION:
            sizes.append(options[-1])
            assert encoder.process_id
            if len(sizes) < 6:
                os.kill(encoder.process_id, signal.SIGKILL)
        return fill_vectors(project, model, *options, **more)

    monkeypatch.setattr(background_encoder, "fill_vectors", fill)
    monkeypatch.setattr(child_process, "MAX_CRASHES", 6)
    encoder.encode_indexes([many])
    wait_until(lambda: is_complete(project))
    assert sizes == [32, 4, 2, 1, 1, 1]


def test_half_of_the_cores_encode_in_the_background_and_all_of_them_when_somebody_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def cores_of(machine: int) -> tuple[int, int]:
        monkeypatch.setattr("os.sched_getaffinity", lambda _: range(machine), raising=False)
        return ModelPool().cores, ModelPool(count_cores()).cores

    assert [cores_of(machine) for machine in (1, 2, 4, 8, 64)] == [(1, 1), (1, 2), (2, 4), (4, 4), (4, 4)]


def test_a_process_that_does_not_listen_holds_nobody_up(start: StartEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_process, "HUNG_SECONDS", 0.2)
    monkeypatch.setattr(model_process, "MAX_WAITING", 3)
    encoder = start()
    wait_for_query(encoder, "peel")
    stopped = encoder.process_id
    assert stopped
    os.kill(stopped, signal.SIGSTOP)

    def is_ended() -> bool:
        assert encoder.start_query(MINILM_VERSION, f"{os.urandom(8).hex()} {'long ' * 300}")(0.05) is None
        return not is_alive(stopped)

    wait_until(is_ended)


def test_two_servers_share_the_work_of_one_project(many: Path, indexed: Indexed, start: StartEncoder) -> None:
    project, first, second, place = indexed(many), start(), start(), many
    first.encode_indexes([place])
    wait_until(lambda: encoding_lease(project.folder).is_taken())
    second.encode_indexes([place])
    wait_until(lambda: outcome(second, place) == "elsewhere")
    wait_for_query(second, "both answer questions")
    wait_for_query(first, "both answer questions")
    assert encoding_progress(project).state == "working"
    first.stop()

    def is_taken_over() -> bool:
        second.encode_if_needed(project)  # as a server does from time to time
        return is_complete(project)

    wait_until(is_taken_over)


def test_nothing_is_encoded_while_the_project_is_being_indexed(
    root: Path, indexed: Indexed, start: StartEncoder
) -> None:
    project, encoder, place = indexed(root), start(), root
    project.store.set_fact("state", "running")
    encoder.encode_if_needed(project)
    assert (encoder.last_visit(place), encoder.process_id) == (None, None)
    encoder.encode_indexes([place])
    wait_until(lambda: outcome(encoder, place) == "indexing")
    assert count(project) == 0
    project.store.set_fact("state", "complete")
    encoder.encode_if_needed(project)
    wait_until(lambda: is_complete(project))


def test_a_folder_that_is_gone_disturbs_nobody(
    tmp_path: Path, root: Path, indexed: Indexed, start: StartEncoder
) -> None:
    project, encoder = indexed(root), start()
    encoder.encode_indexes([tmp_path / "nothing", tmp_path, project.root])
    wait_until(lambda: is_complete(project))
