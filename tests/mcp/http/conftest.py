"""Fixtures: servers that tests share, and the projects they serve."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.conftest import FRUIT, indexed, revision, root
from tests.sample_data import index, write_tree

__all__ = ["FRUIT", "indexed", "revision", "root"]

TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="session")
def fruit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small project, indexed, with a storage root beside it, for servers that many tests use."""
    root = write_tree(tmp_path_factory.mktemp("http") / "fruit", FRUIT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOWSE_HOME", str(root.parent / "dowse"))
        index(root)
    return root


def start_shared_server(fruit: Path, *options: str, token: str | None = None) -> HttpServer:
    """Start a server of the small project that several tests share."""
    return HttpServer(fruit, options=options, home=fruit.parent, token=token)


@pytest.fixture(scope="session")
def shared(fruit: Path) -> Iterator[HttpServer]:
    with start_shared_server(
        fruit, "--allow-origin", "https://Example.org:443", "--allow-host", "search.example.org"
    ) as server:
        yield server


@pytest.fixture
def server(shared: HttpServer) -> Iterator[HttpServer]:
    """The shared server; after the test it must still answer and have logged no error."""
    logged = len(shared.stderr)
    yield shared
    shared.assert_serves()
    assert "Traceback" not in shared.stderr[logged:]
    assert shared.process.poll() is None


@pytest.fixture(scope="session")
def guarded(fruit: Path) -> Iterator[HttpServer]:
    """A server that demands a token, and listens on every address."""
    with start_shared_server(fruit, "--http", "0.0.0.0:0", "--allow-remote", token=TOKEN) as server:
        yield server
