"""The page of the graph, opened in a browser: zoomed, dragged, searched, filtered, clicked through."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.archives.citation_graph import whole_graph
from dowse.archives.graph_page import as_html, lay_out, page_data
from tests.archives.sample_archives import HOSTILE, captured_page, document_titled, make_database
from tests.browser import Browser

RESEARCH = {
    "2025-05-20/intro.md": "# Introduction\n\nSee [this](https://example.com/p) and [other](../other.md). Aardvarks.\n",
    "other.md": "---\ntitle: Other <b>report</b> & more\ndate: 2024-01-01\n---\n</script><img src=https://evil.example/x onerror=alert(1)>\n",
    **{f"h/{n}.md": f"# {title}\n\n[o](../other.md)\n" for n, title in enumerate(HOSTILE) if title.isprintable()},
}
PAGES = {"1f": captured_page("https://example.com/p", "The page", "Gradient descent.\n")}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return the file of a page, and the ids of its documents by title."""
    folder = tmp_path_factory.mktemp("page")
    database = make_database(folder, RESEARCH, PAGES)
    data = page_data(database, whole_graph(database), "What cites what")
    file = folder / "graph.html"
    file.write_text(as_html(data), encoding="utf-8")
    titles = ("Introduction", "Other <b>report</b> & more", "The page")
    return file, {title: document_titled(database, title).id for title in titles}


@pytest.fixture(scope="module")
def started() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


@pytest.fixture
def browser(started: Browser, page: tuple[Path, dict[str, str]]) -> Browser:
    started.requests.clear()
    started.complaints.clear()
    started.open(page[0])
    return started


def place(browser: Browser, id_: str) -> tuple[float, float]:
    x, y = browser.value(f"placeOf({id_!r})")
    return x, y


def type_into(browser: Browser, field: str, text: str) -> None:
    browser.value(
        f"(() => {{ const f = document.getElementById('{field}'); f.value = '{text}'; "
        "f.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def test_it_opens_without_a_complaint_and_loads_nothing(browser: Browser, page: tuple[Path, dict[str, str]]) -> None:
    assert browser.complaints == []
    assert browser.requests == [page[0].as_uri()]
    assert browser.value("document.getElementById('count').textContent").endswith("citations")
    picture = browser.screenshot()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000


def test_a_click_on_a_document_shows_its_text_and_leads_on(browser: Browser, page: tuple[Path, dict[str, str]]) -> None:
    ids = page[1]
    browser.click(*place(browser, ids["Introduction"]))
    browser.wait_for(f"document.body.dataset.selected === {ids['Introduction']!r}")
    detail = browser.value("document.getElementById('detail').textContent")
    assert "Aardvarks" in detail
    assert "Cites (2)" in detail
    assert browser.value("document.querySelector('#detail a').href").endswith("2025-05-20/intro.md")
    browser.value(f"document.querySelector('#detail button[data-id=\"{ids['The page']}\"]').click()")
    browser.wait_for(f"document.body.dataset.selected === {ids['The page']!r}")
    assert "Gradient descent." in browser.value("document.getElementById('detail').textContent")
    assert browser.value("document.querySelector('#detail a[href^=http]').href") == "https://example.com/p"


def test_hostile_text_is_text(browser: Browser, page: tuple[Path, dict[str, str]]) -> None:
    browser.click(*place(browser, page[1]["Other <b>report</b> & more"]))
    browser.wait_for("!document.getElementById('detail').hidden")
    assert browser.value("document.querySelector('#detail h2').textContent") == "Other <b>report</b> & more"
    assert browser.value("document.querySelectorAll('main img, main script, main b').length") == 0
    assert browser.complaints == []
    assert browser.requests == [page[0].as_uri()]


def test_the_page_allows_nothing_but_its_own_script_and_no_link_runs(tmp_path: Path) -> None:
    database = make_database(
        tmp_path, {"a.md": "# A\n"}, {"p": captured_page("javascript:alert(1)", "Page", "# Page\n")}
    )
    data = page_data(database, whole_graph(database), "</title><script>")
    text = as_html(data)
    assert "default-src &#x27;none&#x27;; script-src &#x27;sha256-" in text
    assert "<title>&lt;/title&gt;&lt;script&gt;" in text
    assert not [node for node in data["nodes"] if node["url"].startswith("javascript:")]


def test_a_search_narrows_the_list(browser: Browser) -> None:
    type_into(browser, "search", "aardvarks")
    assert browser.value("document.getElementById('count').textContent").startswith("1 found of ")
    listed = "[...document.querySelectorAll('#list button')].map((one) => one.textContent)"
    assert browser.value(listed) == ["Introduction"]


def test_sources_and_dates_filter(browser: Browser) -> None:
    listed = "[...document.querySelectorAll('#list button')].map((one) => one.textContent)"
    browser.value("document.getElementById('source-research').click()")
    assert browser.value(listed) == ["The page"]
    browser.value("document.getElementById('source-research').click()")
    browser.value("document.getElementById('undated').click()")
    assert set(browser.value(listed)) == {"The page", "Introduction", "Other <b>report</b> & more"}
    type_into(browser, "from", "2025-01-01")
    assert set(browser.value(listed)) == {"The page", "Introduction"}
    type_into(browser, "to", "2025-05-20")
    assert browser.value(listed) == ["Introduction"]


def test_it_is_zoomed_by_the_wheel_and_dragged(browser: Browser, page: tuple[Path, dict[str, str]]) -> None:
    one, other = page[1]["Introduction"], page[1]["The page"]
    before = place(browser, one)
    apart = distance(browser, one, other)
    browser.mouse("mouseWheel", 300, 300, deltaX=0, deltaY=-300)
    browser.wait_for(f"placeOf({one!r})[0] !== {before[0]!r}")
    assert distance(browser, one, other) > apart * 1.1
    browser.value("document.getElementById('all').click()")
    x, y = place(browser, one)
    browser.drag((x, y), (x + 60, y + 40))
    moved = place(browser, one)
    assert (round(moved[0] - x), round(moved[1] - y)) == (60, 40)
    start = place(browser, other)
    bottom = browser.value("document.getElementById('picture').getBoundingClientRect().bottom")
    browser.drag((12, bottom - 12), (62, bottom - 72))
    assert (round(place(browser, other)[0] - start[0]), round(place(browser, other)[1] - start[1])) == (50, -60)


def distance(browser: Browser, one: str, other: str) -> float:
    (x1, y1), (x2, y2) = place(browser, one), place(browser, other)
    return float(((x1 - x2) ** 2 + (y1 - y2) ** 2) ** 0.5)


def test_places_are_apart_within_the_square_and_always_the_same() -> None:
    ids = [f"d{n}" for n in range(60)]
    joined = [(f"d{n}", f"d{(n * 7) % 40}") for n in range(40)]
    positions = lay_out(ids, joined)
    assert positions == lay_out(ids, joined)
    assert positions.keys() == set(ids)
    assert len(set(positions.values())) == len(ids)
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in positions.values())
    assert lay_out([], []) == {}
    assert lay_out(["one"], []) == {"one": (0.5, 0.5)}
