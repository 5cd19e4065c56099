"""Federated search over real stdio and real HTTP, configured by a dowse.toml."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters

from mcp import Client
from tests.federation.federated_server import make_app, write_site_index
from tests.http.http_server import HttpServer
from tests.surfaces.project.project_client import Assistant

MINIMAL = {"search", "fetch", "get_index_status"}


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a dowse.toml that names documents and a site."""
    root = make_app(tmp_path)
    write_site_index(root)
    (root / "dowse.toml").write_text("tools = 'minimal'\nsites = ['site.json']\n", encoding="utf-8")
    monkeypatch.chdir(root)
    return root


async def search_and_fetch(client: Client) -> tuple[set[str], dict[str, Any], dict[str, Any]]:
    assistant = Assistant(client)
    found = await assistant.call_tool("search", query="quince guide")
    return set(await assistant.tools()), found, await assistant.call_tool("fetch", id=found["results"][0]["id"])


def check(names: set[str], found: dict[str, Any], whole: dict[str, Any]) -> None:
    assert names == MINIMAL
    assert found["results"][0]["path"] == "guide.md"
    assert set(found["metadata"]["searched"]) >= {"documents/app", "site/fruit", "index/default"}
    assert whole["text"] == "# Quince guide\n\nHow to peel a quince with a knife.\n"


def test_over_stdio(configured: Path) -> None:
    import os

    server = StdioServerParameters(
        command=sys.executable, args=["-m", "dowse", "serve"], cwd=str(configured), env=dict(os.environ)
    )

    async def conversation() -> tuple[set[str], dict[str, Any], dict[str, Any]]:
        async with Client(server) as client:
            return await search_and_fetch(client)

    check(*anyio.run(conversation))


def test_over_http(configured: Path) -> None:
    with HttpServer() as server:

        async def conversation() -> tuple[set[str], dict[str, Any], dict[str, Any]]:
            async with Client(server.url) as client:
                return await search_and_fetch(client)

        check(*anyio.run(conversation))
