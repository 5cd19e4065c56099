"""A server over HTTP: the protocol at `/mcp`, its health at `/health`, a page for people at `/`."""

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
from dowse.http.landing_page import page
from dowse.http.mcp_endpoint import Endpoint
from dowse.http.requests import EXCHANGE
from dowse.http.uvicorn_server import bind, run_web
from dowse.mcp.protocol import NAME
from dowse.types import SourceHealth

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["bind", "make_app", "run_web"]

HEALTH_CACHE_SECONDS = 1.0
"""How long what was found of the sources is believed: anybody may ask, and looking costs more than asking."""

_MESSAGES = ("/mcp", "/mcp/")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_PAGE_HEADERS = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}

Sources = Callable[[], list[SourceHealth]]


def make_app(server: "Server[Any]", sources: Sources, admission: Admission, rate: float | None = None) -> AccessControl:
    """The application: everything behind one gate."""
    endpoint, look = Endpoint(server), SourceCheck(sources)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with endpoint.run():
            yield

    async def health(request: Request) -> Response:
        found = await look.found()
        is_well = not any(source.problem for source in found)
        told: dict[str, Any] = {"name": NAME, "version": __version__, "status": "ok" if is_well else "unavailable"}
        if request.scope[EXCHANGE].knows_token:
            told["sources"] = [
                {"name": source.name, "status": "unavailable" if source.problem else "ok", "problem": source.problem}
                for source in found
            ]
        return JSONResponse(told, 200 if is_well else 503, {"Cache-Control": "no-store"})

    async def start(request: Request) -> Response:
        names = [source.name for source in await look.found()] if request.scope[EXCHANGE].knows_token else []
        shown = page(_address(request), names, needs_token=admission.token is not None)
        return HTMLResponse(shown, headers=_PAGE_HEADERS)

    routes = [Route("/health", health, methods=["GET"]), Route("/", start, methods=["GET"])]
    pages = Starlette(routes=routes, lifespan=lifespan)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        is_message = scope["type"] == "http" and scope["path"] in _MESSAGES  # straight there, past what pages need
        await (endpoint if is_message else pages)(scope, receive, send)

    return AccessControl(app, admission, rate)


class SourceCheck:
    """What there is to say of the sources, looked at once for all who ask at the same time."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._found: list[SourceHealth] = []
        self._until = 0.0
        self._lock = asyncio.Lock()

    async def found(self) -> list[SourceHealth]:
        """The sources as they are now, or were a moment ago."""
        async with self._lock:
            if time.monotonic() >= self._until:
                self._found = await asyncio.to_thread(self._sources)
                self._until = time.monotonic() + HEALTH_CACHE_SECONDS
            return self._found


def _address(request: Request) -> str:
    """Where the reader of the page reaches us; a proxy in front says whether that is by TLS."""
    scheme = "https" if request.headers.get("x-forwarded-proto") == "https" else "http"
    return f"{scheme}://{request.headers['host']}/mcp"
