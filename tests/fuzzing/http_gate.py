"""The HTTP application in memory: a request as bytes goes in, and its reply has to be a proper one."""

import asyncio
import logging
from typing import Any
from urllib.parse import unquote

from dowse.mcp.http.access import AccessControl, Admission
from dowse.mcp.http.app import make_app
from dowse.mcp.protocol import make_server
from tests.mcp.fixed_tools import fixed_tools

REQUESTS_PER_APP = 200
"""Requests for one application; sessions that requests open end with it."""
TOKEN = "correct-horse-battery"
ADMISSION = Admission(origins=frozenset({"https://example.org"}), token=TOKEN)

_loop = asyncio.new_event_loop()


class _App:
    """An application between its start and its end."""

    def __init__(self) -> None:
        self.count = 0
        self.app: AccessControl = make_app(make_server(fixed_tools([]), instructions=""), list, ADMISSION)
        self._events: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self._states: asyncio.Queue[str] = asyncio.Queue()
        self._task = _loop.create_task(self._live())
        _loop.run_until_complete(self._change("startup"))

    async def _live(self) -> None:
        async def send(message: Any) -> None:
            self._states.put_nowait(message["type"])

        await self.app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, self._events.get, send)

    async def _change(self, kind: str) -> None:
        self._events.put_nowait({"type": f"lifespan.{kind}"})
        state = await self._states.get()
        assert state == f"lifespan.{kind}.complete", state

    def stop(self) -> None:
        """End the application and its sessions."""
        _loop.run_until_complete(self._change("shutdown"))
        _loop.run_until_complete(self._task)


_apps: list[_App] = []


def answer(data: bytes) -> int:
    """Answer a request of the form `METHOD TARGET`, headers, an empty line, body; return the status."""
    logging.disable(logging.CRITICAL)
    try:
        return _answer(data)
    finally:
        logging.disable(logging.NOTSET)


def _answer(data: bytes) -> int:
    if _apps and _apps[0].count >= REQUESTS_PER_APP:
        _apps.pop().stop()
    if not _apps:
        _apps.append(_App())
    _apps[0].count += 1
    head, _, body = data.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    method, _, target = first.decode("latin-1").partition(" ")
    path, _, query = target.partition("?")
    headers = [
        (name.strip().lower(), value.strip())
        for name, colon, value in (line.partition(b":") for line in lines)
        if colon
    ]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(path), "raw_path": path.encode("latin-1"), "query_string": query.encode("latin-1"), "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8321), "root_path": "",
    }  # fmt: skip
    return _loop.run_until_complete(_exchange(_apps[0].app, scope, body))


async def _exchange(app: AccessControl, scope: dict[str, Any], body: bytes) -> int:
    statuses: list[int] = []
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if parts:
            return parts.pop()
        await asyncio.sleep(0.01)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await asyncio.wait_for(app(scope, receive, send), 10)
    assert not statuses or (len(statuses) == 1 and 200 <= statuses[0] < 600 and statuses[0] != 500), statuses
    return statuses[0] if statuses else 0
