"""The server that `dowse serve` is: a service, its surface, and the protocol around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import UsageError
from dowse.serving.protocol import make_server
from dowse.serving.service import Service
from dowse.serving.surfaces.project import INSTRUCTIONS, ProjectSurface
from dowse.serving.tools import BUDGET_TOKENS

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


def make_project_server(roots: list[Path], start: Path, budget_tokens: int = BUDGET_TOKENS) -> "Server[Any]":
    """A server of the projects in the roots, or of the one found from `start`."""
    return make_service_server(Service(roots), start, budget_tokens)


def make_service_server(
    service: Service, start: Path, budget_tokens: int = BUDGET_TOKENS, *, is_public: bool = False
) -> "Server[Any]":
    """A server of a service; to the public nothing is offered that writes, deletes or tells of projects."""
    surface = ProjectSurface(service, start)
    if is_public:
        raise UsageError("--public offers documents and sites alone, and none is served here.")

    @asynccontextmanager
    async def lifespan(_server: Any) -> AsyncIterator[None]:
        try:
            yield
        finally:
            service.close()

    return make_server(surface.tools, instructions=INSTRUCTIONS, lifespan=lifespan, budget_tokens=budget_tokens)
