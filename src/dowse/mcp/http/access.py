"""Access control for HTTP requests: their tokens, limits and log, and their end when the server stops.

Any web page can make a browser send requests to this machine. So a request has to name this server (Host), must
not come from an unknown page (Origin), and needs a token where other machines can connect.
"""

import hmac
import ipaddress
import logging
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from anyio import CancelScope
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_KEY = "dowse.exchange"
"""The key under which the scope of a request holds its `Request`."""
LOGGED_PATH_CHARACTERS = 200

_SESSION_HEADER = b"mcp-session-id"
_FIRST_ERROR_STATUS = 400
_log = logging.getLogger("dowse.access")


class Request:
    """A request, and the state of its reply."""

    has_token = False
    is_stream = False
    """The reply is a stream of events, which ends only with the connection."""

    def __init__(self, scope: Scope, send: Send, reply_headers: Mapping[str, str]) -> None:
        self.status = 0
        self.is_complete = False
        self.cancel_scope = CancelScope()
        self._scope, self._send, self._started = scope, send, time.perf_counter()
        self._headers = [(name.lower().encode(), value.encode()) for name, value in reply_headers.items()]

    async def send(self, message: Message) -> None:
        """Send a part of the reply."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = message.get("headers", ())
            if self.status >= _FIRST_ERROR_STATUS:  # the SDK names a session even when it has opened none
                headers = [(name, value) for name, value in headers if name.lower() != _SESSION_HEADER]
            message = {**message, "headers": [*headers, *self._headers]}
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self.is_complete = True

    async def finish(self, receive: Receive) -> None:
        """Complete a reply that was cut off, in a way that the client understands."""
        if not self.status:
            await error_response(503, "The server is shutting down.")(self._scope, receive, self.send)
        elif not self.is_complete:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    def log(self) -> None:
        """Log the client, the path and the result; not the content of the request."""
        milliseconds = (time.perf_counter() - self._started) * 1000
        method, path = self._scope["method"][:20], quote(self._scope["path"][:LOGGED_PATH_CHARACTERS])
        _log.info("%s %s %s %d %.0f ms", client_address(self._scope), method, path, self.status, milliseconds)


def client_address(scope: Scope) -> str:
    """Return the address that a request came from."""
    return str(scope["client"][0]) if scope.get("client") else "?"


def error_response(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error as a JSON-RPC message, which MCP clients understand."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}
    return JSONResponse(error, status, headers)


class BrowserSessions:
    """The cookie of one server. It ends with the server, and no request but that of our own page carries it."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.cookie_name = f"dowse-{port}"
        """Browsers share cookies between the ports of a machine, so the name says which server a cookie is for."""
        self.form_token = secrets.token_urlsafe(32)
        """The token in our forms. A page of another origin cannot read it."""
        self._cookie = secrets.token_urlsafe(32)
        self._token = token
        self.key = secrets.token_urlsafe(32)
        """The key in the address that a browser is opened with; it works until the server stops."""

    def accepts_key(self, key: str) -> bool:
        """Return whether this is the key of the address."""
        return _is_same(key, self.key)

    def knows(self, token: str) -> bool:
        """Return whether this is the token of the server."""
        return self._token is not None and _is_same(token, self._token)

    def has_cookie(self, headers: Headers) -> bool:
        """Return whether a request carries the cookie."""
        given = cookie_parser(headers.get("cookie", "")).get(self.cookie_name, "")
        return _is_same(given, self._cookie)

    def may_change(self, headers: Headers, form_token: str) -> bool:
        """Return whether a form was sent by our own page, in a browser that has the cookie."""
        return self.has_cookie(headers) and _is_same(form_token, self.form_token)

    def give_cookie(self, response: Response, headers: Headers) -> None:
        """Add the cookie to a reply. A proxy in front says whether TLS is used."""
        is_secure = headers.get("x-forwarded-proto") == "https"
        response.set_cookie(self.cookie_name, self._cookie, secure=is_secure, httponly=True, samesite="strict")


def _is_same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


LOOPBACK_RATE = 1000.0
REMOTE_RATE = 50.0
"""Requests a second of one client; a burst may have twice as many."""
MAX_KNOWN_CLIENTS = 10_000
"""Clients that are remembered; those that were silent longest are forgotten."""
NETWORK_BITS = 64
"""A client with one IPv6 address usually has the whole network of this size."""
MAX_CACHED_ADDRESSES = 1000
"""Parsed addresses that are cached."""


class RateLimit:
    """The number of requests that each client has left."""

    def __init__(self, rate: float | None) -> None:
        self._rate = rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def seconds_to_wait(self, address: str) -> float:
        """Count a request; return how long its client has to wait, 0 if the request is accepted."""
        rate = self._rate if self._rate is not None else LOOPBACK_RATE if is_loopback(address) else REMOTE_RATE
        if not rate:
            return 0.0
        burst, now, client = max(1.0, 2 * rate), time.monotonic(), client_key(address)
        left, seen = self._left.pop(client, (burst, now))
        left = min(burst, left + (now - seen) * rate)
        is_accepted = left >= 1
        # A refused request costs nothing, otherwise a client that keeps trying would never succeed.
        self._left[client] = left - is_accepted, now
        if len(self._left) > MAX_KNOWN_CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if is_accepted else (1 - left) / rate


@lru_cache(MAX_CACHED_ADDRESSES)
def is_loopback(address: str) -> bool:
    """Return whether an address is a loopback address."""
    if address == "localhost":
        return True
    found = _parse_address(address)
    return found is not None and found.is_loopback


@lru_cache(MAX_CACHED_ADDRESSES)
def client_key(address: str) -> str:
    """Return the key of the client that an address belongs to: the network for IPv6, else the address."""
    found = _parse_address(address)
    if isinstance(found, ipaddress.IPv6Address) and not found.is_loopback:
        return str(ipaddress.ip_network((int(found), NETWORK_BITS), strict=False))
    return str(found or address)


def _parse_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


MCP_PATHS = ("/mcp", "/mcp/")
LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_HEADERS = 100
MAX_HEAD_BYTES = 32 * 1024
"""Limits of one request."""

_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_.-]+))(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE)
"""A name or an address and perhaps a port; nothing that two programs could parse differently."""
_MAX_PORT = 65535
_OPEN_PATHS = ("/health", "/sign-in")
"""Paths that need no token; their replies say less without one."""
_OPEN_FOLDERS = ("/assets/", "/.well-known/")
"""The style and the script of the page, and where clients look for a way to get a token; they expect 404, not 401."""

_CORS = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, "
    "mcp-method, mcp-name, last-event-id",
    "Access-Control-Expose-Headers": "mcp-session-id, www-authenticate, retry-after",
    "Access-Control-Max-Age": "600",
    "Access-Control-Allow-Private-Network": "true",
}
_SECURITY_HEADERS = {"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin"}


SignIn = Callable[[Scope], Response]


@dataclass(frozen=True, slots=True)
class Admission:
    """The conditions under which requests are accepted."""

    hosts: frozenset[str] | None = LOOPBACK_NAMES
    """Names of this server in Host headers, in lower case; None accepts any."""
    origins: frozenset[str] = frozenset()
    """Origins of web pages that may send requests, beside our own, as browsers spell them."""
    token: str | None = None
    """The token that requests must carry; None where none is needed."""
    sessions: BrowserSessions | None = None
    """Browsers whose cookie counts as the token, everywhere but at the MCP endpoint; None without a page."""


class AccessControl:
    """The ASGI application around all others: it accepts or refuses requests, and logs each."""

    def __init__(
        self, app: ASGIApp, admission: Admission, rate: float | None = None, sign_in: SignIn | None = None
    ) -> None:
        """`sign_in` returns the reply to a browser without a token."""
        self._open: set[Request] = set()
        self._sign_in = sign_in
        self._app = app
        self._admission = admission
        self._rate_limit = RateLimit(rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or the start and end of the application."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        request = Request(scope, send, self._reply_headers(headers))
        refusal = self._refusal(scope, headers)
        try:
            if refusal is None:
                request.has_token = self._has_token(scope["path"], headers)
                await self._answer(request, scope, receive)
            else:
                await refusal(scope, receive, request.send)
        finally:
            request.log()

    async def _answer(self, request: Request, scope: Scope, receive: Receive) -> None:
        """Answer a request, or cut it off when the server stops."""
        scope[REQUEST_KEY] = request
        self._open.add(request)
        try:
            with request.cancel_scope:
                await self._app(scope, receive, request.send)
            if request.cancel_scope.cancelled_caught:
                await request.finish(receive)
        finally:
            self._open.discard(request)

    def end_requests(self, *, streams_alone: bool = False) -> None:
        """End all requests, so that clients that wait get an error, or the streams, which would not end by themselves."""
        for request in list(self._open):
            if request.is_stream or not streams_alone:
                request.cancel_scope.cancel()

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the reply that refuses a request; None for a request that is accepted."""
        path = scope["path"]
        if len(scope["headers"]) > MAX_HEADERS or _head_bytes(scope) > MAX_HEAD_BYTES:
            return error_response(431, f"Too many headers; the maximum is {MAX_HEADERS} with {MAX_HEAD_BYTES:,} bytes.")
        if not path.startswith("/") and scope["method"] != "OPTIONS":  # a target with a host in it, as proxies get
            return error_response(400, "This server is not a proxy.")
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_own_name(hosts[0]):
            return error_response(
                421, "Unknown host name. Use the address the server was started with, or start it with --allow-host."
            )
        if not all(self._is_allowed_origin(origin, hosts[0]) for origin in origins) or len(origins) > 1:
            return error_response(
                403, "This origin is not allowed. To let web pages use the server, start it with --allow-origin."
            )
        is_named = any(origin in self._admission.origins for origin in origins)
        if path not in MCP_PATHS and not is_named and _is_part_of_another_page(scope["method"], headers):
            return error_response(403, "Only the page of this server may load this.")
        if scope["method"] == "OPTIONS":
            return Response(status_code=204)
        if wait := self._rate_limit.seconds_to_wait(client_address(scope)):
            return error_response(429, "Too many requests.", {"Retry-After": str(max(1, round(wait)))})
        is_open = path in _OPEN_PATHS or path.startswith(_OPEN_FOLDERS)
        if not is_open and not self._has_token(path, headers):
            if self._sign_in and path not in MCP_PATHS and "text/html" in headers.get("accept", ""):
                return self._sign_in(scope)
            return error_response(401, "A token is required: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"})
        return None

    def _is_own_name(self, host: str) -> bool:
        name = parse_host(host)
        return name is not None and (self._admission.hosts is None or name in self._admission.hosts)

    def _is_allowed_origin(self, origin: str, host: str) -> bool:
        """Return whether an origin is allowed: a configured one, or this server by the name in the Host header."""
        return origin in self._admission.origins or origin in (f"http://{host}", f"https://{host}")

    def _has_token(self, path: str, headers: Headers) -> bool:
        if self._admission.token is None:
            return True
        sessions = self._admission.sessions
        if sessions and path not in MCP_PATHS and sessions.has_cookie(headers):
            return True
        scheme, _, token = headers.get("authorization", "").partition(" ")
        is_right = hmac.compare_digest(token.strip().encode(), self._admission.token.encode())
        return is_right and scheme.lower() == "bearer"

    def _reply_headers(self, headers: Headers) -> dict[str, str]:
        """Return the headers of every reply; allowed web pages get CORS headers."""
        if not self._admission.origins:
            return _SECURITY_HEADERS
        extra, origin = {**_SECURITY_HEADERS, "Vary": "Origin"}, headers.get("origin")
        return {**extra, **_CORS, "Access-Control-Allow-Origin": origin} if origin in self._admission.origins else extra


def _is_part_of_another_page(method: str, headers: Headers) -> bool:
    """Return whether a browser says that a page from elsewhere sends this request, and not to leave itself for it."""
    site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
    is_link = mode == "navigate" and method == "GET" and headers.get("sec-fetch-dest") == "document"
    return site in ("cross-site", "same-site") and not is_link


def _head_bytes(scope: Scope) -> int:
    target = len(scope["raw_path"]) + len(scope["query_string"])
    return target + sum(len(name) + len(value) for name, value in scope["headers"])


def parse_host(host: str) -> str | None:
    """Return the name in a Host header, in lower case and without its port; None for a malformed header."""
    match = _HOST.fullmatch(host)
    if match is None or int(match["port"] or 0) > _MAX_PORT:
        return None
    return (match["v6"] or match["name"]).lower()
