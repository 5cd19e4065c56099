"""Scores and matches, compared with values computed by hand and with a reference implementation."""

import math
import random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dowse.notes.named_index import NamedIndex
from dowse.notes.notes_documents import make_note
from dowse.notes.notes_tokens import NotesTokenizer
from dowse.notes.registry import NotesRegistry
from tests.examples import examples
from tests.notes.conftest import Make
from tests.notes.reference_search import answer

FRUIT = {"a": "apple apple pear", "b": "apple plum", "c": "Plum, pear; APPLE pie", "d": "cherry"}
ONE = {  # the weight of one occurrence among four documents
    "apple": math.log(4 / 4) + 1,
    "pear": math.log(4 / 3) + 1,
    "plum": math.log(4 / 3) + 1,
    "cherry": math.log(4 / 2) + 1,
    "pie": math.log(4 / 2) + 1,
}
TABLE: dict[str, list[tuple[str, float]]] = {
    "apple": [("a", 2.0), ("b", 1.0), ("c", 1.0)],
    "APPLE apple": [("a", 2.0), ("b", 1.0), ("c", 1.0)],
    "cherry": [("d", ONE["cherry"])],
    "pear pie": [("c", ONE["pear"] + ONE["pie"]), ("a", ONE["pear"])],
    "+apple -plum": [("a", 2.0)],
    "+plum pear": [("c", ONE["pear"] + ONE["plum"]), ("b", ONE["plum"])],
    '"plum pear"': [("c", ONE["pear"] + ONE["plum"])],
    '"pear plum"': [],
    'apple -"apple pear"': [("b", 1.0), ("c", 1.0)],
    '+"apple pear"': [("a", 2.0 + ONE["pear"])],
    "+pear +cherry": [],
    "-apple": [],
    "-apple cherry": [("d", ONE["cherry"])],
    "nothing": [],
    "nothing apple": [("a", 2.0), ("b", 1.0), ("c", 1.0)],
    "+nothing apple": [],
    "+x apple": [("a", 2.0), ("b", 1.0), ("c", 1.0)],
    "+apple-pear": [("a", 2.0 + ONE["pear"])],
    "-apple-pear apple": [("b", 1.0), ("c", 1.0)],
}


def found(index: NamedIndex, query: str, k: int = 100, offset: int = 0) -> list[tuple[str, float]]:
    return [(one.doc_id, one.score) for one in index.search(query, k, offset).results]


@pytest.mark.parametrize("query", TABLE)
def test_scores_are_those_computed_by_hand(make: Make, query: str) -> None:
    index = make(FRUIT)
    assert found(index, query) == TABLE[query]
    assert index.search(query, 1).total == len(TABLE[query])


def test_pages_are_slices_of_the_whole_and_equals_come_by_id(make: Make) -> None:
    index = make({f"d{number % 7}{number:02}": "same words here" for number in range(40)})
    whole = found(index, "words")
    assert [doc_id for doc_id, _ in whole] == sorted(doc_id for doc_id, _ in whole)
    assert [one for start in range(0, 40, 7) for one in found(index, "words", 7, start)] == whole
    assert found(index, "words", 5, 40) == []


WORDS = st.sampled_from(["red", "green", "blue", "ab", "x", "Rot", "größe"])
TEXTS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
SIGNED = st.tuples(st.sampled_from(["", "", "+", "-"]), WORDS).map("".join)
PHRASES = st.tuples(st.sampled_from(["", "-"]), st.lists(WORDS, min_size=1, max_size=3)).map(
    lambda one: f'{one[0]}"{" ".join(one[1])}"'
)
QUERIES = st.lists(SIGNED | PHRASES, min_size=1, max_size=5).map(" ".join)
IDS = st.sampled_from([f"d{number}" for number in range(9)])
STEPS = st.lists(st.tuples(IDS, st.none() | TEXTS), min_size=1, max_size=25)


@pytest.mark.usefixtures("tiny")
@examples(40, many=600, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, queries=st.lists(QUERIES, min_size=1, max_size=4), chance=st.randoms(use_true_random=False))
def test_whatever_was_added_and_deleted_answers_and_scores_are_those_of_the_naive_index(
    library: NotesRegistry, backend: str, steps: list[tuple[str, str | None]], queries: list[str], chance: random.Random
) -> None:
    name = f"n{len(library.list()[0])}"
    library.create(name, backend)
    index = library.use(name, lambda index: index)
    documents: dict[str, str] = {}
    for doc_id, text in steps:
        if text is not None:
            documents[doc_id] = text
            index.add([make_note(doc_id, text)])
        elif documents.pop(doc_id, None):
            index.delete(doc_id)
        if chance.random() < 0.3:
            assert found(index, queries[0]) == answer(documents, queries[0], NotesTokenizer())
    for query in queries:
        assert found(index, query) == answer(documents, query, NotesTokenizer())
    assert index.info().documents == len(documents)
    assert index.info().tokens == sum(len(NotesTokenizer().tokens(text)) for text in documents.values())
    library.delete(name)


@pytest.mark.usefixtures("tiny")
def test_scores_do_not_depend_on_how_the_index_came_to_be(make: Make, library: NotesRegistry) -> None:
    chance = random.Random(7)
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    documents = {f"d{number:02}": " ".join(chance.choices(words, k=9)) for number in range(60)}
    index = make(documents)
    library.create("other", "memory")
    other = library.use("other", lambda index: index)
    shuffled = list(documents.items())
    chance.shuffle(shuffled)
    other.add([make_note(doc_id, "something else first") for doc_id, _ in shuffled[:30]])
    other.add([make_note(doc_id, text) for doc_id, text in shuffled])
    for query in ("one two three", "three two one", '"one two" four -ten', "+five six"):
        assert found(index, query) == found(other, query) == answer(documents, query, NotesTokenizer())


def test_adding_the_same_again_changes_no_bit(make: Make, library: NotesRegistry) -> None:
    index = make(FRUIT)
    before = [found(index, query) for query in TABLE]

    def dump() -> list[str]:
        with index.database.snapshot() as connection:
            return list(connection.iterdump())

    kept = dump()
    for doc_id, text in FRUIT.items():
        (added,) = index.add([make_note(doc_id, text)])
        assert added.status == "re-indexed"
    assert dump() == kept
    assert [found(index, query) for query in TABLE] == before


@pytest.mark.usefixtures("tiny")
def test_documents_without_words_and_empty_batches_are_no_trouble(make: Make) -> None:
    index = make(dict.fromkeys(["s1", "s2", "s3", "s4"], "x"))  # shorter than the minimum length of a token
    index.add([make_note("long", "red " * 60)])
    assert found(index, "red") == [("long", 60 * (math.log(5 / 2) + 1))]
    for doc_id in ("long", "s1", "s4"):
        index.delete(doc_id)
    assert found(index, "red") == []
    with index.database.snapshot() as connection:
        assert connection.execute("SELECT count(*) FROM postings").fetchone() == (0,)


def test_the_first_by_id_of_many_equals_are_found_among_others(make: Make) -> None:
    index = make()
    index.add([make_note(f"d{number:03}", "red" if number % 3 else "green green") for number in range(90, -1, -1)])
    index.add([make_note("e", "red red")])
    expected = ["e", *(f"d{number:03}" for number in range(90) if number % 3)]
    for k in (1, 2, 5, 60):
        assert [doc_id for doc_id, _ in found(index, "red", k)] == expected[:k]
    assert [doc_id for doc_id, _ in found(index, "red green", 40)[31:]] == expected[:9]


def test_one_id_twice_in_a_bulk_is_the_last_of_them(make: Make) -> None:
    index = make()
    added = index.add([make_note("a", "first words"), make_note("b", "other"), make_note("a", "second")])
    assert [(one.status, one.token_count) for one in added] == [("indexed", 2), ("indexed", 1), ("re-indexed", 1)]
    assert found(index, "first") == []
    assert index.document("a").content == "second"
