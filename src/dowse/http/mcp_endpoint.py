"""The protocol's own address: what is posted there is checked, handed to the SDK, and stopped when its client goes.

Up to 2025-11-25 the SDK lets the work for a client that has gone go on, for the client might come back for
the reply. Here it cannot: nothing is kept to be sent again. So its going is its `notifications/cancelled`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from anyio import CancelScope
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from dowse.errors import BodyRefused, InvalidMessage
from dowse.http.requests import EXCHANGE, Request, refused
from dowse.mcp.jsonrpc_lines import line_of, message_of

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

MAX_BODY_BYTES = 4 * 1024 * 1024
MAX_BODIES_BYTES = 64 * 1024 * 1024
"""Of one request, and of all that are being answered."""
MAX_SESSIONS = 1000
BODY_SECONDS = 10.0
"""How long a request's body may take to arrive."""

_METHODS = ("GET", "POST", "DELETE")
_JSON = "application/json"
_LISTEN = "subscriptions/listen"


class Endpoint:
    """What answers at `/mcp`."""

    def __init__(self, server: "Server[Any]") -> None:
        # No tool of ours has arguments in headers; without this the SDK lists all tools at every call to find out.
        server.get_tool_input_schema = lambda _name: None
        self._manager = StreamableHTTPSessionManager(
            server, max_request_body_size=MAX_BODY_BYTES, max_sessions=MAX_SESSIONS
        )
        self._in_use: set[tuple[str, str]] = set()
        """Sessions with the ids of requests that are being answered."""
        self._held_bytes = 0

    def run(self) -> AbstractAsyncContextManager[None]:
        """The time in which requests are answered."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body = bytearray()
        try:
            await self._read(scope, receive, body)
            await self._answer(scope, bytes(body), receive, send)
        except BodyRefused as refusal:
            if refusal.reply:
                await refusal.reply(scope, receive, send)
        finally:
            self._held_bytes -= len(body)

    async def _read(self, scope: Scope, receive: Receive, body: bytearray) -> None:
        """Take the body in, if it comes soon and is not too large."""
        if scope["method"] not in _METHODS:
            raise BodyRefused(refused(405, "This method is not used here.", {"Allow": ", ".join(_METHODS)}))
        if scope["method"] == "POST" and not _is_json(Headers(scope=scope)):
            raise BodyRefused(refused(415, f"A message has the Content-Type {_JSON}."))
        try:
            async with asyncio.timeout(BODY_SECONDS):
                await self._receive(receive, body)
        except TimeoutError:
            raise BodyRefused(refused(408, "The request took too long to arrive.")) from None

    async def _receive(self, receive: Receive, body: bytearray) -> None:
        has_more = True
        while has_more:
            message = await receive()
            if message["type"] != "http.request":
                raise BodyRefused(None)  # the client has gone
            has_more, part = message.get("more_body", False), message.get("body", b"")
            if len(body) + len(part) > MAX_BODY_BYTES:
                raise BodyRefused(refused(413, f"A message has at most {MAX_BODY_BYTES:,} bytes."))
            if self._held_bytes + len(part) > MAX_BODIES_BYTES:
                raise BodyRefused(refused(503, "Too much is being sent at once.", {"Retry-After": "1"}))
            body += part
            self._held_bytes += len(part)

    async def _answer(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        exchange: Request = scope[EXCHANGE]
        headers = Headers(scope=scope)
        if scope["method"] != "POST":
            exchange.is_stream = scope["method"] == "GET"
            await self._hand_on(scope, body, receive, send)
            return
        message = _message_of(body)
        if isinstance(message, JSONRPCRequest):
            exchange.is_stream = message.method == _LISTEN
        if b"\\ud" in body or b"\\uD" in body:  # perhaps half a character, which the SDK refuses
            body = line_of(message)
        session = headers.get("mcp-session-id")
        if isinstance(message, JSONRPCRequest) and session and _is_older(headers):
            await self._answer_of_session(session, message, lambda: self._hand_on(scope, body, receive, send), exchange)
        else:
            await self._hand_on(scope, body, receive, send)

    async def _answer_of_session(
        self, session: str, request: JSONRPCRequest, hand_on: Callable[[], Awaitable[None]], exchange: Request
    ) -> None:
        key = session, str(request.id)
        if key in self._in_use:  # the SDK would leave the earlier one without an answer
            raise BodyRefused(refused(400, f"The id {json.dumps(request.id)} is in use."))
        self._in_use.add(key)
        try:
            await hand_on()
        finally:
            self._in_use.discard(key)
            if not exchange.is_complete:  # nobody is left to hear the answer: the client has gone, or we go
                with CancelScope(shield=True):
                    await self._cancel(session, request)

    async def _cancel(self, session: str, request: JSONRPCRequest) -> None:
        """Tell the session what its client would have told it."""
        why = {"requestId": request.id, "reason": "The client has gone."}
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": why}
        headers = {"content-type": _JSON, "accept": f"{_JSON}, text/event-stream", "mcp-session-id": session}
        scope = {
            "type": "http", "method": "POST", "path": "/mcp", "query_string": b"",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        }  # fmt: skip
        await self._hand_on(scope, json.dumps(note).encode(), _silence, _nowhere)

    async def _hand_on(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Let the SDK answer, with the body that was read before."""
        was_given = False

        async def given() -> Message:
            nonlocal was_given
            if was_given:
                return await receive()
            was_given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._manager.asgi_app(scope, given, send)


def _is_json(headers: Headers) -> bool:
    """Whether a message says that it is one: a web page cannot without being asked about first."""
    types = headers.getlist("content-type")
    return len(types) == 1 and types[0].partition(";")[0].strip().lower() == _JSON


def _is_older(headers: Headers) -> bool:
    version = headers.get("mcp-protocol-version")
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


def _message_of(body: bytes) -> JSONRPCMessage:
    try:
        message = message_of(body)
    except InvalidMessage as error:
        text = error.refusal.model_dump_json(by_alias=True, exclude_unset=True)
        raise BodyRefused(Response(text, 400, media_type=_JSON)) from None
    if isinstance(message, JSONRPCNotification) and "id" in json.loads(body.decode("utf-8-sig", "replace")):
        raise BodyRefused(refused(400, "The id of a request is a text or a whole number."))
    return message


async def _silence() -> Message:
    return {"type": "http.disconnect"}


async def _nowhere(_message: Message) -> None:
    return None
