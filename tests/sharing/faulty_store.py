"""Stores of objects with faults: one that is slow or overloaded in front of a real one, and one that ignores conditions."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Faults:
    """How many of the next requests are answered with 503, of how many writes the reply is lost, and how long each takes."""

    def __init__(self) -> None:
        self.refused, self.lost, self.seconds, self.requests = 0, 0, 0.0, 0


@contextmanager
def faulty_store(url: str) -> Iterator[tuple[str, Faults]]:
    """Give a block the URL of a proxy in front of a store, and its faults."""
    faults, target = Faults(), urlsplit(url)

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_request(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            faults.requests += 1
            time.sleep(faults.seconds)
            if faults.refused > 0:
                faults.refused -= 1
                self._answer(503, {}, b"")
                return
            connection = HTTPConnection(target.hostname or "", target.port or 80, timeout=60)
            connection.request(self.command, self.path, body, dict(self.headers.items()))
            reply = connection.getresponse()
            content = reply.read()
            connection.close()
            kept = {name: value for name, value in reply.getheaders() if name.lower() not in ("connection", "transfer-encoding", "content-length")}  # fmt: skip
            if faults.lost > 0 and self.command == "PUT":
                faults.lost -= 1
                self._answer(503, {}, b"")
                return
            length = reply.getheader("Content-Length") if self.command == "HEAD" else None
            self._answer(reply.status, kept, content, length)

        def _answer(self, status: int, headers: dict[str, str], content: bytes, length: str | None = None) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status not in (204, 304):
                self.send_header("Content-Length", length or str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = handle_request

        def log_message(self, *_: object) -> None:
            pass

    with _serving(Proxy) as address:
        yield address, faults


@contextmanager
def careless_store() -> Iterator[str]:
    """Give a block the URL of a store that accepts every write, whatever its condition is."""

    class Careless(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._answer(200)

        def do_DELETE(self) -> None:
            self._answer(204)

        def _answer(self, status: int) -> None:
            self.send_response_only(status)
            self.send_header("ETag", '"1"')
            if status != 204:
                self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with _serving(Careless) as address:
        yield address


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
