"""The HTTP server: MCP at `/mcp`, health at `/health`, and the page for people, if there is one, elsewhere.

It is uvicorn's, with time limits so that slow clients cannot keep it busy.
"""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn
from sse_starlette.sse import AppStatus
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from dowse import __version__
from dowse.mcp.http import access
from dowse.mcp.http.mcp_endpoint import Endpoint
from dowse.mcp.protocol import SERVER_NAME
from dowse.system.signals import exit_after, on_stop_signals, raise_on_interrupt
from dowse.types import SourceHealth

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

HEALTH_CACHE_SECONDS = 1.0
"""How long the health of the sources is cached: anyone may request it, and a check costs more than a request."""
MAX_CONNECTIONS = 1000
MAX_CLIENT_CONNECTIONS = 200
"""Limits of all connections, and of those of one client that is not on this machine."""
REQUEST_HEAD_SECONDS = 10.0
"""How long the head of a request may take to arrive."""
REPLY_READ_SECONDS = 30.0
"""How long a client may leave a reply unread."""
KEEP_ALIVE_SECONDS = 30
BACKLOG = 1024
GRACE_SECONDS = 3.0
"""How long open requests may continue after the server was told to stop."""
FORCE_SECONDS = 2.0
"""How long everything else may take to end after the requests."""
SPARE_FILES = 256
"""Open files needed beside the connections."""

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

Sources = Callable[[], list[SourceHealth]]


@dataclass(frozen=True, slots=True)
class PageRoutes:
    """The page for people: its routes, and the reply to a browser that has to sign in."""

    routes: Sequence[BaseRoute]
    sign_in: access.SignIn


def make_app(
    server: "Server[Any]",
    sources: Sources,
    admission: access.Admission,
    rate: float | None = None,
    page: PageRoutes | None = None,
) -> access.AccessControl:
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
        if request.scope[access.REQUEST_KEY].has_token:
            reply["sources"] = [
                {"name": source.name, "status": "unavailable" if source.problem else "ok", "problem": source.problem}
                for source in found
            ]
        return JSONResponse(reply, 200 if is_healthy else 503, {"Cache-Control": "no-store"})

    routes = [Route("/health", health, methods=["GET"]), *(page.routes if page else ())]
    pages = Starlette(routes=routes, lifespan=lifespan)
    pages.router.redirect_slashes = False  # a redirect would repeat what was asked for

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        is_message = (
            scope["type"] == "http" and scope["path"] in access.MCP_PATHS
        )  # not through the routing that pages need
        await (endpoint if is_message else pages)(scope, receive, send)

    return access.AccessControl(app, admission, rate, page.sign_in if page else None)


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


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise OSError where that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    is_dual_stack = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    return socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=is_dual_stack)


def run_http_server(app: access.AccessControl, listening: socket.socket, announce: Callable[[], None]) -> None:
    """Announce the server and serve until a signal arrives; open requests then have a moment to end."""
    _raise_file_limit(MAX_CONNECTIONS + SPARE_FILES)
    server = _Server(uvicorn_config(app), app)
    on_stop_signals(server.handle_exit)  # a KeyboardInterrupt while uvicorn starts could be lost
    try:
        announce()
        if not server.should_exit:
            server.run(sockets=[listening])
    finally:
        raise_on_interrupt()


def uvicorn_config(app: ASGIApp) -> uvicorn.Config:
    """Return the configuration with which uvicorn serves an application."""
    return uvicorn.Config(
        app,
        http=_TimedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(GRACE_SECONDS) + 1,  # our own shutdown is faster
        h11_max_incomplete_event_size=access.MAX_HEAD_BYTES,
        proxy_headers=False,
    )


class _Server(uvicorn.Server):
    """uvicorn's server, which at shutdown ends streams at once and gives other requests a moment."""

    def __init__(self, config: uvicorn.Config, control: access.AccessControl) -> None:
        super().__init__(config)
        self._control = control
        AppStatus.enable_automatic_graceful_drain = False  # it would cut off requests as well

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.should_exit:  # uvicorn would leave without a shutdown
            await self.shutdown(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._control.end_requests(streams_alone=True)
        asyncio.get_running_loop().call_later(GRACE_SECONDS, self._control.end_requests)
        exit_after(GRACE_SECONDS + FORCE_SECONDS, 0)  # workers end with their pipes
        await super().shutdown(sockets)


class _TimedProtocol(H11Protocol):
    """uvicorn's protocol with time limits for the head of a request and for reading a reply."""

    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # asyncio sets this only for sockets with an explicit protocol. Without it the end of a reply waits 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._has_too_many_connections():
            transport.write(_FULL)
            transport.close()
        else:
            self._start_head_timer()

    def data_received(self, data: bytes) -> None:
        if self._head_timer is None and self._is_between_requests():
            self._start_head_timer()
        super().data_received(data)
        if not self._is_between_requests():
            self._stop_head_timer()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._read_timer = self.loop.call_later(REPLY_READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_read_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self._stop_read_timer()
        super().connection_lost(exc)

    def _has_too_many_connections(self) -> bool:
        if len(self.connections) > MAX_CONNECTIONS:
            return True
        if self.client is None or access.is_loopback(self.client[0]):
            return False
        own_key = access.client_key(self.client[0])
        clients = (other.client for other in self.connections if isinstance(other, H11Protocol))
        return (
            sum(1 for client in clients if client and access.client_key(client[0]) == own_key) > MAX_CLIENT_CONNECTIONS
        )

    def _is_between_requests(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is None or cycle.response_complete

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(REQUEST_HEAD_SECONDS, self._close)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


def _raise_file_limit(count: int) -> None:
    """Raise the limit of open files as far as needed and allowed."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows, whose limit is higher

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= soft < count:
            resource.setrlimit(resource.RLIMIT_NOFILE, (count if hard < 0 else min(count, hard), hard))
