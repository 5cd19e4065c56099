"""The page while an index grows: it says how far it is, searches all files, and renews what it shows."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.notes.notes_documents import make_note
from dowse.notes.registry import NotesRegistry
from tests.browser import Browser
from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import wait_until
from tests.page.test_page_app_browser import HITS, open_page, search, workers_of
from tests.sample_data import index, write_tree

FRUITS = ["apple", "pear", "cherry", "quince", "medlar", "sloe", "fig", "date", "lemon", "orange", "grape", "melon"]
FILES = {
    f"{fruit}.py": f'def eat_{fruit}(plum):\n    """Eat {fruit} number {n} after a plum."""\n    return plum + {fruit!r}\n'
    for n, fruit in enumerate(FRUITS)
}
BODY = "document.body.textContent"
NEWS = "document.getElementById('news').textContent"
GROWTH = "document.querySelector('.growth[data-live]')"


@contextlib.contextmanager
def serving_unindexed(root: Path, home: Path) -> Iterator[tuple[HttpServer, int]]:
    """Serve a project as `dowse open` does; the process that indexes it is stopped until it gets SIGCONT."""
    with HttpServer(root, home=home, options=("--tools", "minimal")) as server:
        wait_until(lambda: workers_of(server))
        (worker,) = workers_of(server)
        os.kill(worker, signal.SIGSTOP)
        yield server, worker
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGCONT)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a note: of three sources, each is first asked for a share of the results."""
    write_tree(tmp_path / "dowse", {"config.json": '{"encoder": "none"}'})
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path / "dowse"))
    with contextlib.closing(NotesRegistry()) as library:
        library.create("shelf", "disk")
        library.use("shelf", lambda index: index.add([make_note("jam", "A jar of jam.")]))
    return tmp_path


def test_a_new_project_is_searched_while_it_is_indexed_and_its_results_renew_themselves(
    started: Browser, home: Path
) -> None:
    started.look_like()
    with serving_unindexed(write_tree(home / "plum", FILES), home) as (server, worker):
        open_page(started, server)
        started.wait_for(f"{BODY}.includes('being indexed')")
        assert "dowse index" not in started.value(BODY)
        search(started, "plum")
        started.wait_for(f"{GROWTH} !== null && document.querySelectorAll('.hit').length === 6")
        assert "results so far" in started.value("document.querySelector('.summary').textContent")
        started.value("window.isSame = true")
        os.kill(worker, signal.SIGCONT)
        started.wait_for(f"{GROWTH} === null && document.querySelectorAll('.hit').length === 10")
        # The last file may be reported after its results; that they are the same then is no news.
        assert started.value(NEWS) in ("4 new results", "The results have a new order", "All files are indexed")
        assert started.value("window.isSame && document.activeElement.id") == "q"
        assert "so far" not in started.value("document.querySelector('.summary').textContent")


def test_results_do_not_change_under_the_eyes_of_a_reader(started: Browser, home: Path) -> None:
    started.look_like()
    with serving_unindexed(write_tree(home / "plum", FILES), home) as (server, worker):
        open_page(started, server, "/?q=plum")
        assert len(before := started.value(HITS)) == 6
        started.press("ArrowDown")
        os.kill(worker, signal.SIGCONT)
        started.wait_for(f"{NEWS} === '4 new results Show'")
        assert started.value(HITS) == before
        assert started.value("document.activeElement.title") == before[0]
        started.wait_for(f"{GROWTH} === null")  # the last file may be reported after its results
        started.value("document.querySelector('#news button').click()")
        assert len(started.value(HITS)) == 10
        assert started.value("document.activeElement.id") == "q"
        assert started.value(NEWS) == ""


def test_the_home_follows_an_index_and_keeps_the_focus(started: Browser, home: Path) -> None:
    started.look_like()
    with serving_unindexed(write_tree(home / "plum", FILES), home) as (server, worker):
        open_page(started, server)
        started.wait_for("document.querySelectorAll('.overview progress').length === 1")
        started.value("document.querySelector('.overview a').focus()")
        os.kill(worker, signal.SIGCONT)
        started.wait_for(f"{NEWS} === 'All files are indexed'")
        assert "12 files" in started.value(BODY)
        assert started.value("document.activeElement.textContent") == "plum"


def test_the_results_of_an_indexed_project_do_not_wait_for_its_documents(
    started: Browser, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(home / "plum", {**FILES, "plum.md": "# Plum\n\nA plum has a stone.\n"})
    monkeypatch.setenv("DOWSE_HOME", str(home / "dowse"))
    index(root)
    started.look_like()
    with serving_unindexed(root, home) as (server, worker):
        open_page(started, server, "/?q=plum")
        assert "plum: being indexed" in started.value(BODY)
        os.kill(worker, signal.SIGCONT)
        started.wait_for(f"{GROWTH} === null")
