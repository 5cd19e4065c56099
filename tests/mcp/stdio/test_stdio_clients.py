"""The MCP SDK's client over real pipes, in both revisions of the protocol."""

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from mcp import Client
from tests.mcp.stdio.stdio_client import NEWER, OLDER
from tests.sample_data import index, write_tree

TOOLS = {
    "create_index", "search_code", "search_docs", "search_by_path", "get_index_status", "reindex_project",
    "reindex_file", "delete_index", "list_projects",
}  # fmt: skip


def run_conversation(
    conversation: Callable[[Client], Awaitable[None]], revision: str, *roots: Path, **options: Any
) -> None:
    """Run a conversation with a server process of some roots."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dowse", "serve", *map(str, roots)],
        env={name: os.environ[name] for name in ("HOME", "DOWSE_HOME", "SEMBLE_GRAMMARS_CACHE_DIR")},
    )

    async def run() -> None:
        async with Client(server, mode="legacy" if revision == OLDER else "auto", **options) as client:
            assert client.protocol_version == revision
            await conversation(client)

    anyio.run(run)


def content_of(result: CallToolResult) -> dict[str, Any]:
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def call_tool(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Return the reply of a successful call."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error
    return content_of(result)


def test_a_project_from_its_first_index_to_its_end(root: Path, revision: str) -> None:
    progress_values: list[float] = []

    async def record(progress: float, total: float | None, message: str | None) -> None:
        progress_values.append(progress)

    async def conversation(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} >= TOOLS
        with pytest.raises(MCPError, match="has one page"):
            await client.list_tools(cursor="another page")
        assert (await call_tool(client, "get_index_status"))["status"] == "not_found"
        await client.call_tool("create_index", progress_callback=record)
        assert progress_values[-1] == (await call_tool(client, "get_index_status"))["totalFiles"] == 3
        found = await call_tool(client, "search_code", query="peel_apple")
        assert [hit["path"] for hit in found["results"]] == ["src/apple.py"]
        assert (await call_tool(client, "delete_index", confirm=True))["status"] == "success"
        assert (await client.call_tool("search_code", {"query": "peel_apple"})).is_error

    run_conversation(conversation, revision, root)


def test_several_roots_in_one_server(indexed: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "nuts", {"crack.py": "def crack_walnut(): ...\n"})
    index(other)

    async def conversation(client: Client) -> None:
        found = await call_tool(client, "search_by_path", pattern="**/*.py")
        assert found["matches"] == ["fruit/src/apple.py", "nuts/crack.py"]
        found = await call_tool(client, "search_code", query="crack_walnut", project="nuts")
        assert [hit["path"] for hit in found["results"]] == ["nuts/crack.py"]

    run_conversation(conversation, NEWER, indexed, other)
