"""`dowse site`, run as a command."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters

from mcp import Client
from tests.cli.conftest import Run, run, start
from tests.sample_data import write_tree
from tests.sites.sample_sites import encoded, index, write_index
from tests.sites.sites_client import Reader

__all__ = ["run", "start"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_index(tmp_path / "search-index.json")


# check


def test_a_good_index_passes(run: Run, file: Path) -> None:
    done = run("site", "check", file, "--strict")
    assert (done.code, done.err) == (0, "")
    assert "4 pages, no problems" in done.out


def test_every_problem_is_printed_with_its_place_and_remedy(run: Run, tmp_path: Path) -> None:
    file = write_index(tmp_path / "i.json", {"url": "a/", "title": "A"}, pageCount=2)
    done = run("site", "check", file)
    assert done.code == 1
    assert "error pages.0.url: 'a/' does not begin with a slash. Write '/a'." in done.out
    assert "warning pages.0.body: the page has no text." in done.out
    assert "error pageCount: it is 2, but there are 1 pages." in done.out
    assert done.out.splitlines()[-1].endswith("1 page, 2 errors and 1 warning")


def test_warnings_are_errors_where_that_is_wanted(run: Run, tmp_path: Path) -> None:
    file = write_index(tmp_path / "i.json", {"url": "/a", "title": "A"})
    assert run("site", "check", file).code == 0
    assert run("site", "check", file, "--strict").code == 1


# build


def test_a_site_is_built_and_checked(run: Run, tmp_path: Path) -> None:
    write_tree(tmp_path / "docs", {"index.md": "# Home\n\nWords.", "draft.md": "---\ndraft: true\n---\nx"})
    target = tmp_path / "index.json"
    done = run("site", "build", tmp_path / "docs", "-o", target, "--name", "Docs", "--domain", "docs.example")
    assert done.code == 0, done.err
    assert "1 page of Docs (markdown)" in done.out
    assert "left out 1 file: it is a draft (draft.md)" in done.err
    assert run("site", "check", "--strict", target).code == 0
    assert json.loads(target.read_text(encoding="utf-8"))["pages"][0]["title"] == "Home"


# serve


def test_a_site_is_served_over_stdio(file: Path) -> None:
    async def conversation() -> None:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "dowse", "site", "serve", f"pears={file}"],
            env={name: os.environ[name] for name in ("PATH", "HOME", "DOWSE_HOME", "PYTHONPATH") if name in os.environ},
        )
        async with Client(server) as client:
            reader = Reader(client)
            assert list(await reader.tools()) == ["search_pears", "get_article", "get_index_info"]
            content, _ = await reader.call_tool("search_pears", query="ripen")
            assert content["results"][0]["path"] == "/posts/storing-pears"

    anyio.run(conversation)


@pytest.fixture
def address(file: Path) -> Iterator[str]:
    """A public HTTP server of the site."""
    command = [sys.executable, "-m", "dowse", "site", "serve", str(file), "--http", "127.0.0.1:0", "--public"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr
    try:
        for line in server.stderr:
            if found := re.search(r"serving fruit at (http://\S+)/mcp", line):
                yield found[1]
                break
    finally:
        server.terminate()
        server.communicate(timeout=30)


def test_a_site_is_served_to_anybody_over_http(address: str, file: Path) -> None:
    async def conversation() -> None:
        async with Client(f"{address}/mcp") as client:
            content, _ = await Reader(client).call_tool("search_fruit", query="ripen")
            assert content["results"][0]["url"] == "https://fruit.example/posts/storing-pears"

    anyio.run(conversation)
    with urllib.request.urlopen(f"{address}/health", timeout=30) as reply:
        health = json.load(reply)
    assert health["status"] == "ok"
    assert health["sources"] == [{"name": "fruit", "status": "ok", "problem": None}]


def test_a_check_of_a_large_index_with_many_problems_ends(run: Run, tmp_path: Path) -> None:
    pages = [{"url": f"{n}/", "title": ""} for n in range(5000)]
    (tmp_path / "i.json").write_bytes(encoded(index(*pages)))
    done = run("site", "check", tmp_path / "i.json")
    assert done.code == 1
    assert len(done.out.splitlines()) == 15_001
