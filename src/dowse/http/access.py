"""Access control for HTTP requests.

Any web page can make a browser send requests to this machine. So a request has to name this server (Host), must
not come from an unknown page (Origin), and needs a token where other machines can connect.
"""

import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dowse.http.browser_sessions import BrowserSessions
from dowse.http.rate_limit import RateLimit
from dowse.http.requests import OpenRequests, Request, client_address, error_response

MCP_PATHS = ("/mcp", "/mcp/")
LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_HEADERS = 100
MAX_HEAD_BYTES = 32 * 1024
"""Limits of one request."""

_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_.-]+))(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE)
"""A name or an address and perhaps a port; nothing that two programs could parse differently."""
_MAX_PORT = 65535
_DISCOVERY = "/.well-known/"
"""Where clients look for a way to get a token; they expect 404 there, not 401."""

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
    open_paths: frozenset[str] = frozenset({"/health", "/sign-in"})
    """Paths that need no token; their replies say less without one."""
    open_folder: str = "/assets/"
    """The style and the script of the page, which are the same for everybody."""


class AccessControl:
    """The ASGI application around all others: it accepts or refuses requests, and logs each."""

    def __init__(
        self, app: ASGIApp, admission: Admission, rate: float | None = None, sign_in: SignIn | None = None
    ) -> None:
        """`sign_in` returns the reply to a browser without a token."""
        self.open_requests = OpenRequests()
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
                await self.open_requests.run(request, self._app, scope, receive)
            else:
                await refusal(scope, receive, request.send)
        finally:
            request.log()

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
        is_open = path in self._admission.open_paths or path.startswith((_DISCOVERY, self._admission.open_folder))
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
