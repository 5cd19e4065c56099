"""The health of the sources, for monitoring."""

import json
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from dowse.mcp.http.app import SourceCheck
from dowse.types import SourceHealth
from tests.mcp.http.conftest import FRUIT, TOKEN
from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import wait_until
from tests.sample_data import write_tree

SCRIPT = "<script>alert('x')&\"<b>"


def test_health_tells_strangers_less(guarded: HttpServer) -> None:
    for headers in ({}, {"Authorization": "Bearer something-else-altogether"}):
        health = json.loads(guarded.send_request("GET", "/health", **headers).body)
        assert sorted(health) == ["name", "status", "version"]
    health = json.loads(guarded.send_request("GET", "/health", Authorization=f"Bearer {TOKEN}").body)
    assert health["sources"][0]["name"] == "fruit"


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server of a project that can be removed, and of one whose name is a script."""
    folder = tmp_path_factory.mktemp("odd")
    roots = [write_tree(folder / name, FRUIT) for name in ("fruit", SCRIPT)]
    with HttpServer(*roots, home=folder) as server:
        yield server


def test_a_source_that_cannot_be_served_is_told_and_so_is_its_return(odd: HttpServer) -> None:
    root = Path(odd.roots[0])
    assert odd.send_request("GET", "/health").status == 200
    root.rename(root.parent / "elsewhere")
    wait_until(lambda: odd.send_request("GET", "/health").status == 503)
    health = json.loads(odd.send_request("GET", "/health").body)
    assert (health["status"], [source["status"] for source in health["sources"]]) == (
        "unavailable",
        ["unavailable", "ok"],
    )
    assert str(root.parent) not in json.dumps(health)
    (root.parent / "elsewhere").rename(root)
    wait_until(lambda: odd.send_request("GET", "/health").status == 200)


@pytest.mark.anyio
async def test_many_who_ask_at_once_have_the_sources_looked_at_once() -> None:
    checks: list[int] = []

    def sources() -> list[SourceHealth]:
        checks.append(1)
        return [SourceHealth("fruit")]

    check = SourceCheck(sources)
    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(check.sources)
    assert checks == [1]
