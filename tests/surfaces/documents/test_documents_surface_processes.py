"""Documents served by the real program, over stdio and over HTTP."""

import os
import sys
from pathlib import Path

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters

from mcp import Client
from tests.cli.conftest import Run, run
from tests.mcp.http.http_server import HttpClient, HttpServer
from tests.mcp.stdio.stdio_client import NEWER
from tests.sample_data import write_tree
from tests.surfaces.documents.conftest import LISTED
from tests.surfaces.documents.documents_client import NOT_FOUND, Reader, index

__all__ = ["run"]


@pytest.mark.anyio
async def test_a_folder_is_served_over_stdio_from_the_first_call_on(unindexed: Path, mode: str) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "dowse", "docs", str(unindexed)], env=dict(os.environ)
    )
    async with Client(server, mode=mode) as client:
        reader = Reader(client)
        assert client.server_capabilities.resources
        assert client.server_capabilities.resources.list_changed
        assert client.server_capabilities.prompts is None
        assert await reader.found_uris("rootstock") == ["docs://guide/grafting.html"]
        assert await reader.uris() == LISTED
        assert (await reader.read("docs://memo.txt")).startswith("Buy secateurs")
        assert (await reader.read_error("docs://.env"))[0] == NOT_FOUND[mode]
        write_tree(unindexed, {"new.md": "# Medlar\n"})
        with anyio.fail_after(60):
            while not (found := await reader.search("medlar"))["coverage"]["complete"]:
                await anyio.sleep(0.1)  # a busy machine may take a while, but must not hide it
        assert [one["uri"] for one in found["results"]] == ["docs://new.md"]


def test_only_code_can_be_served_and_then_not_to_the_public(notes: Path, run: Run) -> None:
    with HttpServer(notes, options=("--only", "code")) as server:
        client = HttpClient(server, NEWER)
        assert "resources" not in client.call("server/discover")["result"]["capabilities"]
        assert client.call("resources/list")["error"]["code"] == -32601
    refused = run("serve", notes, "--only", "code", "--public", "--http", "127.0.0.1:0")
    assert (refused.code, "--public offers only documents and sites" in refused.err) == (2, True)


@pytest.mark.anyio
async def test_an_index_that_is_deleted_under_a_server_is_made_again(notes: Path) -> None:
    from dowse.indexes.project_lookup import forget_project

    index(notes)
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "dowse", "docs", str(notes)], env=dict(os.environ)
    )
    async with Client(server) as client:
        reader = Reader(client)
        assert await reader.found_uris("rootstock") == ["docs://guide/grafting.html"]
        forget_project(notes)
        assert await reader.uris() == LISTED
        assert await reader.found_uris("rootstock") == ["docs://guide/grafting.html"]
