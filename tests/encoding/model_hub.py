"""A web server for tests that serves files like the Hugging Face, and can fail like it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.http_server import serving


@dataclass
class Hub:
    """Files by their paths, and the failures of the server."""

    files: dict[str, bytes]
    url: str = ""
    cut_after: list[int] = field(default_factory=list)
    """The number of bytes after which each of the next responses breaks off."""
    statuses: list[int] = field(default_factory=list)
    """Responses that the next requests get instead."""
    redirect: str = ""
    """The location of the large files."""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """The requested paths, and the range of each."""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        requested_range = handler.headers.get("Range", "")
        self.requests.append((handler.path, requested_range))
        if self.statuses:
            handler.send_error(self.statuses.pop(0))
            return
        if self.redirect and handler.path.endswith(".onnx") and not handler.path.startswith("/lake"):
            handler.send_response(302)
            handler.send_header("Location", f"{self.redirect}/lake{handler.path}")
            handler.end_headers()
            return
        data = self.files.get(handler.path.removeprefix("/lake"))
        if data is None:
            handler.send_error(404)
            return
        start = int(requested_range.removeprefix("bytes=").partition("-")[0]) if requested_range else 0
        handler.send_response(206 if requested_range else 200)
        handler.send_header("Content-Length", str(len(data) - start))
        handler.end_headers()
        end = start + self.cut_after.pop(0) if self.cut_after else len(data)
        handler.wfile.write(data[start:end])
        handler.close_connection = True


@contextlib.contextmanager
def served(hub: Hub) -> Iterator[Hub]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with serving(Handler) as hub.url:
        yield hub
