"""The contract of a store: tests that every implementation has to pass."""

import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dowse.encoding.packing import pack_vectors
from dowse.store.catalog import Catalog
from dowse.store.local import LocalStore
from dowse.types import Batch, Put, Stat, TextQuery
from tests.examples import examples
from tests.sample_data import World, find
from tests.store.opened_stores import EAST, STORES, OpenStore, document_at, encode_all, found_paths


def test_what_is_put_is_found_and_described(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[world.put("src/a.py", "login user\nsecond line\n\nlogout user")]))
    document = document_at(store, "src/a.py")
    assert (document.kind, document.language, document.chunk_count, document.tags) == ("code", "text", 2, ("made",))
    first, second = store.chunks(document.id)
    assert (first.start_line, first.end_line, second.start_line) == (1, 2, 4)
    assert [symbol.name for symbol in second.symbols] == ["logout"]
    assert second.headings == ("Top",)
    assert [hit.id for hit in find(store, "logout")] == [second.id]


def test_a_dropped_document_is_gone_with_everything(open_store: OpenStore, world: World) -> None:
    store = open_store()
    put = world.put("a.html", "apple", kind="docs", is_verbatim=False)
    store.apply(Batch(puts=[put, world.put("b.py", "apple")]))
    document = document_at(store, "a.html")
    assert store.converted_text(document.id) == "apple"
    store.apply(Batch(drops=["a.html", "never-there.py"]))
    assert store.document("a.html") is None
    assert store.converted_text(document.id) is None
    assert found_paths(store, "apple") == ["b.py"]
    assert store.check() == []


def test_chunk_ids_are_never_used_again(open_store: OpenStore, world: World) -> None:
    store = open_store()
    seen: set[int] = set()
    for round_number in range(5):
        store.apply(Batch(puts=[world.put("a.py", f"word{round_number}\n\nother")]))
        document = document_at(store, "a.py")
        ids = {chunk.id for chunk in store.chunks(document.id)}
        assert not ids & seen
        seen |= ids
        store.apply(Batch(drops=["a.py"]))
    assert store.chunks_by_id(seen) == {}


def test_a_touch_changes_the_stat_and_nothing_else(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[world.put("a.py", "apple")]))
    before = store.document("a.py")
    stat = Stat(5, 99, 7, 98)
    store.apply(Batch(touches=[("a.py", stat)]))
    after = store.document("a.py")
    assert before is not None
    assert after is not None
    assert (after.stat, after.id) == (stat, before.id)
    assert after.checked_ns >= before.checked_ns
    assert found_paths(store, "apple") == ["a.py"]


def read_at(put: Put, seconds_ago: float) -> Put:
    """Return a put whose file was read some time ago."""
    seen_ns = time.time_ns() - round(seconds_ago * 1e9)
    return replace(put, document=replace(put.document, stat=replace(put.document.stat, seen_ns=seen_ns)))


def test_what_was_read_earlier_does_not_replace_what_was_read_later(open_store: OpenStore, world: World) -> None:
    """Files are read before the lock is taken: a slow process may come last with an older content."""
    store = open_store()
    older = read_at(world.put("a.py", "apple"), 20)
    store.apply(Batch(puts=[read_at(world.put("a.py", "banana"), 10)]))
    before = store.document("a.py")
    store.apply(Batch(puts=[older], touches=[("a.py", older.document.stat)]))
    assert store.document("a.py") == before
    assert found_paths(store, "apple", "banana") == ["a.py"]
    assert find(store, "apple") == []
    store.apply(Batch(puts=[read_at(world.put("a.py", "cherry"), 5)]))
    assert found_paths(store, "cherry") == ["a.py"]


def test_a_clock_that_was_set_back_keeps_nothing_from_being_replaced(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[read_at(world.put("a.py", "apple"), -3600)]))
    store.apply(Batch(puts=[read_at(world.put("a.py", "banana"), 1)]))
    assert found_paths(store, "banana") == ["a.py"]


def test_kinds_are_searched_apart(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[world.put("a.py", "apple"), world.put("a.md", "apple", kind="docs")]))
    assert len(find(store, "apple")) == 2
    (hit,) = find(store, "apple", kind="docs")
    document = document_at(store, "a.md")
    assert hit.id == store.chunks(document.id)[0].id
    assert (store.totals("code").documents, store.totals("docs").documents) == (1, 1)


def test_a_second_opening_sees_what_the_first_writes(open_store: OpenStore, world: World) -> None:
    writer, reader = open_store(), open_store()
    assert found_paths(reader, "apple") == []
    writer.apply(Batch(puts=[world.put("a.py", "apple")]))
    assert found_paths(reader, "apple") == ["a.py"]
    writer.apply(Batch(drops=["a.py"]))
    assert found_paths(reader, "apple") == []


def test_two_writers_take_turns(open_store: OpenStore, world: World) -> None:
    stores = [open_store(), open_store()]
    puts = [[world.put(f"{name}/{number}.py", f"apple {name}{number}") for number in range(10)] for name in "ab"]

    def write(store: LocalStore, own: list[Put]) -> None:
        for put in own:
            store.apply(Batch(puts=[put]))

    threads = [threading.Thread(target=write, args=pair) for pair in zip(stores, puts, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found_paths(stores[0], "apple")) == 20
    assert stores[0].check() == []


def test_odd_words_find_nothing_and_do_no_harm(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[world.put("a.py", 'quote " and (paren) \0 nul')]))
    for words in ([], [""], ['"'], ["AND", "OR", "NOT"], ["("], ["\0"], ["*:*"], ["path:a"], ["x" * 100_000], ["🙂"]):
        find(store, *words)
    assert found_paths(store, "paren") == ["a.py"]
    assert find(store, "quote", limit=0) == []


def test_a_store_that_cannot_read_a_file_again_asks_for_it_to_be_indexed_anew(
    open_store: OpenStore, world: World, tmp_path: Path
) -> None:
    import shutil

    store = open_store()
    store.apply(Batch(puts=[world.put("a.py", "apple"), world.put("b.py", "banana")]))
    store.close()
    for part in (tmp_path / "index").iterdir():
        if part.is_dir():
            shutil.rmtree(part)
    world.files["a.py"] = "changed meanwhile"
    again = open_store()
    assert found_paths(again, "banana") == ["b.py"]
    assert found_paths(again, "apple") == []
    assert again.document("a.py") is None, "the next scan finds it as new"
    assert again.check() == []


ORDER = st.lists(
    st.tuples(st.sampled_from("abcd"), st.one_of(st.none(), st.lists(st.sampled_from(["x", "y", "z"]), max_size=3))),
    max_size=12,
)


@given(order=ORDER)
@examples(15, many=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_order_of_puts_and_drops_ends_like_a_store_made_at_once(
    order: list[tuple[str, list[str] | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    for make in STORES.values() if os.environ.get("SOAK") else [LocalStore]:  # tables take 0.1 s each
        world, folder = World(), tmp_path_factory.mktemp("any")
        store = make(folder / "step-by-step", world.read_text)
        expected: dict[str, str] = {}
        for path, words in order:
            if words is None:
                store.apply(Batch(drops=[path]))
                expected.pop(path, None)
            else:
                expected[path] = "\n\n".join(words)
                store.apply(Batch(puts=[world.put(path, expected[path])]))
        at_once = make(folder / "at-once", world.read_text)
        at_once.apply(Batch(puts=[world.put(path, text) for path, text in expected.items()]))
        for word in "xyz":
            assert found_paths(store, word) == found_paths(at_once, word)
        assert [(d.path, d.content_hash) for d in store.documents()] == [
            (d.path, d.content_hash) for d in at_once.documents()
        ]
        assert store.check() == []
        store.close()
        at_once.close()


def test_a_search_can_be_limited_to_some_documents(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[world.put(f"{name}.py", "apple") for name in "abc"]))
    store.refresh()
    document = document_at(store, "b.py")
    (hit,) = store.find_chunks(TextQuery(("apple",), {"words": 1.0}, among=frozenset({document.id})), 10)
    assert hit.id == store.chunks(document.id)[0].id
    assert store.find_chunks(TextQuery(("apple",), {"words": 1.0}, among=frozenset()), 10) == []


def test_the_documents_that_hold_a_word_are_known(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(
        Batch(puts=[world.put("a.py", "getUserName"), world.put("b.py", "user\n\nname"), world.put("c.py", "x")])
    )
    store.refresh()
    ids = {document.path: document.id for document in store.documents()}
    assert store.documents_with_word("user") == {ids["a.py"], ids["b.py"]}
    assert store.documents_with_word("getUserName") == {ids["a.py"]}
    assert store.documents_with_word("nothing") == frozenset()
    assert store.documents_with_word("") == frozenset()
    assert store.chunk_frequencies(["user", "nothing"]) == {"user": 2, "nothing": 0}


def test_vectors_are_found_by_direction(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[world.put("a.py", "east\n\nnorth"), world.put("a.md", "east", kind="docs")]))
    ids = store.catalog.chunks_without_vectors("test-1", 10)
    assert len(ids) == 3
    directions = np.array([[1, 0], [0, 1], [0.9, 0.1]], dtype=np.float32)
    store.put_vectors("test-1", list(zip(ids, directions, strict=True)))
    assert store.catalog.chunks_without_vectors("test-1", 10) == []
    assert store.catalog.chunks_without_vectors("test-2", 10) == ids
    hits = store.nearest("test-1", EAST, 2)
    assert [hit.id for hit in hits] == [ids[0], ids[2]]
    assert hits[0].score == pytest.approx(1.0)
    assert [hit.id for hit in store.nearest("test-1", EAST, 5, kind="docs")] == [ids[2]]
    assert store.nearest("unknown", EAST, 5) == []
    assert store.check() == []


def test_files_are_counted_again_when_they_change_and_not_for_each_vector(open_store: OpenStore, world: World) -> None:
    """While a model encoded, every search counted all files: 40 ms for each kind of 27,000."""
    with patch.object(Catalog, "_count", autospec=True, side_effect=Catalog._count) as counted:
        store = open_store()
        store.apply(Batch(puts=[world.put("a.py", "apple")]))
        assert store.totals("code").documents == 1
        encode_all(store)
        assert store.totals("code").documents == 1
        assert counted.call_count == 1
    store.apply(Batch(puts=[world.put("b.py", "apple")]))
    assert store.totals("code").documents == 2
    store.apply(Batch(drops=["a.py", "b.py"]))
    assert store.totals("code").documents == 0


def test_vectors_follow_their_documents(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[world.put("a.py", "apple\n\nbanana")]))
    encode_all(store)
    assert len(store.nearest("e", EAST, 10)) == 2
    store.apply(Batch(puts=[world.put("a.py", "apple\n\ncherry")]))
    (unchanged,) = store.nearest("e", EAST, 10)
    document = document_at(store, "a.py")
    assert unchanged.id == store.chunks(document.id)[0].id, "content that was encoded keeps its vector"
    store.apply(Batch(drops=["a.py"]))
    assert store.nearest("e", EAST, 10) == []
    assert store.check() == []


def with_vectors(put: Put, *rows: tuple[float, float]) -> Put:
    return replace(put, vectors=pack_vectors(np.array(rows, dtype=np.float32)))


def test_vectors_are_found_among_some_documents(open_store: OpenStore, world: World) -> None:
    store = open_store()
    puts = [with_vectors(world.put(f"{name}.py", name), (1, 0)) for name in ("apple", "banana", "cherry")]
    store.apply(Batch(puts=puts, encoder="e"))
    banana = document_at(store, "banana.py")
    among = frozenset({banana.id})
    assert [hit.document_id for hit in store.nearest("e", EAST, 5, among=among)] == [banana.id]
    assert store.nearest("e", EAST, 5, among=frozenset()) == []


@pytest.mark.parametrize("parallel_rows", [100, 1000])
def test_of_many_vectors_the_nearest_are_found_by_a_rough_look_first(
    open_store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch, parallel_rows: int
) -> None:
    monkeypatch.setattr("dowse.store.matrices.PARALLEL_ROWS", parallel_rows)
    monkeypatch.setattr("dowse.store.matrices.SHORTLIST_ROWS", 40)
    for module in ("matrix", "matrices"):
        monkeypatch.setattr(f"dowse.store.{module}.ROUGH_DIMENSIONS", 4)
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
    assert store.catalog.chunks_without_vectors("e", 2) == [apple, banana]
    assert store.catalog.chunks_without_vectors("e", 10, after=apple) == [banana, cherry]


def test_a_moved_file_borrows_its_vectors_until_it_has_its_own(open_store: OpenStore, world: World) -> None:
    store = open_store()
    store.apply(Batch(puts=[with_vectors(world.put("a.py", "apple\n\nbanana"), (1, 0), (0, 1))], encoder="e"))
    store.apply(Batch(puts=[world.put("b.py", "apple\n\nbanana")], drops=["a.py"]))
    moved = document_at(store, "b.py")
    apple, banana = (chunk.id for chunk in store.chunks(moved.id))
    assert [hit.id for hit in store.nearest("e", EAST, 1)] == [apple]
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
    assert store.nearest("e", EAST, 5) == []
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
