"""A client of a project server that validates every reply against the schema of its tool."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
from jsonschema import Draft202012Validator
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, ElicitResult, TextContent
from mcp_types import Tool as ListedTool

from dowse.cli.composition import ComposedServer, Offer
from dowse.keeping.served_index import Service
from dowse.mcp.replies import BUDGET_TOKENS
from dowse.mcp.tools import Level
from mcp import Client

Result = TypeVar("Result")
Reply = dict[str, Any]

ABSOLUTE_PATH = re.compile(r"(?:^|[\s'\"(=])(?:/|~/|\w+:[/\\])")


class Assistant:
    """A connected client: `call_tool` expects a call to succeed, `expect_error` expects an error."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def tools(self) -> dict[str, ListedTool]:
        """Return the tools that are offered now, by name."""
        return {tool.name: tool for tool in (await self.client.list_tools(cache_mode="bypass")).tools}

    async def call_tool(self, tool: str, /, **arguments: Any) -> Reply:
        """Call a tool and return its reply, which is valid for the schema and no error."""
        result = await self.client.call_tool(tool, arguments)
        reply = content_of(result)
        assert not result.is_error, reply
        Draft202012Validator((await self.tools())[tool].output_schema).validate(reply)
        return reply

    async def call_until(self, is_wanted: Callable[[Reply], object], tool: str, /, **arguments: Any) -> Reply:
        """Call a tool until its reply is the wanted one; return that."""

        async def ask() -> Reply | None:
            reply = await self.call_tool(tool, **arguments)
            return reply if is_wanted(reply) else None

        return await wait_until(ask)

    async def expect_error(self, tool: str, /, **arguments: Any) -> Reply:
        """Call a tool that has to fail and return the error; its message for the user has no absolute path."""
        result = await self.client.call_tool(tool, arguments)
        reply = content_of(result)
        assert result.is_error, reply
        assert reply.keys() == {"code", "userMessage", "developerMessage"}
        assert reply["developerMessage"].startswith(f"{reply['code']}: ")
        assert not ABSOLUTE_PATH.search(reply["userMessage"]), reply["userMessage"]
        return reply


def content_of(result: CallToolResult) -> Reply:
    """Return the content of a result; its text is the same content as JSON, and the result can be serialized."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert isinstance(result.structured_content, dict)
    assert json.loads(block.text) == result.structured_content
    assert result.model_dump_json(by_alias=True)
    return dict(result.structured_content)


@asynccontextmanager
async def connect(
    mode: str,
    *roots: Path,
    start: Path | None = None,
    budget_tokens: int = BUDGET_TOKENS,
    level: Level = "standard",
    **client: Any,
) -> AsyncIterator[Assistant]:
    """Connect a client to a server of some roots, or of the root that is detected from `start`."""
    offer = Offer(("code",), level, budget_tokens=budget_tokens)
    server = ComposedServer(Service(list(roots)), start or Path("/"), offer)
    async with connect_to(server.server, mode, **client) as connected:
        yield Assistant(connected)


@asynccontextmanager
async def connect_to(server: Callable[[], Any], mode: str = "auto", **client: Any) -> AsyncIterator[Client]:
    """Connect a client to a server in this process."""
    failure = None
    async with Client(server(), mode=mode, **client) as connected:
        try:
            yield connected
        except Exception as error:  # raised again outside of the task group, which would wrap it
            failure = error
    if failure:
        raise failure


def run_conversation(
    mode: str, conversation: Callable[[Assistant], Awaitable[Result]], *roots: Path, **options: Any
) -> Result:
    """Run a conversation with a server of some roots."""

    async def run() -> Result:
        async with connect(mode, *roots, **options) as assistant:
            return await conversation(assistant)

    return anyio.run(run)


def converse(
    server: Callable[[], Any], conversation: Callable[[Client], Awaitable[Result]], mode: str = "auto", **client: Any
) -> Result:
    """Run a conversation with a server in this process."""

    async def run() -> Result:
        async with connect_to(server, mode, **client) as connected:
            return await conversation(connected)

    return anyio.run(run)


def call_tool(
    mode: str, tool: str, /, *roots: Path, start: Path | None = None, client: Reply | None = None, **arguments: Any
) -> Reply:
    """Start a server, call one tool and return its reply."""
    return run_conversation(
        mode, lambda assistant: assistant.call_tool(tool, **arguments), *roots, start=start, **(client or {})
    )


def expect_error(
    mode: str, tool: str, /, *roots: Path, start: Path | None = None, client: Reply | None = None, **arguments: Any
) -> Reply:
    """Start a server, call one tool that has to fail and return the error."""
    return run_conversation(
        mode, lambda assistant: assistant.expect_error(tool, **arguments), *roots, start=start, **(client or {})
    )


class ScriptedUser:
    """The user of a client, who gives these answers in turn; the questions are recorded."""

    def __init__(self, *answers: ElicitResult) -> None:
        self.questions: list[str] = []
        self.fields: list[dict[str, Any]] = []
        self._answers = list(answers)

    async def __call__(self, _context: object, question: Any) -> ElicitResult:
        self.questions.append(question.message)
        self.fields.append(question.requested_schema["properties"])
        return self._answers.pop(0)

    @property
    def client(self) -> dict[str, Any]:
        """The options of a client that shows questions to this user."""
        return {"elicitation_callback": self}


def accept(**content: Any) -> ElicitResult:
    """Return an answer that accepts a question."""
    return ElicitResult(action="accept", content=content)


DECLINE, CANCEL = ElicitResult(action="decline"), ElicitResult(action="cancel")


async def wait_until(condition: Callable[[], Awaitable[Result | None]], seconds: float = 30) -> Result:
    """Wait, with a time limit, until a condition returns something true; return that."""
    with anyio.fail_after(seconds):
        while not (result := await condition()):
            await anyio.sleep(0.02)
    return result


def run_conversation_over_stdio(
    server: StdioServerParameters, conversation: Callable[[Assistant], Awaitable[Result]]
) -> Result:
    """Run a conversation with a server in a process of its own."""

    async def run() -> Result:
        async with Client(server) as connected:
            return await conversation(Assistant(connected))

    return anyio.run(run)
