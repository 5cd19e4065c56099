"""Prefixes of a site are learned from its links."""

from hypothesis import given
from hypothesis import strategies as st

from dowse.reading.link_resolution import Internal, find_site_prefixes, resolve_link
from dowse.reading.link_targets import LinkTargets

NAMES = ["html", "css", "http", "svg", "dom", "events", "forms"]
TREE = LinkTargets(f"files/en-us/web/{name}/index.md" for name in NAMES)
SOURCE = "files/en-us/web/css/index.md"


def test_a_base_is_learned_where_most_links_lead_somewhere_without_it() -> None:
    links = [(SOURCE, f"/en-US/docs/Web/{name.upper()}#top") for name in [*NAMES, "gone", "lost"]]
    prefixes = find_site_prefixes([*links, (SOURCE, "/about"), (SOURCE, "https://a.org/b/")], TREE)
    assert prefixes == ("/en-US/docs/",)
    assert resolve_link("/en-US/docs/Web/SVG", SOURCE, TREE.with_prefixes(prefixes)) == Internal(
        "files/en-us/web/svg/index.md"
    )


def test_a_few_links_are_no_evidence() -> None:
    assert find_site_prefixes([(SOURCE, f"/base/web/{name}") for name in NAMES[:4]], TREE) == ()


def test_one_page_under_many_addresses_is_no_evidence() -> None:
    links = [
        (SOURCE, f"/base/{spelling}") for spelling in ("web/css", "Web/CSS", "web/CSS", "WEB/css", "wEB/css", "weB/css")
    ]
    assert find_site_prefixes(links, TREE) == ()


def test_links_that_mostly_lead_nowhere_are_no_evidence() -> None:
    links = [(SOURCE, f"/blog/web/{name}") for name in [*NAMES, *(f"post{number}" for number in range(10))]]
    assert find_site_prefixes(links, TREE) == ()


def test_links_that_lead_somewhere_as_they_are_teach_nothing() -> None:
    assert find_site_prefixes([(SOURCE, f"/web/{name}") for name in NAMES], TREE) == ()


def test_a_site_may_have_more_than_one_base() -> None:
    links = [(SOURCE, f"/{base}/web/{name}/") for base in ("en", "fr") for name in NAMES]
    assert sorted(find_site_prefixes(links, TREE)) == ["/en/", "/fr/"]


@given(st.lists(st.tuples(st.text(), st.text().map(lambda text: f"/{text}"))))
def test_any_links_can_be_learned_from(links: list[tuple[str, str]]) -> None:
    assert len(find_site_prefixes(links, TREE)) <= 3
