"""A server of named indexes only, in this process or as a program on stdin and stdout."""

import contextlib
import os
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from mcp.client.stdio import StdioServerParameters

from dowse.mcp.protocol import make_server
from dowse.mcp.replies import BUDGET_TOKENS
from dowse.surfaces.notes.notes_surface import NotesSurface
from tests.mcp.fixed_tools import fixed_tools
from tests.repository import REPOSITORY
from tests.surfaces.project import project_client
from tests.surfaces.project.project_client import content_of, converse

Result = TypeVar("Result")


class Assistant(project_client.Assistant):
    """A connected client; the errors of these tools are one text."""

    async def expect_error(self, tool: str, /, **arguments: Any) -> str:  # type: ignore[override]
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        return str(content_of(result)["error"])


def notes_server(surface: NotesSurface, budget_tokens: int = BUDGET_TOKENS) -> Any:
    return make_server(fixed_tools(surface.tools), instructions="Notes.", budget_tokens=budget_tokens)


def run_conversation(
    mode: str, conversation: Callable[[Assistant], Awaitable[Result]], budget_tokens: int = BUDGET_TOKENS, **client: Any
) -> Result:
    """Run a conversation with a new server."""
    with contextlib.closing(NotesSurface()) as surface:
        server = partial(notes_server, surface, budget_tokens)
        return converse(server, lambda connected: conversation(Assistant(connected)), mode, **client)


def program() -> StdioServerParameters:
    """Return the parameters to start such a server in a process of its own."""
    environment = {
        "DOWSE_HOME": os.environ["DOWSE_HOME"],
        "HOME": os.environ["HOME"],
        "PYTHONPATH": str(REPOSITORY / "src"),
    }
    command = ["-m", "dowse", "serve", "--only", "indexes"]
    return StdioServerParameters(command=sys.executable, args=command, env=environment)
