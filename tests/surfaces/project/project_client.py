"""A client for tests: it asks a project server, and holds every reply against what the tool promises."""

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, ElicitResult, TextContent
from mcp_types import Tool as ListedTool

from dowse.keeping.service import Service
from dowse.mcp.reply_budget import BUDGET_TOKENS
from dowse.server.composition import ComposedServer, Offer
from mcp import Client

Got = TypeVar("Got")
Reply = dict[str, Any]

ABSOLUTE_PATH = re.compile(r"(?:^|[\s'\"(=])(?:/|~/|\w+:[/\\])")


class Assistant:
    """A connected client; `tell` is for calls that go well, `fail` for those that do not."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def tools(self) -> dict[str, ListedTool]:
        """What is offered now."""
        return {tool.name: tool for tool in (await self.client.list_tools(cache_mode="bypass")).tools}

    async def tell(self, tool: str, /, **arguments: Any) -> Reply:
        """The reply to a call; its schema holds and it is no error."""
        result = await self.client.call_tool(tool, arguments)
        reply = content_of(result)
        assert not result.is_error, reply
        Draft202012Validator((await self.tools())[tool].output_schema).validate(reply)
        return reply

    async def fail(self, tool: str, /, **arguments: Any) -> Reply:
        """The error that a call ends with; what a user reads of it holds no absolute path."""
        result = await self.client.call_tool(tool, arguments)
        reply = content_of(result)
        assert result.is_error, reply
        assert reply.keys() == {"code", "userMessage", "developerMessage"}
        assert reply["developerMessage"].startswith(f"{reply['code']}: ")
        assert not ABSOLUTE_PATH.search(reply["userMessage"]), reply["userMessage"]
        return reply


def content_of(result: CallToolResult) -> Reply:
    """What a result says; its text is the same as JSON, and all of it can be sent."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert isinstance(result.structured_content, dict)
    assert json.loads(block.text) == result.structured_content
    assert result.model_dump_json(by_alias=True)
    return dict(result.structured_content)


def talk(
    mode: str,
    conversation: Callable[[Assistant], Awaitable[Got]],
    *roots: Path,
    start: Path | None = None,
    budget_tokens: int = BUDGET_TOKENS,
    **client: Any,
) -> Got:
    """Have a conversation with a server of some roots, or of the one that is found from `start`."""

    async def have_it() -> Got:
        offer = Offer(("code",), budget_tokens=budget_tokens)
        server = ComposedServer(Service(list(roots)), start or Path("/"), offer).server()
        async with Client(server, mode=mode, **client) as connected:
            try:
                return await conversation(Assistant(connected))
            except Exception as error:  # raised once more outside, where no group is made of it
                failure = error
        raise failure

    return anyio.run(have_it)


def tell(
    mode: str, tool: str, /, *roots: Path, start: Path | None = None, client: Reply | None = None, **arguments: Any
) -> Reply:
    """One call that goes well."""
    return talk(mode, lambda assistant: assistant.tell(tool, **arguments), *roots, start=start, **(client or {}))


def fail(
    mode: str, tool: str, /, *roots: Path, start: Path | None = None, client: Reply | None = None, **arguments: Any
) -> Reply:
    """One call that ends with an error."""
    return talk(mode, lambda assistant: assistant.fail(tool, **arguments), *roots, start=start, **(client or {}))


class Person:
    """Somebody behind the client, who gives these answers in turn and remembers the questions."""

    def __init__(self, *answers: ElicitResult) -> None:
        self.questions: list[str] = []
        self.fields: list[dict[str, Any]] = []
        self._answers = list(answers)

    async def __call__(self, _context: object, asked: Any) -> ElicitResult:
        self.questions.append(asked.message)
        self.fields.append(asked.requested_schema["properties"])
        return self._answers.pop(0)

    @property
    def client(self) -> dict[str, Any]:
        """The options of a client that shows questions to this person."""
        return {"elicitation_callback": self}


def yes(**content: Any) -> ElicitResult:
    """An accepted question."""
    return ElicitResult(action="accept", content=content)


DECLINE, CANCEL = ElicitResult(action="decline"), ElicitResult(action="cancel")


async def until(condition: Callable[[], Awaitable[Got | None]], seconds: float = 30) -> Got:
    """Wait, not for ever, until a condition holds; what it gave."""
    with anyio.fail_after(seconds):
        while not (got := await condition()):
            await anyio.sleep(0.02)
    return got


def over_stdio(server: StdioServerParameters, conversation: Callable[[Assistant], Awaitable[Got]]) -> Got:
    """Have a conversation with a server in a process of its own."""

    async def have_it() -> Got:
        async with Client(server) as connected:
            return await conversation(Assistant(connected))

    return anyio.run(have_it)
