"""The HTTP application: MCP at `/mcp`, health at `/health`, a page for people at `/`."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dowse import __version__
from dowse.http.access import AccessControl, Admission
from dowse.http.landing_page import render_page
from dowse.http.mcp_endpoint import Endpoint
from dowse.http.requests import REQUEST_KEY
from dowse.http.uvicorn_server import bind, run_http_server
from dowse.mcp.protocol import SERVER_NAME
from dowse.types import SourceHealth

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["bind", "make_app", "run_http_server"]

HEALTH_CACHE_SECONDS = 1.0
"""How long the health of the sources is cached: anyone may request it, and a check costs more than a request."""

_MESSAGES = ("/mcp", "/mcp/")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_PAGE_HEADERS = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}

Sources = Callable[[], list[SourceHealth]]


def make_app(server: "Server[Any]", sources: Sources, admission: Admission, rate: float | None = None) -> AccessControl:
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

    async def landing_page(request: Request) -> Response:
        names = [source.name for source in await check.sources()] if request.scope[REQUEST_KEY].has_token else []
        html = render_page(_mcp_url(request), names, needs_token=admission.token is not None)
        return HTMLResponse(html, headers=_PAGE_HEADERS)

    routes = [Route("/health", health, methods=["GET"]), Route("/", landing_page, methods=["GET"])]
    pages = Starlette(routes=routes, lifespan=lifespan)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        is_message = scope["type"] == "http" and scope["path"] in _MESSAGES  # not through the routing that pages need
        await (endpoint if is_message else pages)(scope, receive, send)

    return AccessControl(app, admission, rate)


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


def _mcp_url(request: Request) -> str:
    """Return the address of the endpoint as the browser reaches it; a proxy in front says whether TLS is used."""
    scheme = "https" if request.headers.get("x-forwarded-proto") == "https" else "http"
    return f"{scheme}://{request.headers['host']}/mcp"
