"""Who may come in over HTTP, and how often.

A web page anywhere can make a browser send requests to this machine. So a request has to name us
(Host), must not come from a page we do not know (Origin), and beyond this machine needs a token.
"""

import hmac
import re
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dowse.http.rate_limit import RateLimit
from dowse.http.requests import OpenRequests, Request, client_of, refused

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_HEADERS = 100
MAX_HEAD_BYTES = 32 * 1024
"""Of one request."""

_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_.-]+))(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE)
"""A name or an address and perhaps a port, and nothing that two programs could read differently."""
_MAX_PORT = 65535
_DISCOVERY = "/.well-known/"
"""Where clients look for a way to get a token; they understand 404 and not 401."""

_CORS = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, "
    "mcp-method, mcp-name, last-event-id",
    "Access-Control-Expose-Headers": "mcp-session-id, www-authenticate, retry-after",
    "Access-Control-Max-Age": "600",
    "Access-Control-Allow-Private-Network": "true",
}
_ALWAYS = {"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin"}


@dataclass(frozen=True, slots=True)
class Admission:
    """What a request needs to be let in."""

    hosts: frozenset[str] | None = LOOPBACK_NAMES
    """Names that we answer to, in lower case; None for any."""
    origins: frozenset[str] = frozenset()
    """Web pages that may ask, beside our own, as browsers spell them."""
    token: str | None = None
    open_paths: frozenset[str] = frozenset({"/", "/health"})
    """What needs no token; they tell less without one."""


class AccessControl:
    """Lets requests in or turns them away, and writes down what came of each."""

    def __init__(self, app: ASGIApp, admission: Admission, rate: float | None = None) -> None:
        self.exchanges = OpenRequests()
        self._app = app
        self._admission = admission
        self._rates = RateLimit(rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the start and end of the application."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        exchange = Request(scope, send, self._extra(headers))
        refusal = self._refusal(scope, headers)
        try:
            if refusal is None:
                exchange.knows_token = self._knows_token(headers)
                await self.exchanges.run(exchange, self._app, scope, receive)
            else:
                await refusal(scope, receive, exchange.send)
        finally:
            exchange.log()

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        path = scope["path"]
        if len(scope["headers"]) > MAX_HEADERS or _head_bytes(scope) > MAX_HEAD_BYTES:
            return refused(431, "The request has too many headers, or too large ones.")
        if not path.startswith("/") and scope["method"] != "OPTIONS":  # a target with a host in it, as for a proxy
            return refused(400, "This server is not a proxy.")
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_us(hosts[0]):
            return refused(421, "This server does not go by that name. Use the address it was started with.")
        if not all(self._may_ask(origin, hosts[0]) for origin in origins) or len(origins) > 1:
            return refused(403, "Web pages may not use this server, unless it was started with --allow-origin.")
        if scope["method"] == "OPTIONS":
            return Response(status_code=204)
        if wait := self._rates.wait_of(client_of(scope)):
            return refused(429, "Too many requests.", {"Retry-After": str(max(1, round(wait)))})
        is_open = path in self._admission.open_paths or path.startswith(_DISCOVERY)
        if not is_open and not self._knows_token(headers):
            return refused(401, "A token is needed: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"})
        return None

    def _is_us(self, host: str) -> bool:
        name = name_of(host)
        return name is not None and (self._admission.hosts is None or name in self._admission.hosts)

    def _may_ask(self, origin: str, host: str) -> bool:
        """Whether a page is a known one, or one of our own by the name that the request calls us."""
        return origin in self._admission.origins or origin in (f"http://{host}", f"https://{host}")

    def _knows_token(self, headers: Headers) -> bool:
        if self._admission.token is None:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        is_right = hmac.compare_digest(given.strip().encode(), self._admission.token.encode())
        return is_right and scheme.lower() == "bearer"

    def _extra(self, headers: Headers) -> dict[str, str]:
        """What every reply carries; pages that may read it are told so."""
        if not self._admission.origins:
            return _ALWAYS
        extra, origin = {**_ALWAYS, "Vary": "Origin"}, headers.get("origin")
        return {**extra, **_CORS, "Access-Control-Allow-Origin": origin} if origin in self._admission.origins else extra


def _head_bytes(scope: Scope) -> int:
    target = len(scope["raw_path"]) + len(scope["query_string"])
    return target + sum(len(name) + len(value) for name, value in scope["headers"])


def name_of(host: str) -> str | None:
    """The name in a Host header in lower case, without its port; None for what is none."""
    found = _HOST.fullmatch(host)
    if found is None or int(found["port"] or 0) > _MAX_PORT:
        return None
    return (found["v6"] or found["name"]).lower()
