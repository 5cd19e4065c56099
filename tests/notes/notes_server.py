"""A server of named indexes only, in this process or as a program on stdin and stdout."""

import contextlib
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from mcp.client.stdio import StdioServerParameters

from dowse.mcp.protocol import make_server
from dowse.mcp.replies import BUDGET_TOKENS
from dowse.surfaces.notes.notes_surface import NotesSurface
from tests.mcp.fixed_tools import fixed_tools
from tests.repository import REPOSITORY
from tests.surfaces.project import project_client
from tests.surfaces.project.project_client import connect_to, content_of

Result = TypeVar("Result")


class Assistant(project_client.Assistant):
    """A connected client; the errors of these tools are one text."""

    async def expect_error(self, tool: str, /, **arguments: Any) -> str:  # type: ignore[override]
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        return str(content_of(result)["error"])


def notes_server(surface: NotesSurface, budget_tokens: int = BUDGET_TOKENS) -> Any:
    return make_server(fixed_tools(surface.tools), instructions="Notes.", budget_tokens=budget_tokens)


@asynccontextmanager
async def connect(mode: str, budget_tokens: int = BUDGET_TOKENS) -> AsyncIterator[Assistant]:
    """Connect a client to a new server."""
    with contextlib.closing(NotesSurface()) as surface:
        async with connect_to(partial(notes_server, surface, budget_tokens), mode) as connected:
            yield Assistant(connected)


def program() -> StdioServerParameters:
    """Return the parameters to start such a server in a process of its own."""
    environment = {
        "DOWSE_HOME": os.environ["DOWSE_HOME"],
        "HOME": os.environ["HOME"],
        "PYTHONPATH": str(REPOSITORY / "src"),
    }
    command = ["-m", "dowse", "serve", "--only", "indexes"]
    return StdioServerParameters(command=sys.executable, args=command, env=environment)
