"""Many clients and many requests: no error, no memory growth, and a fair share for each client."""

import asyncio
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from bench.load import Client
from starlette.types import Receive, Scope, Send

from dowse.mcp.http import access
from dowse.mcp.http.access import AccessControl, Admission, RateLimit, client_key, is_loopback
from tests.mcp.http.conftest import start_shared_server
from tests.mcp.http.http_server import HttpClient, HttpServer
from tests.mcp.stdio.stdio_client import NEWER, OLDER, wait_until
from tests.sample_data import index, write_tree

MAX_GROWTH_BYTES = 8_000_000
"""More than a garbage collector leaves lying about, and far less than 4 KB a request."""


FRUITS = 40
"""Files of which each has a name of its own."""
REPEATED_ID = 7


class RepeatingClient(Client):
    """A client with the ids of all other clients; all of its requests have one, except in a session, which forbids it."""

    async def search(self, number: int) -> float:
        """Ask for the name in one file; return the seconds until the answer, which has to be about this file alone."""
        if self._revision == NEWER:
            self._numbers = itertools.repeat(REPEATED_ID)  # type: ignore[assignment]
        began = time.perf_counter()
        result = await self._request(
            "tools/call", {"name": "search_code", "arguments": {"query": f"peel_fruit{number}x"}}
        )
        taken = time.perf_counter() - began
        found = result["structuredContent"]["results"][0]
        assert (found["path"], f"peel_fruit{number}x" in str(found)) == (f"fruit{number}.py", True), found
        return taken


async def search_at_once(url: str, clients: int, each: int) -> list[float]:
    """Let clients of both revisions ask at the same time, each for something else; return the seconds of each call."""
    connect = RepeatingClient.connect
    connected = await asyncio.gather(*(connect(url, (OLDER, NEWER)[number % 2]) for number in range(clients)))

    async def search(number: int, client: Client) -> list[float]:
        assert isinstance(client, RepeatingClient)
        return [await client.search((number * 7 + call) % FRUITS) for call in range(each)]

    taken = await asyncio.gather(*map(search, range(clients), connected))
    for client in connected:
        client.close()
    return [seconds for times in taken for seconds in times]


@pytest.mark.parametrize("each", [1, pytest.param(50, marks=[pytest.mark.soak, pytest.mark.timeout(1200)])])
def test_two_hundred_clients_with_the_same_ids_get_their_own_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, each: int
) -> None:
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path / "dowse"))
    write_tree(tmp_path / "fruits", {f"fruit{n}.py": f"def peel_fruit{n}x():\n    return {n}\n" for n in range(FRUITS)})
    index(tmp_path / "fruits")
    with start_shared_server(tmp_path / "fruits", "--rate", "0") as server:
        taken = sorted(asyncio.run(search_at_once(server.url, 200, each)))
        assert "Traceback" not in server.stderr
    assert len(taken) == 200 * each
    print(f"median {taken[len(taken) // 2]:.2f} s, p99 {taken[len(taken) * 99 // 100]:.2f} s, most {taken[-1]:.2f} s")


@pytest.fixture(scope="module")
def busy(fruit: Path) -> Iterator[HttpServer]:
    """A server without a rate limit."""
    with start_shared_server(fruit, "--rate", "0") as server:
        yield server
        assert "Traceback" not in server.stderr


def requests_of_all_kinds(server: HttpServer) -> Iterator[Callable[[], object]]:
    """Send all kinds of requests in turn, invalid ones as well."""
    older, newer = HttpClient(server, OLDER), HttpClient(server, NEWER)
    kinds: list[Callable[[], object]] = [
        lambda: newer.send_request("server/discover"),
        lambda: older.send_request("ping"),
        lambda: newer.send_request("no/such"),
        lambda: newer.post(b"{"),
        lambda: older.post([]),
        lambda: server.send_request("DELETE", "/mcp", **HttpClient(server, OLDER).headers),
        lambda: server.send_request("POST", "/mcp", b"x" * 1000, Origin="https://evil.example"),
        lambda: server.send_request("GET", f"/{os.urandom(8).hex()}"),
        lambda: newer.start(newer.message("server/discover")).drop(),
        lambda: older.start(older.message("ping")).drop(),
        lambda: server.post(
            {**newer.message("tools/list"), "id": os.urandom(8).hex()}, Mcp_Session_Id=os.urandom(8).hex()
        ),
    ]
    return itertools.cycle(kinds)


def growth(server: HttpServer, requests: Iterator[Callable[[], object]], warm_up: int, count: int) -> int:
    """Return how much memory a server gains over a number of requests."""
    for send in itertools.islice(requests, warm_up):
        send()
    before = server.memory_bytes()
    for send in itertools.islice(requests, count):
        send()
    server.assert_serves()
    return server.memory_bytes() - before


@pytest.mark.parametrize(("warm_up", "count"), [(300, 500), pytest.param(1000, 10_000, marks=pytest.mark.soak)])
def test_requests_of_all_kinds_leave_nothing_behind(busy: HttpServer, warm_up: int, count: int) -> None:
    assert growth(busy, requests_of_all_kinds(busy), warm_up, count) < MAX_GROWTH_BYTES


# The rate limit


def test_a_client_that_asks_too_often_is_told_to_wait_and_then_may_ask_again(fruit: Path) -> None:
    with start_shared_server(fruit, "--rate", "2") as server:
        replies = [server.send_request("GET", "/health") for _ in range(20)]
        refused = [reply for reply in replies if reply.status == 429]
        assert replies[0].status == 200
        assert refused
        assert {reply.headers["retry-after"] for reply in refused} == {"1"}
        assert json.loads(refused[0].body)["error"]["code"] == -32600
        wait_until(lambda: server.send_request("GET", "/health").status == 200)


def test_what_a_strange_page_asks_does_not_use_up_what_we_may() -> None:
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def send_requests() -> list[int]:
        access, statuses = AccessControl(app, Admission(), rate=0.001), list[int]()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        for origin in ([(b"origin", b"https://evil.example")], [], []):
            scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b""}
            await access({**scope, "headers": [(b"host", b"localhost"), *origin]}, receive_nothing, send)
        return statuses

    assert anyio.run(send_requests) == [403, 200, 429]


async def receive_nothing() -> Any:
    raise AssertionError("nothing is read")


def test_a_bucket_fills_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    buckets = RateLimit(10)
    assert [buckets.seconds_to_wait("1.2.3.4") for _ in range(20)] == [0.0] * 20
    assert buckets.seconds_to_wait("1.2.3.4") == pytest.approx(0.1)
    assert buckets.seconds_to_wait("1.2.3.5") == 0
    now += 0.25
    assert [buckets.seconds_to_wait("1.2.3.4") == 0 for _ in range(3)] == [True, True, False]


def test_a_rate_of_less_than_one_lets_one_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    buckets = RateLimit(0.1)
    assert buckets.seconds_to_wait("1.2.3.4") == 0
    assert buckets.seconds_to_wait("1.2.3.4") == pytest.approx(10)


def test_only_so_many_clients_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MAX_KNOWN_CLIENTS", 3)
    buckets = RateLimit(0.001)
    waits = [
        buckets.seconds_to_wait(address) > 0
        for address in ("1.1.1.1", "2.2.2.2", "2.2.2.2", "3.3.3.3", "4.4.4.4", "1.1.1.1")
    ]
    assert waits == [False, False, True, False, False, False]


def test_this_machine_may_ask_more_often_than_others() -> None:
    buckets = RateLimit(None)
    waits = {
        address: sum(buckets.seconds_to_wait(address) == 0 for _ in range(500)) for address in ("127.0.0.1", "10.0.0.1")
    }
    assert waits["127.0.0.1"] == 500
    assert waits["10.0.0.1"] < 200


@pytest.mark.parametrize(
    ("address", "is_ours"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("::ffff:127.0.0.1", True),
     ("0.0.0.0", False), ("::", False), ("10.0.0.1", False), ("::ffff:10.0.0.1", False), ("127.1", False),
     ("localhost.", False), ("127.0.0.1.evil.example", False), ("", False), ("?", False)],
)  # fmt: skip
def test_which_addresses_are_this_machine(address: str, is_ours: bool) -> None:
    assert is_loopback(address) is is_ours


def test_a_network_of_ipv6_is_one_client() -> None:
    assert client_key("2001:db8::1") == client_key("2001:db8::ffff:1") != client_key("2001:db8:0:1::1")
    assert client_key("::ffff:10.0.0.1") == client_key("10.0.0.1") != client_key("10.0.0.2")
