"""Servers with a page, and the files they serve."""

import html
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.archives.sample_archives import captured_page, make_archives
from tests.browser import Browser
from tests.mcp.http.http_server import HttpServer, Reply
from tests.mcp.stdio.stdio_client import wait_until
from tests.sample_data import index, write_tree
from tests.searching.test_search import hostile_strings

TOKEN = "correct-horse-battery-staple"
SCRIPT = "<script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"
LONG_FILE = "".join(
    f"def step_{number}(basket):\n    # quince {number}\n    return basket + [{number}]\n\n\n" for number in range(200)
)
FILES: dict[str, str | bytes] = {
    "pyproject.toml": "[project]\nname = 'fruit'\n",
    "src/apple.py": 'def peel_apple(knife):\n    """Peel an apple with a knife."""\n    return f"red {knife}"\n',
    "src/steps.py": LONG_FILE,
    "src/plum.py": 'def plum():\n    """Return nothing.\n\n    for while bullace\n    """\n    return None\n',
    "src/evil.py": f'"""Juniper. {SCRIPT}"""\n\nJUNIPER = "{SCRIPT[:20]}"\n',
    "src/secret.py": 'mulberry = 1\naws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY"\n',
    "docs/guide.md": "# Guide\n\nPeel an apple, see [the knife](knife.md#edge) and [nothing](gone.md).\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n\n```python\nx = 1\n```\n",
    "docs/knife.md": f"# Knife\n\n## Edge\n\nSharp. {SCRIPT}\n\n[run](javascript:alert(1)) [go](https://example.org/)\n"
    "![picture](https://example.org/x.png)\n\n<svg onload=\"document.title='broken'\"></svg>\n",
    "docs/copy2.md": "# Knife\n\nThe same.\n",
    "docs/pears.md": "## Pears\n\n<!-- nobody\nreads this -->\n\n![A pear](img/pear.png)\n\nRipe *pears* are soft.\n",
    "docs/img/pear.png": b"\x89PNG\r\n\x1a\n" + bytes(40),
    "docs/img/fake.png": "hunter2 is no picture",
    "docs/img/secret.png": b"\x89PNG\r\n\x1a\nhunter2",
    ".gitignore": "docs/img/secret.png\n",
    "README.md": "# Fruit\n\nHow to peel it: [guide](docs/guide.md).\n",
    "src/pie.py": "from src.apple import peel_apple\n\n\ndef bake():\n    return peel_apple('x')\n",
    "docs/page.html": "<title>Page</title><h1>Page</h1><script>document.title='broken'</script><p>Medlar</p>",
    ".env": "TOKEN=hunter2\n",
    "id_rsa": "hunter2\n",
}


def write_hostile_files(root: Path) -> None:
    """Write files with hostile strings as their contents, titles and names."""
    strings = [text for text in hostile_strings() if len(text) < 1000]
    body = "\n\n".join(f"persimmon {text}" for text in strings)
    write_tree(root / "hostile", {"all.md": f"# All\n\n{body}\n", "all.py": f"# persimmon\n{body}\n"})
    for number, text in enumerate(strings[:40]):
        name = text.replace("/", "_").replace("\0", "_").encode("utf-8", "replace")[:150].decode(errors="ignore")
        write_tree(root / "hostile", {f"{name.strip(' .') or 'x'} {number}.md": f"# {text[:100]}\n\nA persimmon.\n"})


@pytest.fixture(scope="session")
def fruit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with hostile files, indexed, and archives beside it."""
    folder = tmp_path_factory.mktemp("page")
    root = write_tree(folder / "fruit", FILES)
    write_hostile_files(root)
    make_archives(
        folder,
        {"one.md": "# First report\n\nSee [the page](https://example.com/p). Aardvarks.\n", "two.md": "# Second\n\n[a](one.md) [b](gone.md)\n"},
        {"1f": captured_page("https://example.com/p", f"The page {SCRIPT}", "Gradient descent.\n")},
    )  # fmt: skip
    write_tree(folder / "dowse", {"config.json": '{"encoder": "none"}'})  # its model takes more time than all tests
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOWSE_HOME", str(folder / "dowse"))
        index(root)
    return root


@pytest.fixture(scope="package")
def page(fruit: Path) -> Iterator[HttpServer]:
    """A server on this machine, with a project, its documents, archives and a named index."""
    with pytest.MonkeyPatch.context() as patch:  # for the server alone: the fixture outlives the tests of the page
        patch.setenv("RESEARCH_ARCHIVE_PATH", str(fruit.parent / "research-archive"))
        patch.setenv("URL_CONTENT_ARCHIVE_PATH", str(fruit.parent / "url-content-archive"))
        patch.setenv("SEARCH_DB_PATH", str(fruit.parent / "search.db"))
        server = HttpServer(fruit, home=fruit.parent)
    with server:
        get(server, "/results?q=apple&source=documents")
        get(server, "/results?q=report&source=archive")
        wait_until(lambda: b"First report" in get(server, "/results?q=report&source=archive").body)
        wait_until(
            lambda: b"ready" in get(server, "/status").body and b"not indexed" not in get(server, "/status").body
        )
        yield server
        assert "Traceback" not in server.stderr


@pytest.fixture(scope="package")
def guarded(fruit: Path) -> Iterator[HttpServer]:
    """A server that other machines can reach, with a token."""
    with HttpServer(fruit, options=("--http", "0.0.0.0:0", "--allow-remote"), home=fruit.parent, token=TOKEN) as server:
        yield server


@pytest.fixture(scope="module")
def started() -> Iterator[Browser]:
    """A browser."""
    with Browser() as browser:
        yield browser


def get(server: HttpServer, path: str, **headers: str) -> Reply:
    return server.send_request("GET", path, **{"Accept": "text/html", **headers})


def post(server: HttpServer, path: str, fields: dict[str, str], **headers: str) -> Reply:
    from urllib.parse import urlencode

    kind = {"Content_Type": "application/x-www-form-urlencoded", "Origin": f"http://{server.name}"}
    return server.send_request("POST", path, urlencode(fields).encode(), **{**kind, **headers})


def shown(reply: Reply) -> str:
    """Return a page as text, unescaped."""
    return html.unescape(reply.body.decode())
