"""A server over HTTP: the protocol at `/mcp`, its health at `/health`, a page for people at `/`."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from dowse import __version__
from dowse.serving.gate import Admission, Gate
from dowse.serving.page import page
from dowse.serving.protocol import NAME
from dowse.serving.service import Source

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

MAX_BODY_BYTES = 4 * 1024 * 1024
MAX_HEADER_BYTES = 32 * 1024
MAX_CONNECTIONS = 1000
MAX_SESSIONS = 1000
"""Limits of one server; a request beyond them is refused with a status that says so."""
HEADER_SECONDS = 10.0
"""How long the head of a request may take to arrive."""
KEEP_ALIVE_SECONDS = 30
BACKLOG = 1024
GRACE_SECONDS = 3
"""How long requests may go on after the server was told to stop."""


Sources = Callable[[], list[Source]]


def make_app(server: "Server[Any]", sources: Sources, admission: Admission, rate: float | None = None) -> Gate:
    """The application: everything behind one gate."""
    manager = StreamableHTTPSessionManager(server, max_request_body_size=MAX_BODY_BYTES, max_sessions=MAX_SESSIONS)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    async def health(request: Request) -> Response:
        found = await asyncio.to_thread(sources)
        is_well = not any(source.problem for source in found)
        told: dict[str, Any] = {"name": NAME, "version": __version__, "status": "ok" if is_well else "unavailable"}
        if request.scope["dowse.knows_token"]:
            told["sources"] = [
                {"name": source.name, "status": "unavailable" if source.problem else "ok", "problem": source.problem}
                for source in found
            ]
        return JSONResponse(told, 200 if is_well else 503, {"Cache-Control": "no-store"})

    async def start(request: Request) -> Response:
        names = [source.name for source in sources()] if request.scope["dowse.knows_token"] else []
        policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
        headers = {"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff"}
        address = f"{request.url.scheme}://{request.headers['host']}/mcp"
        return HTMLResponse(page(address, names, needs_token=admission.token is not None), headers=headers)

    routes = [
        Route("/mcp", StreamableHTTPASGIApp(manager)),
        Route("/health", health, methods=["GET"]),
        Route("/", start, methods=["GET"]),
    ]
    return Gate(Starlette(routes=routes, lifespan=lifespan), admission, rate)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; OSError where that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    listening.set_inheritable(True)
    return listening


def run_web(app: Gate, listening: socket.socket) -> None:
    """Serve until a signal comes; requests that go on then have a moment to end."""
    config = uvicorn.Config(
        app,
        http=_PatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        limit_concurrency=MAX_CONNECTIONS,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        proxy_headers=False,
    )
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn passes the signal on when all is done
        uvicorn.Server(config).run(sockets=[listening])


class _PatientProtocol(H11Protocol):
    """uvicorn's protocol, whose patience with a request that does not come to its body has an end."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin_waiting()

    def data_received(self, data: bytes) -> None:
        if self._patience is None and self._is_between_requests():
            self._begin_waiting()
        super().data_received(data)
        if not self._is_between_requests():
            self._end_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_waiting()
        super().connection_lost(exc)

    def _is_between_requests(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is None or cycle.response_complete

    def _begin_waiting(self) -> None:
        self._patience = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _end_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
