"""Five tasks for somebody who does not know the project: each with the mouse and the keyboard, and without a terminal."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Browser
from tests.mcp.http.http_server import HttpServer
from tests.page.conftest import get
from tests.page.test_page_app_browser import HITS, open_page, search
from tests.sample_data import index, write_tree
from tests.searching.history.repositories import Change, git, make_repository

SETTINGS = 'import os\n\nFREE_DELIVERY_FROM = int(os.environ.get("FREE_DELIVERY_FROM", {limit}))\n"""Orders of this value cost no postage."""\n'
SHIPPING = (
    "from shop.settings import FREE_DELIVERY_FROM\n\n\ndef postage(order):\n"
    '    """Return what the delivery of an order costs."""\n    return 0 if order.value >= FREE_DELIVERY_FROM else 5\n'
)
FILES = {
    "shop/__init__.py": "",
    "shop/settings.py": SETTINGS.format(limit=50),
    "shop/shipping.py": SHIPPING,
    "shop/checkout.py": "from shop.shipping import postage\n\n\ndef total_of(order):\n    return order.value + postage(order)\n",
    "shop/basket.py": "def add_to_basket(basket, fruit):\n    basket.append(fruit)\n    return basket\n",
    "docs/delivery.md": "## When delivery is free\n\n| value of the order | postage |\n|---|---|\n| below 50 | 5 |\n| 50 or more | free |\n",
    "README.md": "# Shop\n\nSells fruit.\n",
}
COMMITS = [
    Change("Begin", {**FILES, "shop/settings.py": SETTINGS.format(limit=30)}, time=1_700_000_000),
    Change(
        "Deliver for nothing from 50 on\n\nThe post has become more expensive.",
        {"shop/settings.py": SETTINGS.format(limit=50)},
        time=1_710_000_000,
    ),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    home = tmp_path_factory.mktemp("stranger")
    root = make_repository(home / "shop", COMMITS)
    git(root, "checkout", "-q", "-f", "main")
    write_tree(home / "dowse", {"config.json": '{"encoder": "none", "editor": "idea"}'})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOWSE_HOME", str(home / "dowse"))
        index(root)
    with HttpServer(root, home=home, options=("--tools", "minimal")) as server:
        get(server, "/results?q=postage")
        yield server


@pytest.fixture
def browser(started: Browser) -> Browser:
    started.look_like(1400, 900)
    return started


def click_link(browser: Browser, selector: str, text: str = "") -> None:
    """Click the first link of a selector that has a text, as soon as there is one."""
    found = f"[...document.querySelectorAll({selector!r})].find((one) => one.textContent.includes({text!r}))"
    browser.wait_for(f"{found} !== undefined")
    browser.value(f"{found}.click()")


def click_name(browser: Browser, name: str) -> None:
    """Click a name in the text of a file."""
    browser.wait_for("document.querySelector('.code') !== null && document.readyState === 'complete'")
    place = browser.value(
        f"""(() => {{
          const walker = document.createTreeWalker(document.querySelector('.code'), NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {{
            const at = walker.currentNode.data.search(new RegExp('\\\\b{name}\\\\b'));
            if (at < 0 || walker.currentNode.parentElement.closest('.nums, .s, .c')) continue;
            const range = document.createRange();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + {len(name)});
            const box = range.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
          }}
        }})()"""
    )
    browser.click(*place)


def test_find_where_a_setting_is_read(browser: Browser, shop: HttpServer) -> None:
    open_page(browser, shop)
    search(browser, "FREE_DELIVERY_FROM environ")
    assert browser.value(HITS)[0] == "shop/settings.py"
    browser.press("Enter")
    browser.wait_for("location.pathname === '/read' && document.querySelector('.code') !== null")
    assert "os.environ.get" in browser.value("document.querySelector('.code').textContent")
    browser.value("document.activeElement.blur()")
    browser.type("t")
    browser.wait_for("document.getElementById('finder')?.open")
    browser.type("postg")
    browser.wait_for("document.querySelector('#finder a')?.textContent.includes('postage')")
    browser.press("Enter")
    browser.wait_for("location.search.includes('shipping.py') && location.hash === '#L4'")


def test_see_who_calls_a_function(browser: Browser, shop: HttpServer) -> None:
    open_page(browser, shop, "/read?id=project/shop/shop/shipping.py")
    click_name(browser, "postage")
    browser.wait_for("document.querySelector('#symbol .by b')?.textContent === 'total_of'")
    assert "shop/shipping.py:4" in browser.value("document.getElementById('symbol').textContent")
    click_link(browser, "#symbol .places a", "shop/checkout.py")
    browser.wait_for("location.search.includes('checkout.py')")
    browser.wait_for("document.querySelector('.side')?.textContent.includes('Related files')")


def test_learn_when_it_changed_and_why(browser: Browser, shop: HttpServer) -> None:
    open_page(browser, shop, "/read?id=project/shop/shop/settings.py")
    click_link(browser, ".tools a", "History")
    click_link(browser, ".commits a", "Deliver for nothing from 50 on")
    browser.wait_for("location.pathname === '/commit' && document.querySelector('.removed') !== null")
    text = browser.value("document.querySelector('main').textContent")
    assert "The post has become more expensive." in text
    assert '"FREE_DELIVERY_FROM", 30' in browser.value("document.querySelector('.removed').textContent")
    assert '"FREE_DELIVERY_FROM", 50' in browser.value("document.querySelector('.added').textContent")


def test_find_the_document_that_explains_it(browser: Browser, shop: HttpServer) -> None:
    open_page(browser, shop)
    search(browser, "when is delivery free")
    click_link(browser, ".facets a", "Documents")
    browser.wait_for("document.getElementById('q').value === 'when is delivery free kind:docs'")
    browser.wait_for("document.querySelector('.hit .rendered td') !== null")
    assert browser.value("document.querySelector('.hit h2').textContent") == "When delivery is free"
    browser.value("document.querySelector('.hit h2 a').click()")
    browser.wait_for("document.querySelector('article.rendered td') !== null")


def test_open_it_in_the_editor(browser: Browser, shop: HttpServer) -> None:
    open_page(browser, shop, "/read?id=project/shop/shop/settings.py")
    browser.wait_for("document.querySelector('.nums') !== null")
    place = browser.value(
        "(() => { const box = document.querySelector('.nums').getBoundingClientRect(); return [box.left + 5, box.top + 45]; })()"
    )
    browser.click(*place)
    browser.wait_for("location.hash === '#L3'")
    root = Path(shop.roots[0])
    assert browser.value("document.getElementById('editor').href") == f"idea://open?file={root}/shop/settings.py&line=3"
