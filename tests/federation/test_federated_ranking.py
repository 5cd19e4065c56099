"""The ranking over all sources."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.federation.federated_ranking import group_duplicates, merge_results
from dowse.federation.federation_types import Item, id_of, locator_in, source_name
from dowse.searching.query_terms import parse_search_query


def item(
    name: str,
    text: str = "",
    relevance: float | None = 0.5,
    *,
    source: str = "project/a",
    title: str = "",
    keys: str = "",
) -> Item:
    return Item(f"{source}/{name}", source, title or name, "url:", text, relevance, "", frozenset(keys.split()))


def test_a_hit_that_shows_the_query_goes_before_one_that_only_says_so() -> None:
    claimed = [item("boast", "nothing to see", 0.6)]
    shown = [item("honest", "the wall clock strikes", 0.5, source="site/b")]
    assert merge_results(parse_search_query("clock strikes"), [claimed, shown])[0].item.id == "site/b/honest"


def test_a_note_without_relevance_stands_beside_a_page_that_shows_as_much() -> None:
    note = [item("n", "the clock strikes", None, source="index/n")]
    page = [item("p", "the clock strikes", 0.6, source="site/p")]
    first, second = merge_results(parse_search_query("clock strikes"), [page, note])
    assert abs(first.score - second.score) < 0.2


def test_a_rare_word_counts_more_than_one_that_everything_has() -> None:
    common = [item(f"c{n}", "the clock", 0.5, source="site/c") for n in range(9)]
    rare = [item("rare", "the quartz", 0.5, source="index/r")]
    assert merge_results(parse_search_query("clock quartz"), [common, rare])[0].item.id == "index/r/rare"


def test_a_hit_without_a_passage_is_ranked_by_its_names() -> None:
    unseen = [replace(item("u", title="The clock strikes"), add_passage=lambda: item("u"))]
    other = [item("o", "the wall", source="site/o")]
    first, _ = merge_results(parse_search_query("clock strikes"), [other, unseen])
    assert first.item.id == "project/a/u"


def test_a_source_keeps_its_own_order() -> None:
    items = [item("1", "nothing"), item("2", "clock strikes"), item("3", "clock")]
    assert [one.item.title for one in merge_results(parse_search_query("clock strikes"), [items])] == ["1", "2", "3"]


def test_one_thing_is_found_once_however_many_sources_have_it() -> None:
    same = [[item("1", "clock", source=f"site/{n}", keys="k")] for n in range(3)]
    (only,) = merge_results(parse_search_query("clock"), same)
    assert sorted([only.item.id, *only.also]) == ["site/0/1", "site/1/1", "site/2/1"]


def test_two_keys_tie_three_things_together() -> None:
    groups = group_duplicates([item("1", keys="a"), item("2", keys="a b"), item("3", keys="b"), item("4")])
    assert [[one.title for one in group] for group in groups] == [["1", "2", "3"], ["4"]]


def test_what_is_held_by_any_of_its_ids_is_left_out() -> None:
    both = [[item("1", "clock", source="site/a", keys="k")], [item("2", "clock", source="site/b", keys="k")]]
    assert merge_results(parse_search_query("clock"), both, {"site/b/2"}) == []


texts = st.text("abcd ", max_size=12)
items = st.builds(
    lambda n, text, relevance, source, key: item(str(n), text, relevance, source=source, keys=key),
    st.integers(0, 50), texts, st.none() | st.floats(0, 1), st.sampled_from(["a/1", "b/2"]), st.sampled_from(["", "x", "x y"]),
)  # fmt: skip


@settings(max_examples=50)
@given(texts, st.lists(st.lists(items, max_size=5), max_size=4))
def test_scores_stay_between_0_and_1_and_never_rise(text: str, sources: list[list[Item]]) -> None:
    found = [one.score for one in merge_results(parse_search_query(text), sources)]
    assert all(0 <= score <= 1 for score in found)
    assert found == sorted(found, reverse=True)


@settings(max_examples=50)
@given(st.text(min_size=1), st.text())
def test_an_id_says_what_it_was_made_of(name: str, locator: str) -> None:
    name, locator = (text.encode(errors="replace").decode() for text in (name, locator))
    source = source_name("project", name)
    made = id_of(source, locator)
    assert made.isascii()
    assert made.isprintable()
    assert locator_in(source, made) == locator
    assert locator_in(f"{source}x", made) is None
