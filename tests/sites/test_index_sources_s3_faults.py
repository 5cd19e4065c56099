"""A bucket behind a connection that fails: the site is served as it was, and comes back."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from dowse.sites import index_sources
from dowse.sites.index_sources import open_index_source
from dowse.sites.site import ServedSite
from tests.s3_server import make_bucket, needs_s3_server
from tests.sites.sample_sites import PAGES, encoded, index

pytestmark = [needs_s3_server, pytest.mark.soak, pytest.mark.timeout(300)]

FAILURE = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Proxy:
    """A proxy in front of a server, which forwards, cuts, fails or delays what the server says."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = parts.hostname, parts.port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.mode = "forward"
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            if self.mode == "refuse":
                return
            with socket.create_connection(self._target) as server:
                threading.Thread(target=self._copy, args=(client, server), daemon=True).start()
                self._answer(client, server)

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        while data := server.recv(65_536):
            if self.mode == "refuse":
                return
            if self.mode == "fail":
                client.sendall(FAILURE)
                return
            if self.mode == "cut":
                client.sendall(data[: len(data) // 2])
                return
            for at in range(0, len(data), 16) if self.mode == "slow" else (0,):
                client.sendall(data[at : at + 16] if self.mode == "slow" else data)
                if self.mode == "slow":
                    time.sleep(0.2)


@pytest.fixture
def proxy(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    made = Proxy(s3_url)
    make_bucket("sites").put_object(Bucket="sites", Key="search-index.json", Body=encoded(index()))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", made.url)
    yield made
    made.close()


@pytest.mark.parametrize("mode", ["refuse", "fail", "cut", "slow"])
def test_a_bucket_that_fails_for_a_while_does_not_take_the_site_away(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(index_sources, "FETCH_SECONDS", 3.0)
    now = 0.0
    live = ServedSite(open_index_source("s3://sites/search-index.json"), lambda: now)
    before: Any = live.current
    assert len(before) == 4
    client = make_bucket("sites")
    client.put_object(Bucket="sites", Key="search-index.json", Body=encoded(index(*PAGES[:2])))
    proxy.mode, now = mode, 100.0
    assert refreshed(live) is not None
    assert live.current is before
    proxy.mode, now = "forward", 100_000.0
    assert refreshed(live) is None
    assert len(live.current) == 2


def refreshed(live: ServedSite) -> str | None:
    """Fetch the index again; return what is wrong with it."""
    live.refresh()
    return live.problem
