"""A client for a server of sites."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
from jsonschema import Draft202012Validator
from mcp_types import CallToolResult, TextContent

from dowse.cli.composition import ComposedServer, Offer
from dowse.mcp.replies import BUDGET_TOKENS
from dowse.surfaces.sites.sites_surface import open_sites
from tests.surfaces.project.project_client import Assistant, connect_to

Result = TypeVar("Result")


class Reader(Assistant):
    """A connected client."""

    async def call_tool(self, tool: str, /, **arguments: Any) -> tuple[dict[str, Any], str]:  # type: ignore[override]
        """Call a tool; return the content, checked against its schema, and the text of the reply."""
        result = await self.client.call_tool(tool, arguments)
        content, text = content_and_text(result)
        assert not result.is_error, content
        Draft202012Validator((await self.tools())[tool].output_schema).validate(content)
        return content, text

    async def expect_error(self, tool: str, /, **arguments: Any) -> str:  # type: ignore[override]
        """Call a tool that has to fail; return the message for the user."""
        result = await self.client.call_tool(tool, arguments)
        content, _ = content_and_text(result)
        assert result.is_error, content
        return str(content["userMessage"])


def content_and_text(result: CallToolResult) -> tuple[dict[str, Any], str]:
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert isinstance(result.structured_content, dict)
    assert result.model_dump_json(by_alias=True)
    return dict(result.structured_content), block.text


@asynccontextmanager
async def connect(*locations: Path | str, mode: str = "auto", budget: int = BUDGET_TOKENS) -> AsyncIterator[Reader]:
    """Connect a client to a server of the sites at these locations."""
    offer = Offer(("site",), budget_tokens=budget)
    server = ComposedServer(None, Path.cwd(), offer, open_sites([str(location) for location in locations]))
    async with connect_to(server.server, mode) as client:
        yield Reader(client)


def run_conversation(
    conversation: Callable[[Reader], Awaitable[Result]], *locations: Path | str, **options: Any
) -> Result:
    """Run a conversation with a server of the sites at these locations."""

    async def run() -> Result:
        async with connect(*locations, **options) as reader:
            return await conversation(reader)

    return anyio.run(run)
