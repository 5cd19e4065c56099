"""The server that `dowse serve` is: a service, its surface, and the protocol around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.serving.protocol import make_server
from dowse.serving.service import Service
from dowse.serving.surfaces.project import INSTRUCTIONS, ProjectSurface
from dowse.serving.tools import BUDGET_TOKENS

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


def make_project_server(roots: list[Path], start: Path, budget_tokens: int = BUDGET_TOKENS) -> "Server[Any]":
    """A server of the projects in the roots, or of the one found from `start`."""
    service = Service(roots)
    surface = ProjectSurface(service, start)

    @asynccontextmanager
    async def lifespan(_server: Any) -> AsyncIterator[None]:
        try:
            yield
        finally:
            service.close()

    return make_server(surface.tools, instructions=INSTRUCTIONS, lifespan=lifespan, budget_tokens=budget_tokens)
