"""The backfill: which chunks get vectors, in which order, and what happens when it is interrupted."""

import os
from collections.abc import Callable
from pathlib import Path

from dowse.encoding.cache import VectorCache
from dowse.indexes.encoding_progress import encoded_up_to, lacks_vectors
from dowse.indexes.index import ProjectIndex
from dowse.keeping.encoding_worker.backfill import fill_vectors
from tests.keeping.encoding_worker.conftest import MANY, Lengths
from tests.sample_data import write_tree

Indexed = Callable[[Path], ProjectIndex]


class Turns:
    """A `may_continue` that allows a number of batches."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self) -> bool:
        self.left -= 1
        return self.left >= 0


def always() -> bool:
    return True


def test_every_chunk_gets_the_vector_of_its_path_and_its_text(root: Path, indexed: Indexed) -> None:
    project, encoder = indexed(root), Lengths()
    assert fill_vectors(project, encoder, always) == "complete"
    assert sorted(encoder.seen)[0] == "apple.py\ndef peel_apple(): return 'red'"
    assert project.store.vector_counts("lengths-1") == (3, 3)
    assert not lacks_vectors(project.store, "lengths-1")
    (nearest,) = project.store.nearest(
        "lengths-1", Lengths().encode(["apple.py\ndef peel_apple(): return 'red'"])[0], 1
    )
    assert project.store.documents_by_id([nearest.document_id])[nearest.document_id].path == "apple.py"


def test_what_is_done_is_not_done_again(many: Path, indexed: Indexed) -> None:
    project, first, second = indexed(many), Lengths(), Lengths()
    assert fill_vectors(project, first, Turns(7)) == "stopped"
    assert 0 < len(first.seen) < MANY
    assert project.store.vector_counts("lengths-1")[0] == len(first.seen)
    assert fill_vectors(project, second, always) == "complete"
    assert sorted([*first.seen, *second.seen]) == sorted(set(first.seen) | set(second.seen))
    assert len(first.seen) + len(second.seen) == project.store.vector_counts("lengths-1")[1]
    third = Lengths()
    assert fill_vectors(project, third, always) == "complete"
    assert not third.seen


def test_a_file_that_has_changed_waits_for_the_index_to_follow(root: Path, indexed: Indexed) -> None:
    project, encoder = indexed(root), Lengths()
    (root / "pear.py").write_text("def cut_pear(): return 'sweet'\n", encoding="utf-8")
    (root / "guide.md").unlink()
    assert fill_vectors(project, encoder, always) == "stuck"
    assert [text.partition("\n")[0] for text in encoder.seen] == ["apple.py"]
    assert encoded_up_to(project.store, "lengths-1") < project.store.catalog.newest_chunk_id()
    project.update()
    assert fill_vectors(project, encoder, always) == "complete"
    assert encoder.seen[1:] == ["pear.py\ndef cut_pear(): return 'sweet'"]


def test_a_moved_file_is_encoded_under_its_new_path(root: Path, indexed: Indexed) -> None:
    project, encoder = indexed(root), Lengths()
    fill_vectors(project, encoder, always)
    os.rename(root / "pear.py", root / "quince.py")
    project.update()
    assert project.store.vector_counts("lengths-1") == (3, 3)
    assert fill_vectors(project, encoder, always) == "complete"
    assert encoder.seen[3:] == ["quince.py\ndef peel_pear(): return 'green'"]


def test_converted_text_is_what_is_encoded(tmp_path: Path, indexed: Indexed) -> None:
    root = write_tree(tmp_path / "latin", {"café.py": "word = 'déjà vu'\n".encode("latin-1")})
    project, encoder = indexed(root), Lengths()
    assert fill_vectors(project, encoder, always) == "complete"
    assert encoder.seen == ["café.py\nword = 'déjà vu'"]


def test_vectors_of_another_width_in_the_cache_are_not_taken(root: Path, tmp_path: Path, indexed: Indexed) -> None:
    import numpy as np

    cache = VectorCache(tmp_path / "vectors.sqlite", 10_000_000)
    encoder = Lengths()
    cache.put("lengths-1", ["apple.py\ndef peel_apple(): return 'red'"], np.ones((1, 9), np.float32))
    assert fill_vectors(indexed(root), encoder, always, cache) == "complete"
    assert len(encoder.seen) == 3


def test_a_vector_is_kept_although_the_cache_is_not_there(root: Path, tmp_path: Path, indexed: Indexed) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    cache = VectorCache(tmp_path / "file" / "vectors.sqlite", 1000)
    project = indexed(root)
    assert fill_vectors(project, Lengths(), always, cache) == "complete"
    assert project.store.vector_counts("lengths-1") == (3, 3)
