"""Searches by vectors: their weight among the signals, and files without vectors of the model."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dowse.errors import UsageError
from dowse.indexes.index import ProjectIndex
from dowse.searching.candidates import QueryVector
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import Answer, SearchOptions, search_store
from tests.sample_data import open_indexed, write_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Letters:
    """A small but real encoder: texts with the same letters point the same way."""

    version, dimensions = "letters-1", 26

    def encode(self, texts: Sequence[str], kind: str = "docs") -> "NDArray[np.float32]":
        rows = np.array([[text.lower().count(chr(97 + at)) for at in range(26)] for text in texts], dtype=np.float32)
        unit: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return unit


@pytest.fixture
def animals(tmp_path: Path) -> ProjectIndex:
    files = {"cat.txt": "feline creature purrs\n", "dog.txt": "canine barks loudly\n", "fish.txt": "swims in water\n"}
    project = open_indexed(write_tree(tmp_path / "p", files))
    store, encoder = project.store, Letters()
    chunks = store.chunks_by_id(store.catalog.chunks_without_vectors(encoder.version, 10))
    documents = store.documents_by_id({chunk.document_id for chunk in chunks.values()})
    texts = {number: files[documents[chunk.document_id].path] for number, chunk in chunks.items()}
    store.put_vectors(encoder.version, list(zip(texts, encoder.encode(list(texts.values())), strict=True)))
    store.refresh()
    return project


def by_letters(text: str, *, is_model: bool = True, coverage: float = 1.0) -> QueryVector:
    return QueryVector(Letters.version, Letters().encode([text])[0], coverage, is_model=is_model)


def meant(project: ProjectIndex, text: str, *meanings: QueryVector, **options: Any) -> Answer:
    return search_store(
        project.store, project.source.read_bytes, parse_search_query(text), SearchOptions(**options), meanings
    )


def test_meaning_has_its_place_among_the_signals(animals: ProjectIndex) -> None:
    text = "creature enilef srrup"
    found = meant(animals, text, by_letters(text))
    assert found.hits[0].path == "cat.txt"
    assert found.hits[0].signals["meaning: best chunk"] > 0
    assert found.methods == {"words": 1.0, "letters-1": 1.0}
    assert len(meant(animals, text).hits) == 1


def test_what_no_word_leads_to_is_found_by_its_meaning_if_it_is_near(animals: ProjectIndex) -> None:
    hit = meant(animals, "sprur enilef", by_letters("sprur enilef")).hits[0]
    assert hit.path == "cat.txt"
    assert 0.3 < hit.relevance < 0.9
    assert meant(animals, "zzzz qqqq", by_letters("zzzz qqqq")).hits == ()


def test_modes_and_alpha_say_which_way_counts(animals: ProjectIndex) -> None:
    text = "water enilef srrup enilef srrup"
    assert meant(animals, text, by_letters(text), mode="lexical").hits[0].path == "fish.txt"
    assert meant(animals, text, by_letters(text), mode="lexical").methods == {"words": 1.0}
    by_meaning = meant(animals, text, by_letters(text), mode="vector")
    assert by_meaning.hits[0].path == "cat.txt"
    assert by_meaning.methods == {"letters-1": 1.0}
    assert not any(name.startswith("words") for name in by_meaning.hits[0].signals)
    assert meant(animals, text, by_letters(text), alpha=0.0).hits[0].path == "fish.txt"
    assert meant(animals, text, by_letters(text), alpha=1.0).hits[0].path == "cat.txt"
    with pytest.raises(UsageError, match="needs an encoder"):
        meant(animals, text, mode="vector")


def test_the_table_stands_in_for_files_that_the_model_has_not_seen(animals: ProjectIndex) -> None:
    store = animals.store
    dog = store.document("dog.txt")
    assert dog is not None
    seen = [(chunk.id, Letters().encode(["canine barks loudly"])[0]) for chunk in store.chunks(dog.id)]
    store.put_vectors("model", seen)
    text = "enilef srrup creetura sprur"
    model = replace(by_letters(text, coverage=1 / 3), encoder="model")
    found = meant(animals, text, model, by_letters(text, is_model=False))
    assert found.hits[0].path == "cat.txt"
    assert found.hits[0].signals["meaning by table: best chunk"] > 0
    assert found.methods == {"words": 1.0, "model": 0.333, "letters-1": 1.0}
    text = "yldoul skrab eninac"
    model = replace(by_letters(text, coverage=1 / 3), encoder="model")
    hit = meant(animals, text, model, by_letters(text, is_model=False)).hits[0]
    assert hit.path == "dog.txt"
    assert not any(name.startswith("meaning by table") for name in hit.signals), "one encoder a file"


def test_meaning_counts_more_where_no_path_has_a_word_of_the_query(animals: ProjectIndex) -> None:
    def weight(text: str, **options: Any) -> float:
        return meant(animals, text, by_letters(text), **options).hits[0].signals["meaning: best chunk"]

    assert weight("feline purrs") == pytest.approx(2 * weight("feline purrs cat"), rel=0.2)
    assert weight("feline purrs", kind="docs") < weight("feline purrs")
    assert weight("feline purrs", alpha=0.5) < weight("feline purrs")
