"""A client for tests: it lists, reads and searches the documents of a server, and holds replies against promises."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp_types import Resource, TextContent, TextResourceContents

from dowse.indexes.index import ProjectIndex
from dowse.keeping.service import Service
from dowse.mcp.reply_budget import BUDGET_TOKENS
from dowse.mcp.tools import Level, Surface
from dowse.server.composition import ComposedServer, Offer
from mcp import Client, MCPError

Got = TypeVar("Got")
Reply = dict[str, Any]

NOT_FOUND = {"legacy": -32002, "auto": -32602}
"""What a missing resource is in each revision."""


class Reader:
    """A connected client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def page(self, cursor: str | None = None) -> tuple[list[Resource], str | None]:
        """A page of the list, not from the client's own memory."""
        listed = await self.client.list_resources(cursor=cursor, cache_mode="bypass")
        return list(listed.resources), listed.next_cursor

    async def every(self) -> list[Resource]:
        """All pages."""
        found, cursor = await self.page()
        while cursor:
            more, cursor = await self.page(cursor)
            found += more
        return found

    async def uris(self) -> list[str]:
        """All addresses."""
        return [str(one.uri) for one in await self.every()]

    async def read(self, uri: str) -> str:
        """The text of a resource; it is one, and it comes under the address it was asked for."""
        (content,) = (await self.client.read_resource(uri, cache_mode="bypass")).contents
        assert isinstance(content, TextResourceContents)
        assert str(content.uri) == uri
        return content.text

    async def refusal(self, uri: str) -> tuple[int, str]:
        """The error that reading ends with: its code and its words."""
        try:
            read = await self.client.read_resource(uri, cache_mode="bypass")
        except MCPError as error:
            return error.error.code, error.error.message
        raise AssertionError(f"{uri} was read: {read}")

    async def search(self, query: str, **how: Any) -> Reply:
        """What is found, as structured content."""
        return (await self.told(query, **how))[1]

    async def found(self, query: str, **how: Any) -> list[str]:
        """The addresses of what is found."""
        return [one["uri"] for one in (await self.search(query, **how))["results"]]

    async def told(self, query: str, **how: Any) -> tuple[str, Reply]:
        """What is found, in words and as structured content."""
        return await self.call("search_documents", query=query, **how)

    async def use(self, tool: str, **arguments: Any) -> Reply:
        """What a tool replies."""
        return (await self.call(tool, **arguments))[1]

    async def call(self, tool: str, **arguments: Any) -> tuple[str, Reply]:
        """The text and the content of a reply, which is no error and as the tool's schema has it."""
        result = await self.client.call_tool(tool, arguments)
        (block,) = result.content
        assert isinstance(block, TextContent)
        assert not result.is_error, block.text
        (schema,) = [one.output_schema for one in (await self.client.list_tools()).tools if one.name == tool]
        Draft202012Validator(schema).validate(result.structured_content)
        return block.text, dict(result.structured_content or {})

    async def fail(self, tool: str, **arguments: Any) -> str:
        """What a user reads of the error that a call ends with."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        return str((result.structured_content or {})["userMessage"])


def talk(
    mode: str,
    conversation: Callable[[Reader], Awaitable[Got]],
    *roots: Path,
    surfaces: tuple[Surface, ...] = ("documents",),
    level: Level = "standard",
    budget_tokens: int = BUDGET_TOKENS,
    **client: Any,
) -> Got:
    """Have a conversation with a server of some folders."""

    async def have_it() -> Got:
        offer = Offer(surfaces, level, budget_tokens)
        server = ComposedServer(Service(list(roots)), Path("/"), offer).server()
        async with Client(server, mode=mode, **client) as connected:
            try:
                return await conversation(Reader(connected))
            except Exception as error:  # raised once more outside, where no group is made of it
                failure = error
        raise failure

    return anyio.run(have_it)


def index(*roots: Path) -> None:
    """Index folders of documents in this process."""
    for root in roots:
        project = ProjectIndex(root, "documents")
        project.update()
        project.close()


async def until(condition: Callable[[], Awaitable[Got | None]], seconds: float = 30) -> Got:
    """Wait, not for ever, until a condition holds; what it gave."""
    with anyio.fail_after(seconds):
        while not (got := await condition()):
            await anyio.sleep(0.02)
    return got
