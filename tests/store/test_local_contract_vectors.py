"""The contract of a store about vectors: tests that every implementation has to pass."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from dowse.encoding.packing import pack_vectors
from dowse.store.catalog import Catalog
from dowse.types import Batch, Put
from tests.sample_data import World
from tests.store.opened_stores import OpenStore


def test_vectors_are_found_by_direction(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[world.put("a.py", "east\n\nnorth"), world.put("a.md", "east", kind="docs")]))
    ids = store.catalog.chunks_without_vectors("test-1", 10)
    assert len(ids) == 3
    directions = np.array([[1, 0], [0, 1], [0.9, 0.1]], dtype=np.float32)
    store.put_vectors("test-1", list(zip(ids, directions, strict=True)))
    assert store.catalog.chunks_without_vectors("test-1", 10) == []
    assert store.catalog.chunks_without_vectors("test-2", 10) == ids
    east = np.array([1, 0], dtype=np.float32)
    hits = store.nearest("test-1", east, 2)
    assert [hit.id for hit in hits] == [ids[0], ids[2]]
    assert hits[0].score == pytest.approx(1.0)
    assert [hit.id for hit in store.nearest("test-1", east, 5, kind="docs")] == [ids[2]]
    assert store.nearest("unknown", east, 5) == []
    assert store.check() == []


def test_files_are_counted_again_when_they_change_and_not_for_each_vector(open_store: OpenStore, world: World) -> None:
    """While a model encoded, every search counted all files: 40 ms for each kind of 27,000."""
    with patch.object(Catalog, "_count", autospec=True, side_effect=Catalog._count) as counted:
        store = open_store()
        store.apply(Batch(puts=[world.put("a.py", "apple")]))
        assert store.totals("code").documents == 1
        store.put_vectors(
            "e", [(one, np.array([1, 0], np.float32)) for one in store.catalog.chunks_without_vectors("e", 10)]
        )
        assert store.totals("code").documents == 1
        assert counted.call_count == 1
    store.apply(Batch(puts=[world.put("b.py", "apple")]))
    assert store.totals("code").documents == 2
    store.apply(Batch(drops=["a.py", "b.py"]))
    assert store.totals("code").documents == 0


def test_vectors_follow_their_documents(open_store: OpenStore, world: World) -> None:
    store = open_store()
    east = np.array([1, 0], dtype=np.float32)
    store.apply(Batch(puts=[world.put("a.py", "apple\n\nbanana")]))
    store.put_vectors("e", [(chunk_id, east) for chunk_id in store.catalog.chunks_without_vectors("e", 10)])
    assert len(store.nearest("e", east, 10)) == 2
    store.apply(Batch(puts=[world.put("a.py", "apple\n\ncherry")]))
    (unchanged,) = store.nearest("e", east, 10)
    document = store.document("a.py")
    assert document is not None
    assert unchanged.id == store.chunks(document.id)[0].id, "content that was encoded keeps its vector"
    store.apply(Batch(drops=["a.py"]))
    assert store.nearest("e", east, 10) == []
    assert store.check() == []


def with_vectors(put: Put, *rows: tuple[float, float]) -> Put:
    return replace(put, vectors=pack_vectors(np.array(rows, dtype=np.float32)))


def test_a_batch_brings_its_vectors_along(open_store: OpenStore, world: World) -> None:
    store = open_store()
    put = with_vectors(world.put("a.py", "east\n\nnorth"), (1, 0), (0, 1))
    store.apply(Batch(puts=[put], encoder="e"))
    assert store.catalog.chunks_without_vectors("e", 10) == []
    assert store.vector_counts("e") == (2, 2)
    (north, _) = store.nearest("e", np.array([0, 1], dtype=np.float32), 2)
    assert store.chunks_by_id([north.id])[north.id].start_line == 3


def test_vectors_are_found_among_some_documents(open_store: OpenStore, world: World) -> None:
    store = open_store()
    puts = [with_vectors(world.put(f"{name}.py", name), (1, 0)) for name in ("apple", "banana", "cherry")]
    store.apply(Batch(puts=puts, encoder="e"))
    banana = store.document("banana.py")
    assert banana is not None
    among = frozenset({banana.id})
    assert [hit.document_id for hit in store.nearest("e", np.array([1, 0], np.float32), 5, among=among)] == [banana.id]
    assert store.nearest("e", np.array([1, 0], np.float32), 5, among=frozenset()) == []


@pytest.mark.parametrize("parallel_rows", [100, 1000])
def test_of_many_vectors_the_nearest_are_found_by_a_rough_look_first(
    open_store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch, parallel_rows: int
) -> None:
    monkeypatch.setattr("dowse.store.matrices.PARALLEL_ROWS", parallel_rows)
    monkeypatch.setattr("dowse.store.matrices.SHORTLIST_ROWS", 40)
    monkeypatch.setattr("dowse.store.matrices.ROUGH_DIMENSIONS", 4)
    random = np.random.default_rng(1)
    vectors = random.normal(size=(300, 16)).astype(np.float32)
    vectors[:, 4:] *= 0.1
    store = open_store()
    store.apply(Batch(puts=[world.put("a.py", "\n\n".join(f"part {number}" for number in range(300)))]))
    ids = store.catalog.chunks_without_vectors("e", 1000)
    store.put_vectors("e", list(zip(ids, vectors, strict=True)))
    for asked in (vectors[7], vectors[7][::-1].copy()):  # sorted and unsorted
        exact = sorted(range(300), key=lambda number: -float(vectors[number] @ asked))[:5]
        hits = store.nearest("e", asked, 5)
        assert [hit.id for hit in hits] == [ids[number] for number in exact]
        assert hits[0].score == pytest.approx(float(vectors[exact[0]] @ asked), rel=0.02)


def test_what_lacks_vectors_is_listed_from_where_one_wants(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[world.put(f"{name}.py", name) for name in ("apple", "banana", "cherry")]))
    apple, banana, cherry = store.catalog.chunks_without_vectors("e", 10)
    document = store.document("cherry.py")
    assert document is not None
    assert store.catalog.chunks_without_vectors("e", 2, first=[document.id]) == [cherry, apple]
    assert store.catalog.chunks_without_vectors("e", 10, after=apple) == [banana, cherry]
    assert store.catalog.chunks_without_vectors("e", 10, first=[10_000]) == [apple, banana, cherry]


def test_a_moved_file_borrows_its_vectors_until_it_has_its_own(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[with_vectors(world.put("a.py", "apple\n\nbanana"), (1, 0), (0, 1))], encoder="e"))
    store.apply(Batch(puts=[world.put("b.py", "apple\n\nbanana")], drops=["a.py"]))
    moved = store.document("b.py")
    assert moved is not None
    apple, banana = (chunk.id for chunk in store.chunks(moved.id))
    assert [hit.id for hit in store.nearest("e", np.array([1, 0], np.float32), 1)] == [apple]
    assert store.vector_counts("e") == (2, 2)
    assert store.catalog.chunks_without_vectors("e", 10) == [apple, banana]
    store.put_vectors("e", [(apple, np.array([0, 1], np.float32))])
    assert store.catalog.chunks_without_vectors("e", 10) == [banana]
    assert store.check() == []


def test_an_encoder_can_be_forgotten(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[with_vectors(world.put("a.py", "apple"), (1, 0))], encoder="e"))
    store.put_vectors(
        "f", [(chunk, np.array([0, 1, 0], np.float32)) for chunk in store.catalog.chunks_without_vectors("f", 10)]
    )
    store.forget_vectors("e")
    assert store.nearest("e", np.array([1, 0], np.float32), 5) == []
    assert store.vector_counts("e") == (0, 1)
    assert store.vector_counts("f") == (1, 1)
    assert len(store.catalog.chunks_without_vectors("e", 10)) == 1


def test_vectors_of_chunks_that_are_gone_are_ignored(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[world.put("a.py", "apple")]))
    (chunk_id,) = store.catalog.chunks_without_vectors("e", 10)
    store.apply(Batch(drops=["a.py"]))
    store.put_vectors("e", [(chunk_id, np.ones(2, dtype=np.float32))])
    assert store.nearest("e", np.ones(2, dtype=np.float32), 10) == []
