"""The socket a server listens on, and its patience with those who connect: nobody can keep it busy by being slow."""

import asyncio
import contextlib
import os
import socket
import threading
from typing import Any

import uvicorn
from sse_starlette.sse import AppStatus
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from dowse.http.access import MAX_HEAD_BYTES, AccessControl
from dowse.http.rate_limit import is_loopback, one_client

MAX_CONNECTIONS = 1000
MAX_CONNECTIONS_OF_ONE = 200
"""Of all clients, and of one that is not on this machine."""
HEAD_SECONDS = 10.0
"""How long the head of a request may take to arrive."""
READ_SECONDS = 30.0
"""How long a client may leave unread what it was sent."""
KEEP_ALIVE_SECONDS = 30
BACKLOG = 1024
GRACE_SECONDS = 3.0
"""How long requests may go on after the server was told to stop."""
FORCE_SECONDS = 2.0
"""How long everything else may take to end after them."""
SPARE_FILES = 256
"""Open files beside the connections."""

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; OSError where that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    is_both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    return socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=is_both)


def run_web(app: AccessControl, listening: socket.socket) -> None:
    """Serve until a signal comes; requests that go on then have a moment to end."""
    _allow_files(MAX_CONNECTIONS + SPARE_FILES)
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn passes the signal on when all is done
        _Server(configuration(app), app).run(sockets=[listening])


def configuration(app: ASGIApp) -> uvicorn.Config:
    """How uvicorn serves an application."""
    return uvicorn.Config(
        app,
        http=_PatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(GRACE_SECONDS) + 1,  # we are done before, in order
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        proxy_headers=False,
    )


class _Server(uvicorn.Server):
    """uvicorn's server, which ends streams at once when it stops, and gives requests a moment."""

    def __init__(self, config: uvicorn.Config, gate: AccessControl) -> None:
        super().__init__(config)
        self._exchanges = gate.exchanges
        AppStatus.enable_automatic_graceful_drain = False  # it would cut off requests, too

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._exchanges.end_streams()
        asyncio.get_running_loop().call_later(GRACE_SECONDS, self._exchanges.end_all)
        _leave_by_force(GRACE_SECONDS + FORCE_SECONDS)
        await super().shutdown(sockets)


class _PatientProtocol(H11Protocol):
    """uvicorn's protocol, whose patience has an end: with a head that does not come, and a reply that is not read."""

    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # asyncio does this only where the socket was told its protocol; without it a reply waits 40 ms for its end.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._are_too_many():
            transport.write(_FULL)
            transport.close()
        else:
            self._begin_waiting()

    def data_received(self, data: bytes) -> None:
        if self._waiting is None and self._is_between_requests():
            self._begin_waiting()
        super().data_received(data)
        if not self._is_between_requests():
            self._end_waiting()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_unread()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_waiting()
        self._end_unread()
        super().connection_lost(exc)

    def _are_too_many(self) -> bool:
        if len(self.connections) > MAX_CONNECTIONS:
            return True
        if self.client is None or is_loopback(self.client[0]):
            return False
        mine = one_client(self.client[0])
        clients = (other.client for other in self.connections if isinstance(other, H11Protocol))
        return sum(1 for client in clients if client and one_client(client[0]) == mine) > MAX_CONNECTIONS_OF_ONE

    def _is_between_requests(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is None or cycle.response_complete

    def _begin_waiting(self) -> None:
        self._waiting = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _end_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _end_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


def _leave_by_force(seconds: float) -> None:
    """Be gone by then; a worker ends when its pipe does."""
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _allow_files(count: int) -> None:
    """Let this process have as many files open as it may need, where the system lets us."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows, whose limit is higher

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= soft < count:
            resource.setrlimit(resource.RLIMIT_NOFILE, (count if hard < 0 else min(count, hard), hard))
