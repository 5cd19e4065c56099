"""`dowse site`, run as a command."""

import os
import sys
from pathlib import Path

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters

from mcp import Client
from tests.cli.conftest import Run, run, start
from tests.sites.sample_sites import encoded, index, write_index
from tests.sites.sites_client import Reader

__all__ = ["run", "start"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_index(tmp_path / "search-index.json")


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


def test_a_check_of_a_large_index_with_many_problems_ends(run: Run, tmp_path: Path) -> None:
    pages = [{"url": f"{n}/", "title": ""} for n in range(5000)]
    (tmp_path / "i.json").write_bytes(encoded(index(*pages)))
    done = run("site", "check", tmp_path / "i.json")
    assert done.code == 1
    assert len(done.out.splitlines()) == 15_001
