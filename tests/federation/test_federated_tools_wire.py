"""Servers of the working directory: over stdio with a site, and over HTTP."""

import os
import sys
from pathlib import Path

from mcp.client.stdio import StdioServerParameters

from tests.federation.federated_server import make_app, write_site_index
from tests.http.http_server import HttpClient, HttpServer
from tests.mcp.stdio.stdio_client import NEWER
from tests.surfaces.project.project_client import Assistant, run_conversation_over_stdio


def test_over_stdio(tmp_path: Path) -> None:
    root = make_app(tmp_path)
    write_site_index(root)
    options = ["--tools", "minimal", "--site", "site.json"]
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "dowse", "serve", *options], cwd=str(root), env=dict(os.environ)
    )

    async def conversation(assistant: Assistant) -> None:
        assert set(await assistant.tools()) == {"search", "fetch", "get_index_status"}
        found = await assistant.call_tool("search", query="quince guide")
        assert found["results"][0]["path"] == "guide.md"
        assert set(found["metadata"]["searched"]) >= {"documents/app", "site/fruit", "index/default"}
        whole = await assistant.call_tool("fetch", id=found["results"][0]["id"])
        assert whole["text"] == "# Quince guide\n\nHow to peel a quince with a knife.\n"

    run_conversation_over_stdio(server, conversation)


def test_over_http(tmp_path: Path) -> None:
    root = make_app(tmp_path)
    with HttpServer(cwd=root) as server:
        assert HttpClient(server, NEWER).call_tool("get_index_status")["projectPath"] == str(root)
