"""Ranking, tested as a pure function."""

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.searching.ranking import Evidence, HalfWay, Leg, RankedFile, best_chunks, rank_files
from dowse.store.lexical_search import SAME_SCORE, level_scores
from dowse.types import Scored


def evidence(*hits: Scored, terms: dict[str, float] | None = None, **more: object) -> Evidence:
    return Evidence(legs=[Leg("words", hits)], paths={}, definers=(), terms=terms or {"login": 1.0}, **more)  # type: ignore[arg-type]


def ranked(found: Evidence, paths: Mapping[int, str]) -> list[RankedFile]:
    return rank_files(found, 100, lambda ids: {number: paths[number] for number in ids}, paths)


def order(found: Evidence, paths: Mapping[int, str]) -> list[str]:
    return [file.path for file in ranked(found, paths)]


def test_a_file_with_several_good_chunks_beats_one_with_a_single() -> None:
    found = evidence(Scored(10, 1, 9.0), Scored(20, 2, 9.0), Scored(21, 2, 8.0), Scored(22, 2, 8.0))
    assert order(found, {1: "a.py", 2: "b.py"}) == ["b.py", "a.py"]


def test_the_defining_chunk_is_shown_first() -> None:
    hits = [Scored(10, 1, 9.0), Scored(11, 1, 8.0)]
    found = Evidence([Leg("words", hits)], {}, [Scored(11, 1, 1.0)], {})
    assert list(best_chunks(found, [1])[1]) == [11, 10]
    assert best_chunks(found, [2]) == {}


def test_a_file_whose_whole_name_is_in_the_query_beats_a_longer_name() -> None:
    for whole in ("web/login.py", "login/__init__.py", "login/mod.rs"):
        found = evidence(Scored(10, 1, 9.0), Scored(20, 2, 7.5))
        paths = {1: "web/login_page.py", 2: whole}
        assert order(found, paths) == [whole, "web/login_page.py"]
        pasted = evidence(Scored(10, 1, 9.0), Scored(20, 2, 7.5), is_pasted=True)
        assert order(pasted, paths) == ["web/login_page.py", whole], "a long text has many names by chance"


def test_a_file_in_fewer_folders_comes_first_except_among_documents() -> None:
    paths = {1: "src/core/parts/login.py", 2: "src/login.py"}
    hits = (Scored(10, 1, 9.0), Scored(20, 2, 8.5))
    assert order(evidence(*hits), paths) == ["src/login.py", "src/core/parts/login.py"]
    assert order(evidence(*hits, has_code=False), paths) == ["src/core/parts/login.py", "src/login.py"]


def test_prose_comes_after_code_unless_it_is_asked_for_or_searched_alone() -> None:
    paths = {1: "setup.md", 2: "core.py"}
    hits = (Scored(10, 1, 9.0), Scored(20, 2, 8.5))
    assert order(evidence(*hits), paths) == ["core.py", "setup.md"]
    assert order(evidence(*hits, has_code=False), paths) == ["setup.md", "core.py"]
    assert order(evidence(*hits, terms={"guid": 1.0}), paths) == ["setup.md", "core.py"]


def test_tests_and_examples_come_later_unless_they_are_asked_for() -> None:
    paths = {1: "tests/test_core.py", 2: "src/core.py"}
    hits = (Scored(10, 1, 9.0), Scored(20, 2, 8.5))
    assert order(evidence(*hits), paths) == ["src/core.py", "tests/test_core.py"]
    asked = evidence(*hits, terms={"test": 1.0, "core": 1.0})
    assert order(asked, paths) == ["tests/test_core.py", "src/core.py"]


def test_signals_add_up_to_the_score() -> None:
    found = evidence(Scored(10, 1, 9.0), Scored(20, 2, 8.5))
    for file in ranked(found, {1: "tests/login.py", 2: "src/login.py"}):
        assert abs(sum(file.signals.values()) - file.score) < 1e-9


HITS = st.lists(
    st.builds(Scored, st.integers(1, 40), st.integers(1, 8), st.floats(0, 100, allow_nan=False)), max_size=40
)


@given(HITS, st.dictionaries(st.integers(1, 8), st.floats(0, 10, allow_nan=False)), HITS)
def test_any_evidence_gives_one_stable_order(
    hits: list[Scored], by_path: dict[int, float], definers: list[Scored]
) -> None:
    hits = sorted(hits, key=lambda hit: -hit.score)
    found = Evidence([Leg("words", hits), Leg("meaning", hits[::2], 0.5)], by_path, definers, {"login": 1.0})

    def paths_by_id(numbers: Iterable[int]) -> dict[int, str]:
        return {number: f"src/f{number}.py" for number in numbers}

    files = rank_files(found, 100, paths_by_id)
    assert {file.document_id for file in files} == {hit.document_id for hit in (*hits, *definers)} | by_path.keys()
    levels = list(level_scores(sorted((file.score for file in files), reverse=True)))
    assert [file.score for file in files] == pytest.approx(levels, rel=2 * SAME_SCORE, abs=1e-12)
    assert rank_files(found, 100, lambda ids: dict(reversed(paths_by_id(ids).items()))) == files
    best = {file.document_id for file in rank_files(found, 3, paths_by_id)}
    assert len(best) == min(3, len(files))


@given(st.permutations(range(1, 9)), st.lists(st.sampled_from([1.0, 0.5, 0.25]), min_size=8, max_size=8))
def test_ids_decide_nothing(ids: list[int], scores: list[float]) -> None:
    """The ids of documents depend on the updates that led to an index."""

    def ranked_paths(names: Mapping[int, str]) -> list[str]:
        by_path = dict(zip(sorted(names.values()), scores, strict=True))
        hits = sorted((Scored(one, one, by_path[name]) for one, name in names.items()), key=lambda hit: -hit.score)
        found = Evidence([Leg("words", hits)], {}, [], {"login": 1.0})
        return [file.path for file in rank_files(found, 5, lambda ids: {one: names[one] for one in ids})]

    assert ranked_paths({one: f"f{at}.py" for at, one in enumerate(ids)}) == ranked_paths(
        {at: f"f{at}.py" for at in range(8)}
    )


@given(HITS, HITS, st.frozensets(st.integers(1, 8)))
def test_while_the_model_encodes_a_file_without_vectors_keeps_its_place(
    by_table: list[Scored], by_model: list[Scored], encoded: frozenset[int]
) -> None:
    """The model puts the files that it has encoded into order among themselves."""
    by_table, by_model = (sorted(hits, key=lambda hit: -hit.score) for hits in (by_table, by_model))
    by_model = [hit for hit in by_model if hit.document_id in encoded]
    table, model = [Leg("words", by_table)], [Leg("words", by_table), Leg("meaning", by_model, 1.8)]
    paths = {number: f"src/f{number}.py" for number in range(1, 9)}
    before = order(Evidence(table, {}, (), {"login": 1.0}), paths)
    found = Evidence(model, {}, (), {"login": 1.0}, half_way=HalfWay(table, model, encoded))
    names = {paths[number] for number in encoded}
    assert all(path == before[at] for at, path in enumerate(order(found, paths)) if path not in names)
