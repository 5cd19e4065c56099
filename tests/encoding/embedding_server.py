"""A web server for tests with an OpenAI-compatible endpoint that serves our own table, and misbehaves on request."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from dowse.encoding.shipped import static_encoder


@dataclass
class EmbeddingServer:
    """An endpoint, what it was sent, and how it misbehaves."""

    url: str = ""
    texts: list[str] = field(default_factory=list)
    """All texts that it was sent."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The path, the key and the model of each request, and the number of its texts."""
    statuses: list[tuple[int, str]] = field(default_factory=list)
    """Replies, with their bodies, that the next requests get instead."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of those replies."""
    max_characters: int = 10**6
    """Longer texts are refused."""
    common: float = 0.0
    """The length of a direction that is added to all vectors."""
    is_hanging: bool = False
    distort: Callable[[list[dict[str, Any]]], Any] = lambda items: items
    """Returns the items of a reply as it sends them."""
    released: threading.Event = field(default_factory=threading.Event)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        asked = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        texts = asked["input"]
        self.texts += texts
        key = handler.headers.get("Authorization")
        self.requests.append({"path": handler.path, "key": key, "model": asked["model"], "texts": len(texts)})
        if self.is_hanging:
            self.released.wait(30)
            return
        if self.statuses:
            self._reply(handler, *self.statuses.pop(0), self.headers)
        elif any(len(text) > self.max_characters for text in texts):
            self._reply(handler, 400, '{"error": {"message": "input is too long for the context"}}')
        else:
            items = [{"index": at, "embedding": vector} for at, vector in enumerate(self.vectors(texts))]
            self._reply(handler, 200, json.dumps({"object": "list", "data": self.distort(items)}))

    def vectors(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts, which need not have length 1."""
        return [[*map(float, row), self.common, 0.1] for row in static_encoder().encode(texts)]

    def _reply(
        self, handler: BaseHTTPRequestHandler, status: int, body: str, headers: dict[str, str] | None = None
    ) -> None:
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body.encode())))
        handler.end_headers()
        handler.wfile.write(body.encode())


@contextlib.contextmanager
def serving(server: EmbeddingServer, port: int = 0) -> Iterator[EmbeddingServer]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    running = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    running.daemon_threads = True
    server.url = f"http://127.0.0.1:{running.server_address[1]}"
    threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.released.set()
        running.shutdown()
        running.server_close()
