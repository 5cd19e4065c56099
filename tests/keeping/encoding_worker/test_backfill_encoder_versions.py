"""A changed encoder: the old vectors serve until the new ones are complete, and the two are never mixed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dowse.encoding.selection import MINILM_VERSION, STATIC_VERSION
from dowse.indexes.encoding_progress import (
    first_incomplete_version,
    read_encoding_progress,
    record_encoding_complete,
    record_encoding_start,
    record_problem,
    serving_version,
    wanted_versions,
)
from dowse.indexes.index import ProjectIndex
from dowse.keeping.encoding_worker.backfill import fill_vectors
from dowse.settings import Settings
from dowse.store.local import LocalStore
from tests.keeping.encoding_worker.conftest import Lengths

Indexed = Callable[[Path], ProjectIndex]

OURS = Settings()
OTHER = Settings(encoder="minilm")
OTHERS = "minilm-1"
NONE = Settings(encoder="none")


class As(Lengths):
    """The encoder for tests under the name of another."""

    def __init__(self, version: str) -> None:
        super().__init__()
        self.version = version


def encode(project: ProjectIndex, settings: Settings, *, batches: int = 1000) -> None:
    """Do what the background encoder does."""
    left = batches

    def may_continue() -> bool:
        nonlocal left
        left -= 1
        return left >= 0

    record_encoding_start(project.store, settings)
    while version := first_incomplete_version(project.store, settings):
        if fill_vectors(project, As(version), may_continue, batch_texts=1) != "complete":
            return
    record_encoding_complete(project.store, settings)


def test_the_static_table_comes_before_the_slow_encoder() -> None:
    assert wanted_versions(OURS) == (STATIC_VERSION, MINILM_VERSION)
    assert wanted_versions(NONE) == ()


def test_a_model_that_is_not_where_the_settings_say_leaves_the_old_vectors_in_use(
    root: Path, tmp_path: Path, indexed: Indexed
) -> None:
    project, lost = indexed(root), Settings(encoder="minilm", encoder_folder=str(tmp_path / "nothing"))
    assert serving_version(project.store, lost) is None
    encode(project, OURS)
    assert serving_version(project.store, lost) == MINILM_VERSION
    found = read_encoding_progress(project.store, lost)
    assert (found.state, found.serving) == ("failed", MINILM_VERSION)
    assert "Couldn't set up the search engine." in str(found.problem)


def test_the_first_vectors_serve_at_once(root: Path, indexed: Indexed) -> None:
    project = indexed(root)
    assert serving_version(project.store, OURS) == MINILM_VERSION
    encode(project, OURS, batches=9)
    assert serving_version(project.store, OURS) == MINILM_VERSION


def test_the_old_vectors_serve_until_the_new_ones_are_complete(root: Path, indexed: Indexed) -> None:
    project = indexed(root)
    encode(project, OURS)
    assert serving_version(project.store, OTHER) == MINILM_VERSION
    encode(project, OTHER, batches=2)
    assert 0 < project.store.vector_counts(OTHERS)[0] < 3
    assert serving_version(project.store, OTHER) == MINILM_VERSION
    found = read_encoding_progress(project.store, OTHER)
    assert (found.encoder, found.serving, found.state, found.done, found.total) == (
        OTHERS, MINILM_VERSION, "waiting", project.store.vector_counts(OTHERS)[0], 3,
    )  # fmt: skip
    encode(project, OTHER)
    assert serving_version(project.store, OTHER) == OTHERS
    assert project.store.catalog.encoders() == sorted([STATIC_VERSION, OTHERS])
    assert project.store.vector_counts(MINILM_VERSION)[0] == 0
    assert read_encoding_progress(project.store, OTHER).state == "complete"


def test_who_changes_his_mind_halfway_keeps_what_he_had(root: Path, indexed: Indexed) -> None:
    project = indexed(root)
    encode(project, OURS)
    encode(project, OTHER, batches=2)
    encode(project, OURS)
    assert serving_version(project.store, OURS) == MINILM_VERSION
    assert project.store.catalog.encoders() == [MINILM_VERSION, STATIC_VERSION]
    encode(project, OTHER)
    assert project.store.vector_counts(OTHERS) == (3, 3)


def test_where_the_old_encoder_never_began_the_new_one_serves_at_once(root: Path, indexed: Indexed) -> None:
    project = indexed(root)
    record_encoding_start(project.store, OURS)
    record_encoding_start(project.store, OTHER)
    assert serving_version(project.store, OTHER) == OTHERS


def test_without_an_encoder_nothing_serves_and_nothing_is_lost(root: Path, indexed: Indexed) -> None:
    project = indexed(root)
    encode(project, OURS)
    assert serving_version(project.store, NONE) is None
    assert read_encoding_progress(project.store, NONE).state == "off"
    encode(project, NONE)
    assert read_encoding_progress(project.store, OURS).state == "complete"


def test_a_rebuilt_index_begins_anew(root: Path, indexed: Indexed) -> None:
    project = indexed(root)
    encode(project, OURS)
    project.rebuild()
    assert read_encoding_progress(project.store, OURS).state == "waiting"
    encode(project, OURS)
    assert project.store.vector_counts(MINILM_VERSION) == (3, 3)


def test_a_problem_is_told_until_it_is_over(root: Path, indexed: Indexed) -> None:
    project = indexed(root)
    record_problem(project.store, "The model is damaged.")
    found = read_encoding_progress(project.store, OURS)
    assert (found.state, found.problem) == ("failed", "The model is damaged.")
    record_problem(project.store, None)
    assert read_encoding_progress(project.store, OURS).state == "waiting"
    record_problem(project.store, "The model is damaged.")
    encode(project, OURS)
    assert read_encoding_progress(project.store, OURS).problem is None


def test_vectors_that_a_killed_process_deleted_are_made_again(
    root: Path, indexed: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record that they were complete outlived them, so that nothing was encoded after a change back."""
    project = indexed(root)
    encode(project, OURS)
    really_forget = LocalStore.forget_vectors

    def forget_and_die(store: LocalStore, encoder: str) -> None:
        really_forget(store, encoder)
        raise SystemExit("killed")

    with monkeypatch.context() as patched:
        patched.setattr(LocalStore, "forget_vectors", forget_and_die)
        with pytest.raises(SystemExit):
            encode(project, OTHER)
    project.close()
    again = indexed(root)
    assert first_incomplete_version(again.store, OURS) == MINILM_VERSION
    encode(again, OURS)
    assert again.store.vector_counts(MINILM_VERSION) == (3, 3)
