"""Fixtures: files to index, and stores of every kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.store.local import LocalStore
from dowse.types import Batch
from tests import lance_extra
from tests.sample_data import World
from tests.store.opened_stores import EAST, STORES, OpenStore, encode_all


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(params=STORES)
def open_store(request: pytest.FixtureRequest, tmp_path: Path, world: World) -> Iterator[OpenStore]:
    opened: list[LocalStore] = []
    if request.param == "lancedb":
        lance_extra.import_or_skip()

    def make() -> LocalStore:
        opened.append(STORES[request.param](tmp_path / "index", world.read_text))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def folder(tmp_path: Path, world: World) -> Path:
    """A closed index of three documents with vectors and a matrix."""
    folder = tmp_path / "index"
    store = LocalStore(folder, world.read_text)
    store.apply(Batch(puts=[world.put(f"{name}.py", f"fruit {name}") for name in ("apple", "banana", "cherry")]))
    encode_all(store)
    assert len(store.nearest("e", EAST, 10)) == 3
    store.close()
    return folder
