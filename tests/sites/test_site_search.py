"""Search in a site: the specification's weights, typos, other word orders, and nothing for nonsense."""

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from bench import fuse
from dowse.searching.query_terms import parse_search_query
from dowse.sites.site import LoadedSite, load_site
from tests.sites.sample_sites import PAGES, encoded, index, large_site, queries, write_index


def urls(site: LoadedSite, query: str, limit: int = 10, **filters: object) -> list[str]:
    return [site.page(hit.page).url for hit in site.search(parse_search_query(query), limit, **filters).hits]  # type: ignore[arg-type]


def test_of_a_thousand_pages_the_one_that_is_meant_comes_first(large: LoadedSite) -> None:
    asked = queries(large_site(1000), 100)
    first = Counter(query.kind for query in asked if urls(large, query.text)[:1] == [query.url])
    every = Counter(query.kind for query in asked)
    assert {kind: round(first[kind] / every[kind], 3) for kind in every if first[kind] < 0.95 * every[kind]} == {}
    assert every.keys() == {"title", "typo", "swapped", "body"}


def test_an_empty_query_gives_the_pages_in_the_order_of_the_index(fruit: LoadedSite) -> None:
    assert urls(fruit, "  ", 3) == [page["url"] for page in PAGES[:3]]
    assert fruit.search(parse_search_query(""), 1).total == 4


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("apples", {"/", "/posts/peeling-apples"}),
        ("+apples +knife", {"/posts/peeling-apples"}),
        ("apples -knife", {"/"}),
        ('"one ribbon"', {"/posts/peeling-apples"}),
        ('"ribbon one"', set()),
        ('apples -"the orchard"', {"/posts/peeling-apples"}),
        ('+"two gardeners"', {"/about"}),
        ("-apples", set()),
        ("+", set()),
        ("-", set()),
        ('""', set()),
        ('pears "', {"/posts/storing-pears"}),
        ("PEARS", {"/posts/storing-pears"}),
        ("cafe", {"/about"}),
        ("CAFÉ", {"/about"}),
        ("C++", {"/about"}),
        ("c#", {"/about"}),
        ("pear", {"/posts/storing-pears"}),
        ("garden", {"/about"}),
        ("bananna", {"/posts/storing-pears"}),
        ("how do I store my pears?", {"/posts/storing-pears"}),
        ("knife slowly", {"/posts/peeling-apples"}),
        ("kitchen", {"/posts/peeling-apples"}),
        ("xqzvw", set()),
        ("?!", set()),
        ("\x00\ud800", set()),
    ],
)
def test_a_query_finds(fruit: LoadedSite, query: str, expected: set[str]) -> None:
    found = urls(fruit, query)
    assert set(found) == expected


def test_filters_that_leave_nothing_say_how_many_pages_there_would_be(fruit: LoadedSite) -> None:
    every = fruit.search(parse_search_query("ribbon one"), 1).total
    assert fruit.search(parse_search_query('"ribbon one"'), 1).total_without_filters == every > 0
    assert fruit.search(parse_search_query("ribbon one"), 1).total_without_filters == 0


def test_slips_and_compounds_are_forgiven() -> None:
    site = load_site(encoded(index({"url": "/a", "title": "The filesystem"}, {"url": "/b", "title": "A data base"})))
    assert urls(site, "file system")[:1] == ["/a"]
    assert urls(site, "database")[:1] == ["/b"]
    assert urls(site, "flesystem")[:1] == ["/a"]


def test_a_slip_that_makes_another_word_still_finds_the_title() -> None:
    pages = [{"url": "/lists", "title": "Lists"}, {"url": "/x", "title": "Other", "body": "lits of a kind"}]
    assert "/lists" in urls(load_site(encoded(index(*pages))), "Lits")


def test_words_of_scripts_without_spaces_are_found() -> None:
    pages = [
        {"url": "/ja", "title": "全文検索の仕組み", "body": "この記事は全文検索について説明します。"},
        {"url": "/zh", "title": "安装指南", "body": "本指南介绍如何安装。"},
        {"url": "/ru", "title": "Поиск", "body": "Ёлки и поиск по сайту."},
    ]
    site = load_site(encoded(index(*pages)))
    assert urls(site, "検索") == ["/ja"]
    assert urls(site, "安装")[:1] == ["/zh"]
    assert urls(site, "ПОИСК") == ["/ru"]
    assert urls(site, "елки") == ["/ru"]


def test_typographic_signs_stand_between_words() -> None:
    body = "“Hello” said the fox—it wasn’t\u00a0late…\u3000全角「引用」、終わり。"
    site = load_site(
        encoded(index({"url": "/a", "title": "A", "body": body}, {"url": "/b", "title": "B", "body": "other"}))
    )
    for query in (
        '"hello said the fox it"',
        '"wasn\'t late"',
        "fox",
        "+hello",
        '"全角"',
        "引用",
        '"the fox it wasn’t"',
    ):
        assert urls(site, query) == ["/a"], query  # fmt: skip


def test_a_phrase_does_not_reach_from_one_field_into_the_next() -> None:
    page = {"url": "/a", "title": "one two", "abstract": "three", "topics": ["four", "five"], "body": "zero"}
    site = load_site(encoded(index(page)))
    assert urls(site, '"one two"') == ["/a"]
    for query in ('"two three"', '"zero one"', '"three four"', '"one two three four five six seven eight nine"'):
        assert urls(site, query) == []


def test_the_rarest_words_of_pasted_text_count_wherever_they_are(fruit: LoadedSite) -> None:
    noise = " ".join(f"noise{number}" for number in range(100))
    assert urls(fruit, f"{noise} peeling apples")[:1] == urls(fruit, "peeling apples")[:1] != []


def test_a_title_counts_more_than_a_mention(fruit: LoadedSite) -> None:
    assert urls(fruit, "apples")[0] == "/posts/peeling-apples"


def test_scores_mean_relevance_and_do_not_rise(large: LoadedSite) -> None:
    pages = large_site(1000)
    for page in pages[:40]:
        hits = large.search(parse_search_query(page["title"]), 25).hits
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] >= 0.8
        assert all(0 <= score <= 1 for score in scores)
    for nonsense in ("xqzvw kjhgf", "zzzzz yyyyy wwwww", "qwxz"):
        assert all(hit.score < 0.3 for hit in large.search(parse_search_query(nonsense), 10).hits)


def test_pages_are_filtered_by_topic_and_day(fruit: LoadedSite) -> None:
    assert urls(fruit, "", topics=["APPLES"]) == ["/posts/peeling-apples"]
    assert urls(fruit, "", topics=["pears", "kitchen"]) == ["/posts/peeling-apples", "/posts/storing-pears"]
    assert urls(fruit, "", topics=["nothing"]) == []
    assert urls(fruit, "", since=date(2025, 1, 31)) == ["/posts/peeling-apples"]
    assert urls(fruit, "", until=date(2024, 12, 31)) == ["/posts/storing-pears"]
    assert fruit.search(parse_search_query("apples"), 10, since=date(2026, 1, 1)).total == 0


def test_the_passage_shows_what_was_asked(fruit: LoadedSite) -> None:
    found = fruit.search(parse_search_query("ribbon"), 1)
    assert "ribbon" in fruit.passage(found.hits[0].page, found).text


def test_a_long_page_is_cut_around_what_was_asked() -> None:
    body = " ".join(["filler"] * 3000 + ["the needle is here"] + ["filler"] * 3000)
    site = load_site(encoded(index({"url": "/a", "title": "A", "body": body})))
    found = site.search(parse_search_query("needle"), 1)
    shown = site.passage(found.hits[0].page, found).text
    assert "needle is here" in shown
    assert len(shown) < 400


def test_words_at_the_end_of_a_very_long_page_count() -> None:
    pages = [{"url": "/short", "title": "A", "body": "a needle"}]
    pages += [{"url": "/long", "title": "B", "body": "filler " * 20_000 + "a needle in the haystack"}]
    assert urls(load_site(encoded(index(*pages))), "needle haystack") == ["/long", "/short"]


def test_equal_pages_come_in_the_order_of_the_index() -> None:
    pages = [{"url": f"/{name}", "title": "Same", "body": "the same words"} for name in "cab"]
    assert urls(load_site(encoded(index(*pages))), "same words") == ["/c", "/a", "/b"]


def test_a_site_without_pages_finds_nothing() -> None:
    site = load_site(encoded(index(pages=[], pageCount=0)))
    assert site.search(parse_search_query("anything"), 10).total == 0
    assert site.search(parse_search_query(""), 10).hits == ()


def test_a_page_that_fuse_has_in_ten_we_have_in_ten(tmp_path: Path) -> None:
    pages = large_site(40, seed=3)
    asked = queries(pages, 12)
    file = write_index(tmp_path / "index.json", *pages)
    site, theirs = load_site(file.read_bytes()), fuse.ask(file, [query.text for query in asked])
    if theirs is None:
        pytest.skip("NO FUSE.JS: run `make test`, which installs it where a registry of npm can be reached")
    lost, both = [], Counter[str]()
    for query, found in zip(asked, theirs.urls, strict=True):
        ours = [site.page(hit.page).url for hit in site.search(parse_search_query(query.text), 10).hits]
        both[query.kind] += query.url in found
        if query.url in found and query.url not in ours:
            lost.append((query.kind, query.text, query.url))
    assert lost == []
    assert both["title"] > 9
