"""A server of named indexes only, in this process or as a program on stdin and stdout."""

import contextlib
import os
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from jsonschema import Draft202012Validator
from mcp.client.stdio import StdioServerParameters

from dowse.mcp.protocol import make_server
from dowse.mcp.replies import BUDGET_TOKENS
from dowse.surfaces.notes.notes_handlers import NotesSurface
from dowse.surfaces.notes.notes_tools import notes_tools
from mcp import Client
from tests.mcp.fixed_tools import fixed_tools
from tests.repository import REPOSITORY
from tests.surfaces.project.project_client import Reply, content_of, converse

Result = TypeVar("Result")


class Assistant:
    """A connected client: `call_tool` expects a call to succeed, `expect_error` expects an error."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._schemas: dict[str, Any] = {}

    async def call_tool(self, tool: str, /, **arguments: Any) -> Reply:
        reply, is_error = await self._call(tool, arguments)
        assert not is_error, reply
        return reply

    async def expect_error(self, tool: str, /, **arguments: Any) -> str:
        reply, is_error = await self._call(tool, arguments)
        assert is_error, reply
        return str(reply["error"])

    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[Reply, bool]:
        if not self._schemas:
            self._schemas = {each.name: each.output_schema for each in (await self.client.list_tools()).tools}
        result = await self.client.call_tool(tool, arguments)
        reply = content_of(result)
        Draft202012Validator(self._schemas[tool]).validate(reply)
        return reply, bool(result.is_error)


def notes_server(surface: NotesSurface, budget_tokens: int = BUDGET_TOKENS) -> Any:
    return make_server(fixed_tools(notes_tools(surface)), instructions="Notes.", budget_tokens=budget_tokens)


def run_conversation(
    mode: str, conversation: Callable[[Assistant], Awaitable[Result]], budget_tokens: int = BUDGET_TOKENS, **client: Any
) -> Result:
    """Run a conversation with a new server."""
    with contextlib.closing(NotesSurface()) as surface:
        server = partial(notes_server, surface, budget_tokens)
        return converse(server, lambda connected: conversation(Assistant(connected)), mode, **client)


def program() -> StdioServerParameters:
    """Return the parameters to start such a server in a process of its own."""
    repository = REPOSITORY
    paths = os.pathsep.join([str(repository / "src"), str(repository)])
    environment = {"DOWSE_HOME": os.environ["DOWSE_HOME"], "HOME": os.environ["HOME"], "PYTHONPATH": paths}
    return StdioServerParameters(command=sys.executable, args=["-m", "tests.notes.notes_server"], env=environment)


def main() -> None:
    from dowse.mcp.stdio import serve_stdio, take_stdio

    serve_stdio(take_stdio(), notes_server(NotesSurface()))


if __name__ == "__main__":
    main()
