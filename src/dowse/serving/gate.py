"""Who may come in over HTTP, how often, and how long they may take.

A web page anywhere can make a browser send requests to this machine. So a request has to name us
(Host), must not come from a page we do not know (Origin), and beyond this machine needs a token.
"""

import asyncio
import hmac
import ipaddress
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})

BODY_SECONDS = 10.0
"""How long a request's body may take to arrive."""
LOOPBACK_RATE = 1000.0
REMOTE_RATE = 50.0
"""Requests a second of one client; twice as many at once."""
KNOWN_CLIENTS = 10_000
"""Clients whose rate is remembered."""

_CORS_METHODS = "GET, POST, DELETE, OPTIONS"
_CORS_HEADERS = (
    "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id"
)

_log = logging.getLogger("dowse.access")


@dataclass(frozen=True, slots=True)
class Admission:
    """What a request needs to be let in."""

    hosts: frozenset[str] | None = LOOPBACK_NAMES
    """Names that we answer to; None for any."""
    origins: frozenset[str] = frozenset()
    """Web pages that may ask, beside our own."""
    token: str | None = None
    open_paths: frozenset[str] = frozenset({"/", "/health"})
    """What needs no token; they tell less without one."""


class Gate:
    """Lets requests in or turns them away, and writes down what came of each."""

    def __init__(self, app: ASGIApp, admission: Admission, rate: float | None = None) -> None:
        self._app = app
        self._admission = admission
        self._rates = _Rates(rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the start and end of the application."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, headers = time.perf_counter(), Headers(scope=scope)
        origin = headers.get("origin")
        log = _Logged(scope, send, started, _cors(origin) if origin in self._admission.origins else {})
        refusal = self._refusal(scope, headers)
        try:
            if refusal is not None:
                await refusal(scope, receive, log.send)
            else:
                scope["dowse.knows_token"] = self._knows_token(headers)
                await self._app(scope, _within(BODY_SECONDS, receive), log.send)
        except TimeoutError:
            if not log.status:
                await _refused(408, "The request took too long to arrive.")(scope, receive, log.send)
        finally:
            log.write()

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        hosts, origin = headers.getlist("host"), headers.get("origin")
        if len(hosts) != 1 or not self._is_us(hosts[0]):
            return _refused(421, "This server does not go by that name. Use the address it was started with.")
        if origin is not None and origin not in self._admission.origins and not _is_same(origin, hosts[0]):
            return _refused(403, "Web pages may not use this server, unless it was started with --allow-origin.")
        if scope["method"] == "OPTIONS":
            return Response(status_code=204)
        if wait := self._rates.wait_of(_client(scope)):
            return _refused(429, "Too many requests.", {"Retry-After": str(max(1, round(wait)))})
        if scope["path"] not in self._admission.open_paths and not self._knows_token(headers):
            return _refused(401, "A token is needed: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"})
        return None

    def _is_us(self, host: str) -> bool:
        name = _name_of(host)
        return name is not None and (self._admission.hosts is None or name in self._admission.hosts)

    def _knows_token(self, headers: Headers) -> bool:
        if self._admission.token is None:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(
            given.strip().encode(), self._admission.token.encode()
        )


class _Rates:
    """How many requests each client has left: a bucket that fills again."""

    def __init__(self, rate: float | None) -> None:
        self._rate = rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_of(self, client: str) -> float:
        """How long a client has to wait; 0 when it may go on."""
        rate = self._rate if self._rate is not None else LOOPBACK_RATE if is_loopback(client) else REMOTE_RATE
        if not rate:
            return 0.0
        now = time.monotonic()
        left, seen = self._left.pop(client, (2 * rate, now))
        left = min(2 * rate, left + (now - seen) * rate) - 1
        self._left[client] = max(left, -1.0), now
        if len(self._left) > KNOWN_CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if left >= 0 else -left / rate


class _Logged:
    """Sends a response on, and remembers enough of it for one line of the log. What was asked is not in it."""

    def __init__(self, scope: Scope, send: Send, started: float, extra: dict[str, str]) -> None:
        self.status = 0
        self._scope, self._send, self._started = scope, send, started
        self._extra = [(name.lower().encode(), value.encode()) for name, value in extra.items()]

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *self._extra]}
        await self._send(message)

    def write(self) -> None:
        milliseconds = (time.perf_counter() - self._started) * 1000
        path = self._scope["path"][:200].encode("unicode_escape").decode()
        _log.info("%s %s %s %d %.0f ms", _client(self._scope), self._scope["method"], path, self.status, milliseconds)


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _within(seconds: float, receive: Receive) -> Receive:
    """Receives a body that has to be there in time; after it, whatever comes, however late."""
    deadline, is_whole = time.monotonic() + seconds, False

    async def timed() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        message = await asyncio.wait_for(receive(), deadline - time.monotonic())
        is_whole = not message.get("more_body", False)
        return message

    return timed


def _cors(origin: str | None) -> dict[str, str]:
    return {
        "Access-Control-Allow-Origin": origin or "",
        "Access-Control-Allow-Methods": _CORS_METHODS,
        "Access-Control-Allow-Headers": _CORS_HEADERS,
        "Access-Control-Expose-Headers": "mcp-session-id",
        "Vary": "Origin",
    }


def _name_of(host: str) -> str | None:
    """The name in a Host header, without its port; None for what is none."""
    try:
        parts = urlsplit(f"//{host}")
        name, _ = parts.hostname, parts.port
    except ValueError:
        return None
    return name if name and parts.netloc == host and "@" not in host else None


def _is_same(origin: str, host: str) -> bool:
    """Whether a page is one of our own, by the name that the request calls us."""
    return origin in (f"http://{host}", f"https://{host}")


def _client(scope: Scope) -> str:
    return str(scope["client"][0]) if scope.get("client") else "?"


def _refused(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    error: dict[str, Any] = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}
    return JSONResponse(error, status, headers)
