"""A client that lists, reads and searches the documents of a server, and validates the replies."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
from jsonschema import Draft202012Validator
from mcp_types import Resource, TextContent, TextResourceContents

from dowse.cli.composition import ComposedServer, Offer
from dowse.keeping.served_index import Service
from dowse.mcp.replies import BUDGET_TOKENS
from dowse.mcp.tools import Level, Surface
from dowse.types import View
from mcp import Client, MCPError
from tests import sample_data
from tests.surfaces.project.project_client import connect_to

Result = TypeVar("Result")
Reply = dict[str, Any]

NOT_FOUND = {"legacy": -32002, "auto": -32602}
"""The error code of a missing resource in each revision."""


class Reader:
    """A connected client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def list_page(self, cursor: str | None = None) -> tuple[list[Resource], str | None]:
        """Return a page of the resource list, bypassing the client's cache."""
        listed = await self.client.list_resources(cursor=cursor, cache_mode="bypass")
        return list(listed.resources), listed.next_cursor

    async def list_all(self) -> list[Resource]:
        """Return the resources of all pages."""
        found, cursor = await self.list_page()
        while cursor:
            more, cursor = await self.list_page(cursor)
            found += more
        return found

    async def uris(self) -> list[str]:
        """Return the URIs of all resources."""
        return [str(resource.uri) for resource in await self.list_all()]

    async def read(self, uri: str) -> str:
        """Return the text of a resource, which is a single one with the requested URI."""
        (content,) = (await self.client.read_resource(uri, cache_mode="bypass")).contents
        assert isinstance(content, TextResourceContents)
        assert str(content.uri) == uri
        return content.text

    async def read_error(self, uri: str) -> tuple[int, str]:
        """Read a resource that cannot be read; return the code and the message of the error."""
        try:
            read = await self.client.read_resource(uri, cache_mode="bypass")
        except MCPError as error:
            return error.error.code, error.error.message
        raise AssertionError(f"{uri} was read: {read}")

    async def search(self, query: str, **options: Any) -> Reply:
        """Search and return the structured content."""
        return (await self.search_with_text(query, **options))[1]

    async def found_uris(self, query: str, **options: Any) -> list[str]:
        """Search and return the URIs of the hits."""
        return [one["uri"] for one in (await self.search(query, **options))["results"]]

    async def search_with_text(self, query: str, **options: Any) -> tuple[str, Reply]:
        """Search and return the text and the structured content."""
        return await self.call_with_text("search_documents", query=query, **options)

    async def call_tool(self, tool: str, **arguments: Any) -> Reply:
        """Call a tool and return the structured content of its reply."""
        return (await self.call_with_text(tool, **arguments))[1]

    async def call_with_text(self, tool: str, **arguments: Any) -> tuple[str, Reply]:
        """Call a tool and return the text and the content of its reply, which is valid and no error."""
        result = await self.client.call_tool(tool, arguments)
        (block,) = result.content
        assert isinstance(block, TextContent)
        assert not result.is_error, block.text
        (schema,) = [one.output_schema for one in (await self.client.list_tools()).tools if one.name == tool]
        Draft202012Validator(schema).validate(result.structured_content)
        return block.text, dict(result.structured_content or {})

    async def expect_error(self, tool: str, **arguments: Any) -> str:
        """Call a tool that has to fail; return the message for the user."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        return str((result.structured_content or {})["userMessage"])


@asynccontextmanager
async def connect(
    mode: str,
    *roots: Path,
    surfaces: tuple[Surface, ...] = ("documents",),
    level: Level = "standard",
    budget_tokens: int = BUDGET_TOKENS,
    **client: Any,
) -> AsyncIterator[Reader]:
    """Connect a client to a server of some folders."""
    server = ComposedServer(Service(list(roots)), Path("/"), Offer(surfaces, level, budget_tokens))
    async with connect_to(server.server, mode, **client) as connected:
        yield Reader(connected)


def run_conversation(
    mode: str, conversation: Callable[[Reader], Awaitable[Result]], *roots: Path, **options: Any
) -> Result:
    """Run a conversation with a server of some folders."""

    async def run() -> Result:
        async with connect(mode, *roots, **options) as reader:
            return await conversation(reader)

    return anyio.run(run)


index = partial(sample_data.index, view=View.DOCUMENTS)
"""Index folders of documents in this process."""
