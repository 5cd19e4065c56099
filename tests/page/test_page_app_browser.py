"""The page in a real browser: typing, keys, reading, links, status; nothing foreign runs, and nothing leaves the machine."""

import contextlib
import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser import Browser
from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import wait_until
from tests.page.conftest import SCRIPT, TOKEN, get
from tests.page.screenshots import LOOKS, take_screenshot
from tests.parsing.child_processes import children_of
from tests.sample_data import write_tree

AXE = Path(sys.prefix, "node/node_modules/axe-core/axe.min.js")
STATE = "document.querySelector('.source-card h2 .about').textContent"
AXE_RULES = {
    "light": "",
    "dark": "{runOnly: ['color-contrast']}",
    "narrow": "{runOnly: ['target-size', 'scrollable-region-focusable']}",
}
"""All rules once, and those that depend on the look."""
HITS = "[...document.querySelectorAll('.hit h2 a')].map((one) => one.title)"
VIEWS = (
    "/", "/?q=apple&path=src/**", "/?q=nothing-like-this", "/read?id=project/fruit/src/apple.py",
    "/read?id=project/fruit/docs/guide.md", "/read?id=project/fruit/", "/status", "/nothing", "/history", "/find?q=apple", "/read?id=project/fruit/docs/pears.md",
    "/symbol?id=project/fruit/src/apple.py&name=peel_apple", "/read?id=project/fruit/src/apple.py&symbol=peel_apple",
)  # fmt: skip


@pytest.fixture
def browser(started: Browser, page: HttpServer) -> Iterator[Browser]:
    """The browser; after the test, nothing was asked of another machine and no policy was broken."""
    started.look_like()
    started.visit("about:blank")
    started.requests.clear()
    started.complaints.clear()
    yield started
    assert [url for url in started.requests if not url.startswith((f"http://{page.name}/", "about:"))] == []
    assert [complaint for complaint in started.complaints if "404 (Not Found)" not in complaint] == []


def open_page(browser: Browser, page: HttpServer, path: str = "/") -> None:
    browser.visit(f"http://{page.name}{path}")


def search(browser: Browser, text: str) -> None:
    """Type some text into the box and wait for its results."""
    browser.value("document.getElementById('q').select()")
    browser.type(text)
    browser.wait_for(f"new URLSearchParams(location.search).get('q') === {json.dumps(text)}")


def test_results_come_while_typing_and_the_address_holds_the_search(browser: Browser, page: HttpServer) -> None:
    open_page(browser, page)
    assert browser.value("document.activeElement.id") == "q"
    search(browser, "peel apple")
    assert "src/apple.py" in browser.value(HITS)
    assert browser.value("document.querySelector('.hit mark') !== null")
    browser.value("document.querySelector('.filters').open = true")
    browser.value(
        "(() => { const f = document.querySelector('[name=path]'); f.value = 'docs/**'; "
        "f.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    browser.wait_for("location.search.includes('path=docs')")
    assert "src/apple.py" not in browser.value(HITS)
    address, hits = browser.value("location.href"), browser.value(HITS)
    browser.visit(address)
    assert (browser.value(HITS), browser.value("document.getElementById('q').value")) == (hits, "peel apple")
    assert browser.value("document.querySelector('[name=path]').value") == "docs/**"
    browser.value("history.back()")
    browser.wait_for("!location.search.includes('path')")


def test_the_keyboard_is_enough_from_start_to_end(browser: Browser, page: HttpServer) -> None:
    open_page(browser, page, "/read?id=project/fruit/")
    browser.value("document.activeElement.blur()")
    browser.type("/")
    assert browser.value("document.activeElement.id") == "q"
    browser.type("apple")
    browser.press("Enter")
    browser.wait_for(
        "location.search === '?q=apple&mode=words' && document.activeElement.id === 'q' && document.readyState === 'complete'"
    )
    search(browser, "peel_apple")
    browser.press("ArrowDown")
    assert browser.value("document.activeElement.title") == browser.value(HITS)[0]
    browser.press("Escape")
    assert browser.value("document.activeElement.id") == "q"
    browser.press("ArrowDown")
    browser.press("Enter")
    browser.wait_for("location.pathname === '/read'")
    browser.wait_for("document.querySelector('.code, .rendered') !== null")
    browser.value("history.back()")
    browser.wait_for("location.pathname === '/' && document.activeElement.closest('.hit') !== null")
    assert browser.value("document.activeElement.title") == browser.value(HITS)[0]


def test_the_switch_is_remembered(browser: Browser, page: HttpServer) -> None:
    open_page(browser, page)
    browser.value("document.querySelector('[value=exact]').click()")
    search(browser, "def peel_apple")
    assert browser.value("location.search").endswith("mode=exact")
    assert browser.value(HITS) == ["src/apple.py"]
    open_page(browser, page)
    assert browser.value("document.querySelector('[name=mode]:checked').value") == "exact"
    open_page(browser, page, "/status")
    browser.value("document.getElementById('q').focus()")
    browser.type("def peel_apple")
    browser.press("Enter")
    browser.wait_for("location.pathname === '/' && location.search.endsWith('mode=exact')")
    browser.wait_for("document.readyState === 'complete'")
    browser.value("document.querySelector('[value=words]').click()")


def test_the_first_results_come_while_typing_and_all_in_a_pause(browser: Browser, page: HttpServer) -> None:
    typed = get(page, "/results?q=persimmon&typed=1").body
    assert b"+ results" in typed
    assert 3 < typed.count(b'class="hit"') <= 6
    open_page(browser, page)
    search(browser, "persimmon")
    browser.wait_for("document.querySelectorAll('.hit').length === 10")


def test_why_is_one_click_away(browser: Browser, page: HttpServer) -> None:
    open_page(browser, page, "/?q=peel_apple")
    browser.value("document.querySelector('.why').click()")
    browser.wait_for("document.querySelector('.reason .signals') !== null")
    assert "Place 1" in browser.value("document.querySelector('.reason').textContent")


def test_a_range_of_lines_is_marked_in_view_coloured_and_chosen_by_clicks(browser: Browser, page: HttpServer) -> None:
    open_page(browser, page, "/read?id=project/fruit/src/steps.py#L601-L605")
    browser.wait_for("document.querySelector('.chosen-lines') !== null")
    top = browser.value("document.querySelector('.chosen-lines').getBoundingClientRect().top")
    assert 0 < top < 800
    browser.wait_for("document.querySelector('[data-from=\"601\"] .k') !== null")
    assert browser.value("document.querySelector('[data-from=\"601\"] code').textContent").startswith(
        "def step_120(basket)"
    )
    browser.wait_for("document.querySelector('.side a[href=\"#L601\"]') !== null")
    place = browser.value(
        "(() => { const b = document.querySelector('[data-from=\"601\"] .nums').getBoundingClientRect(); return [b.left + 5, b.top + 45]; })()"
    )
    browser.click(*place)
    browser.wait_for("location.hash === '#L603'")


def test_the_outline_follows_the_reader_and_leads_to_uses_by_the_keyboard(browser: Browser, page: HttpServer) -> None:
    open_page(browser, page, "/read?id=project/fruit/src/steps.py")
    browser.wait_for("document.querySelectorAll('.outline li').length === 200")
    browser.value(
        "scrollTo(0, scrollY + document.querySelector('[data-from=\"201\"]').getBoundingClientRect().top "
        "- document.querySelector('.head').getBoundingClientRect().bottom + 12)"
    )
    browser.wait_for("document.getElementById('where').textContent === 'step_40 › line 202'")
    assert browser.value("document.querySelector('.outline [aria-current]').textContent") == "step_40"
    browser.value("document.querySelector('.outline a').focus()")
    browser.press("Tab")
    assert browser.value("document.activeElement.className") == "uses"
    browser.press("Enter")
    browser.wait_for("document.activeElement.tagName === 'H2' && document.activeElement.textContent === 'step_0'")
    assert "symbol=step_0" in browser.value("location.search")
    browser.press("Escape")
    assert browser.value("document.getElementById('symbol').hidden")


def test_documents_lead_to_each_other(browser: Browser, page: HttpServer) -> None:
    open_page(browser, page, "/read?id=project/fruit/docs/guide.md")
    browser.value("document.querySelector('.rendered a').click()")
    browser.wait_for("location.search.includes('knife.md') && location.hash === '#md-edge'")
    browser.wait_for(
        "document.querySelector('.side') && document.querySelector('.side').textContent.includes('Linked from')"
    )


def click_button(browser: Browser, label: str) -> None:
    """Press a button of the status as soon as it is there, and a yes."""
    found = f"[...document.querySelectorAll('button')].find((one) => one.textContent === '{label}')"
    browser.wait_for(f"{found} !== undefined")
    browser.value(f"{found}.click()")
    browser.wait_for("location.pathname === '/change' && document.readyState === 'complete'")
    browser.value("document.querySelector('form[action=\"/change\"] button').click()")
    browser.wait_for("location.pathname === '/status' && document.readyState === 'complete'")


def test_no_button_changes_anything_without_a_yes(browser: Browser, page: HttpServer) -> None:
    open_page(browser, page, "/status")
    browser.value("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Forget').click()")
    browser.wait_for("location.pathname === '/change' && document.readyState === 'complete'")
    assert "cannot be undone" in browser.value("document.body.textContent")
    browser.value("document.querySelector('main a.button').click()")
    browser.wait_for(f"location.pathname === '/status' && {STATE} === 'ready'")


def test_the_status_follows_a_run_without_being_loaded_again(started: Browser, tmp_path: Path) -> None:
    root = write_tree(tmp_path / "plum", {f"plum{n}.py": f"def stone_{n}():\n    return {n}\n" for n in range(30)})

    def stop_worker(sign: signal.Signals) -> int:
        """Send a signal to the process that indexes, as soon as there is one."""
        wait_until(lambda: workers_of(server))
        (worker,) = workers_of(server)
        os.kill(worker, sign)
        return worker

    started.look_like()
    with HttpServer(root, home=tmp_path) as server:
        open_page(started, server, "/status")
        assert started.value(STATE) == "not indexed"
        click_button(started, "Index")
        worker = stop_worker(signal.SIGSTOP)
        started.value("window.isSame = true")
        started.wait_for(f"{STATE} === 'being indexed' && document.querySelector('progress') !== null")
        os.kill(worker, signal.SIGCONT)
        started.wait_for(
            f"{STATE} === 'ready' && document.querySelector('.source-card').textContent.includes('30 files')"
        )
        assert started.value("window.isSame && document.querySelector('progress') === null")
        wait_until(lambda: workers_of(server) == [])
        click_button(started, "Re-index")
        stop_worker(signal.SIGKILL)
        started.wait_for("document.querySelector('.source-card .warning')?.textContent.includes('code -9')")
        if started.value(STATE) != "not indexed":  # it may have been killed when the old index was gone
            click_button(started, "Forget")
        started.wait_for(f"{STATE} === 'not indexed'")


def workers_of(server: HttpServer) -> list[int]:
    """Return the processes of a server that index."""
    found = []
    for child in children_of(server.process.pid):
        with contextlib.suppress(OSError):
            if b"indexing_worker" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def test_a_browser_signs_in_once_and_comes_to_what_it_asked_for(started: Browser, guarded: HttpServer) -> None:
    started.look_like()
    started.visit(f"http://127.0.0.1:{guarded.port}/?q=peel_apple")
    assert started.value("document.activeElement.id") == "token"
    started.type("not-the-token")
    started.press("Enter")
    started.wait_for("document.querySelector('[role=alert]') !== null")
    started.value("document.getElementById('token').focus()")
    started.type(TOKEN)
    started.press("Enter")
    started.wait_for("location.search === '?q=peel_apple' && document.querySelectorAll('.hit').length > 0")
    started.visit(f"http://127.0.0.1:{guarded.port}/status")
    started.wait_for(f"{STATE} === 'ready'")
    assert started.value("document.querySelectorAll('main button').length") == 0


def test_hostile_names_and_contents_are_text(browser: Browser, page: HttpServer) -> None:
    views = [
        "/?q=persimmon&limit=50", "/?q=persimmon&mode=exact&limit=50", f"/?q={quote(SCRIPT)}", "/read?id=project/fruit/src/evil.py",
        "/read?id=project/fruit/docs/knife.md", "/read?id=project/fruit/hostile/", "/read?id=project/fruit/hostile/all.md",
        "/read?id=project/fruit/hostile/all.py", "/read?id=project/fruit/docs/page.html?as=document",
    ]  # fmt: skip
    for view in views:
        open_page(browser, page, view)
        assert browser.value("document.title") != "broken", view
        assert (
            browser.value(
                "document.querySelectorAll('main img:not([src^=\"/picture\"]), main svg, main script:not([type]), main iframe').length"
            )
            == 0
        )
        assert browser.value("document.body.textContent.length") > 100


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.soak) if name == "dark" else name for name in LOOKS]
)
def test_every_view_fits_its_screen_and_can_be_read_by_everybody(
    browser: Browser, page: HttpServer, tmp_path: Path, name: str
) -> None:
    """Screenshots of all views are kept with the other files of the test."""
    look = LOOKS[name]
    browser.look_like(look.width, look.height, is_dark=look.is_dark)
    for number, view in enumerate(VIEWS):
        picture = take_screenshot(browser, f"http://{page.name}{view}")
        (tmp_path / f"{number}.webp").write_bytes(picture)
        assert picture[8:12] == b"WEBP"
        assert len(picture) > 2_000
        assert browser.value("document.documentElement.scrollWidth") <= look.width, view
        assert find_faults(browser, name) == [], view
    background = browser.value("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 24, 28)" if look.is_dark else "rgb(255, 255, 255)")


def find_faults(browser: Browser, look: str) -> list[object]:
    """Return what axe-core says is serious."""
    if not AXE.is_file():
        warnings.warn("NO AXE-CORE HERE: `make` installs it with npm, to have every view checked", stacklevel=2)
        return []
    browser.value(AXE.read_text(encoding="utf-8") + "; true")
    rules = AXE_RULES[look]
    found: list[object] = browser.value(
        f"axe.run({rules}).then((all) => all.violations.filter((one) => ['serious', 'critical'].includes(one.impact))"
        ".map((one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))]))"
    )
    return found


def test_a_search_is_a_small_page(browser: Browser, page: HttpServer) -> None:
    assets = sum(len(get(page, path).body) for path in ("/assets/page.js", "/assets/page.css", "/assets/icon.svg"))
    assert len(get(page, "/assets/page.js").body) <= 40_000
    assert assets + len(get(page, "/?q=peel+apple").body) < 150_000
