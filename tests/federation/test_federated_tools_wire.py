"""The same over real stdio and real HTTP, from a dowse.toml."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters

from mcp import Client
from tests.federation.federated_server import make_app, site_file
from tests.http.http_server import HttpServer
from tests.surfaces.project.project_client import Assistant

MINIMAL = {"search", "fetch", "get_index_status"}


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a dowse.toml that names documents and a site."""
    root = make_app(tmp_path)
    site_file(root)
    (root / "dowse.toml").write_text("tools = 'minimal'\nsites = ['site.json']\n", encoding="utf-8")
    monkeypatch.chdir(root)
    return root


async def found_and_fetched(client: Client) -> tuple[set[str], dict[str, Any], dict[str, Any]]:
    assistant = Assistant(client)
    found = await assistant.tell("search", query="quince guide")
    return set(await assistant.tools()), found, await assistant.tell("fetch", id=found["results"][0]["id"])


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
            return await found_and_fetched(client)

    check(*anyio.run(conversation))


def test_over_http(configured: Path) -> None:
    with HttpServer() as server:

        async def conversation() -> tuple[set[str], dict[str, Any], dict[str, Any]]:
            async with Client(server.url) as client:
                return await found_and_fetched(client)

        check(*anyio.run(conversation))
