"""The HTTP application: MCP at `/mcp`, health at `/health`, and the page for people, if there is one, elsewhere."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from dowse import __version__
from dowse.mcp.http.access import MCP_PATHS, AccessControl, Admission, SignIn
from dowse.mcp.http.mcp_endpoint import Endpoint
from dowse.mcp.http.requests import REQUEST_KEY
from dowse.mcp.http.uvicorn_server import bind, run_http_server
from dowse.mcp.protocol import SERVER_NAME
from dowse.types import SourceHealth

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["bind", "make_app", "run_http_server"]

HEALTH_CACHE_SECONDS = 1.0
"""How long the health of the sources is cached: anyone may request it, and a check costs more than a request."""

Sources = Callable[[], list[SourceHealth]]


@dataclass(frozen=True, slots=True)
class PageRoutes:
    """The page for people: its routes, and the reply to a browser that has to sign in."""

    routes: Sequence[BaseRoute]
    sign_in: SignIn


def make_app(
    server: "Server[Any]",
    sources: Sources,
    admission: Admission,
    rate: float | None = None,
    page: PageRoutes | None = None,
) -> AccessControl:
    """Return the application, behind its access control."""
    endpoint, check = Endpoint(server), SourceCheck(sources)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with endpoint.run():
            yield

    async def health(request: Request) -> Response:
        found = await check.sources()
        is_healthy = not any(source.problem for source in found)
        reply: dict[str, Any] = {
            "name": SERVER_NAME,
            "version": __version__,
            "status": "ok" if is_healthy else "unavailable",
        }
        if request.scope[REQUEST_KEY].has_token:
            reply["sources"] = [
                {"name": source.name, "status": "unavailable" if source.problem else "ok", "problem": source.problem}
                for source in found
            ]
        return JSONResponse(reply, 200 if is_healthy else 503, {"Cache-Control": "no-store"})

    routes = [Route("/health", health, methods=["GET"]), *(page.routes if page else ())]
    pages = Starlette(routes=routes, lifespan=lifespan)
    pages.router.redirect_slashes = False  # a redirect would repeat what was asked for

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        is_message = scope["type"] == "http" and scope["path"] in MCP_PATHS  # not through the routing that pages need
        await (endpoint if is_message else pages)(scope, receive, send)

    return AccessControl(app, admission, rate, page.sign_in if page else None)


class SourceCheck:
    """The health of the sources, checked once for all requests that arrive at the same time."""

    def __init__(self, sources: Sources) -> None:
        self._check = sources
        self._found: list[SourceHealth] = []
        self._until = 0.0
        self._lock = asyncio.Lock()

    async def sources(self) -> list[SourceHealth]:
        """Return the health of the sources, at most a moment old."""
        async with self._lock:
            if time.monotonic() >= self._until:
                self._found = await asyncio.to_thread(self._check)
                self._until = time.monotonic() + HEALTH_CACHE_SECONDS
            return self._found
