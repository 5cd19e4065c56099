"""The statistics of words depend on the files alone, not on the updates that led to them."""

import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.indexes.document_search import DocumentQuery, find_documents
from dowse.indexes.index import ProjectIndex
from dowse.searching.candidates import Scope, gather_evidence
from dowse.searching.passages import found_terms
from dowse.searching.query_terms import parse_search_query
from dowse.searching.ranking import rank_files
from dowse.store.local import LocalStore
from dowse.types import Batch, Field, TextQuery, View
from tests.examples import examples
from tests.sample_data import World, open_indexed, write_tree

WORDS = ("apple", "applePie", "pear", "plum_jam", "Äpfel", "りんご", "quince", "quinces", "the", "42")
WEIGHTS: Mapping[Field, float] = {"parts": 0.9, "words": 0.45, "symbols": 0.5, "headings": 0.15}
QUERIES = ("apple", "quince jam", "pie of plum and pear", "applePie", "aple quinse", "りんご 42")
LIMIT, FEW = 10_000, 7

Update = tuple[str, str | None]
"""A path and its new text; None where the file is removed."""


def text_of(seed: int, paragraphs: int) -> str:
    """Return a text of paragraphs of very different lengths."""
    chosen = random.Random(seed)
    lengths = [chosen.choice((1, 3, 20, 45, 130)) for _ in range(paragraphs)]
    return "\n\n".join(" ".join(chosen.choices(WORDS, k=length)) for length in lengths)


Ranked = dict[str, list[tuple[float, str]]]


def facts(store: LocalStore) -> Ranked:
    """Return everything about words that decides an order: what is found for each query, with its score."""
    store.refresh()
    paths = dict(store.ids_by_path())
    found: Ranked = {"words": sorted((count, word) for word, count in store.words_with_prefix("q", LIMIT))}
    for text in QUERIES:
        words = tuple(text.split())
        chunks = store.find_chunks(TextQuery(words, WEIGHTS), LIMIT)
        starts = store.chunks_by_id(hit.id for hit in chunks)
        found[f"chunks: {text}"] = [
            (hit.score, f"{paths[hit.document_id]}:{starts[hit.id].start_byte:05}") for hit in chunks
        ]
        found[f"best: {text}"] = [
            (0.0, f"{paths[hit.document_id]}:{starts[hit.id].start_byte:05}")
            for hit in store.find_chunks(TextQuery(words, WEIGHTS), FEW)
        ]
        documents = store.find_documents(TextQuery(words, {"path": 0.5, "stem": 0.5}), LIMIT)
        found[f"paths: {text}"] = [(hit.score, paths[hit.id]) for hit in documents]
        evidence = gather_evidence(store, parse_search_query(text), Scope())
        if evidence.terms:
            ranked = rank_files(evidence, LIMIT, store.paths_by_id, paths)
            found[f"files: {text}"] = [(file.score, file.path) for file in ranked]
            found[f"terms: {text}"] = [(weight, term) for term, weight in evidence.terms.items()]
    return {name: sorted(ranked, key=lambda one: (-one[0], one[1])) for name, ranked in found.items()}


def facts_after(batches: Iterable[Iterable[Update]], folder: Path) -> Ranked:
    """Return the facts about an index that these batches of updates have led to."""
    world = World()
    store = LocalStore(folder, world.read_text)
    for batch in batches:
        puts = [world.put(path, text) for path, text in batch if text is not None]
        store.apply(Batch(puts=puts, drops=[path for path, text in batch if text is None]))
    found = facts(store)
    assert store.check() == []
    store.close()
    return found


def compare(updates: list[list[Update]], folder: Path) -> None:
    files: Mapping[str, str | None] = dict(update for batch in updates for update in batch)
    at_once = [(path, text) for path, text in sorted(files.items()) if text is not None]
    updated, built = facts_after(updates, folder / "a"), facts_after([at_once], folder / "b")
    assert [[name, *names(ranked)] for name, ranked in updated.items()] == [
        [name, *names(ranked)] for name, ranked in built.items()
    ]
    for name, ranked in updated.items():
        assert [score for score, _ in ranked] == pytest.approx([score for score, _ in built[name]], rel=1e-4)


def names(ranked: list[tuple[float, str]]) -> list[str]:
    return [name for _, name in ranked]


UPDATES = st.tuples(
    st.sampled_from(("a.py", "b/apple.py", "b/c.py", "quince.md")),
    st.none() | st.builds(text_of, st.integers(0, 1000), st.integers(0, 4)),
)


@examples(4, many=200, deadline=None)
@given(updates=st.lists(st.lists(UPDATES, max_size=3, unique_by=lambda update: update[0]), min_size=1, max_size=12))
def test_an_updated_index_has_the_scores_of_a_new_one(
    tmp_path_factory: pytest.TempPathFactory, updates: list[list[Update]]
) -> None:
    compare(updates, tmp_path_factory.mktemp("stores"))


@pytest.mark.parametrize("count", [20, pytest.param(145, marks=pytest.mark.soak)])
def test_many_updates_leave_the_scores_of_a_new_index(tmp_path: Path, count: int) -> None:
    """Tantivy counts what was deleted: a word once had a frequency of 1,663 in 1,383 entries, and a negative weight.

    It merges eight segments into one again and again, so that more updates leave no more deleted entries: at most 45.
    After 145, seven segments are left, with 37 of them.
    """
    chosen = random.Random(count)
    first: list[Update] = [(f"src/{number}.py", text_of(number, 3)) for number in range(30)]
    updates: list[list[Update]] = [
        [(f"src/{chosen.randrange(40)}.py", text_of(chosen.randrange(10**6), 3))] for _ in range(count)
    ]
    compare([first, *updates], tmp_path)


def test_of_equal_chunks_the_same_are_found_first_after_any_updates(tmp_path: Path) -> None:
    """Ids and addresses depend on the updates; of 40 equal files, a search that looks at 7 chunks once saw others."""
    files: list[Update] = [(f"src/{number}.py", "apple pear") for number in range(40)]
    chosen = random.Random(1)
    updates = [[(path, text), (path, f"{text} plum"), (path, text)] for path, text in chosen.sample(files, 40)]
    one_by_one = [[update] for some in updates for update in some]
    built, updated = facts_after([files], tmp_path / "a"), facts_after(one_by_one, tmp_path / "b")
    assert built["best: apple"] == updated["best: apple"]


DOCUMENTS = {
    "de.md": "# Krankenversicherung\n\nDie Bescheinigung der Ärzte ist nicht nötig. Der Vertrag endet mit dem Monat.\n",
    "nl.md": "# Huisarts\n\nDe ziektekosten van het gezin worden door de verzekering betaald.\n",
    "sv.md": "# Bokning\n\nMötesrummet är ledigt och kan bokas av alla på våningen.\n",
    "fr.md": "# Congés\n\nLes demandes sont examinées par la direction dans la semaine.\n",
    "ru.md": "# Копии\n\nРезервные копии баз хранятся на ленте.\n",
    "ja.md": "# 会議室の予約\n\n会議室はカレンダーで予約します。\n",
    "zh.md": "# 数据库备份\n\n每天凌晨自动备份数据库。\n",
    "ko.md": "# 서버 재시작\n\n서버를 다시 시작하려면 관리자에게 연락하십시오.\n",
    "en.md": "# Backups\n\nThe database is copied every night, and the copies are kept for a month.\n",
}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProjectIndex]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOWSE_HOME", str(tmp_path_factory.mktemp("home")))
        root = tmp_path_factory.mktemp("documents")
        write_tree(root, DOCUMENTS)
        index = open_indexed(root, View.DOCUMENTS)
        yield index
        index.close()


def paths(index: ProjectIndex, text: str) -> list[str]:
    matches = find_documents(index, DocumentQuery(parse_search_query(text))).matches
    return [hit.document.path for hit in matches.found if hit.place != "meaning"]


def test_a_question_in_its_language_finds_a_document(documents: ProjectIndex) -> None:
    for query, path in (
        ("Versicherungen", "de.md"), ("Arzt", "de.md"), ("Arztbescheinigungen", "de.md"),
        ("wie enden die Verträge", "de.md"), ("ziekteverzekering", "nl.md"), ("mötesrum", "sv.md"),
        ("demande examinee", "fr.md"), ("хранить резервную копию базы", "ru.md"), ("会議室を予約したいのですが", "ja.md"),
        ("怎样备份数据库", "zh.md"), ("库", "zh.md"), ("서버", "ko.md"), ("copying databases", "en.md"),
    ):  # fmt: skip
        assert paths(documents, query)[:1] == [path]


def test_a_required_word_may_be_another_form_but_not_a_part(documents: ProjectIndex) -> None:
    assert paths(documents, "+Verträge") == ["de.md"]
    assert paths(documents, "Vertrag +Kasse") == []


def test_the_words_that_were_found_are_shown(documents: ProjectIndex) -> None:
    matches = find_documents(documents, DocumentQuery(parse_search_query("Arzt Versicherung"))).matches
    line = "Krankenversicherung der Ärzte"
    assert [line[start:end] for start, end, _ in found_terms(line, matches.terms)] == ["Krankenversicherung", "Ärzte"]


def test_a_language_is_forgotten_with_its_last_document(documents: ProjectIndex) -> None:
    store = documents.store
    assert store.foreign_terms(["Verträge"])
    (documents.root / "de.md").unlink()
    documents.update()
    store.refresh()
    assert not store.foreign_terms(["Verträge"])
