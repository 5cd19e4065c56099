"""Projects for the real server: a small one, and one that takes a while to index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.crash.project import make_project
from tests.mcp.stdio.stdio_client import NEWER, OLDER, StdioClient
from tests.sample_data import index, write_tree

FILES = 600
"""Enough that indexing them takes longer than the actions of a test."""


FRUIT = {
    "pyproject.toml": "[project]\nname = 'fruit'\n",
    "src/apple.py": "def peel_apple():\n    return 'red'\n",
    "docs/guide.md": "# Guide\n\nHow to peel an apple.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project that is not indexed."""
    return write_tree(tmp_path / "fruit", FRUIT)


@pytest.fixture
def indexed(root: Path) -> Path:
    """The small project, indexed."""
    index(root)
    return root


@pytest.fixture(scope="session")
def orchard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that takes seconds to index; tests do not change its files."""
    return make_project(tmp_path_factory.mktemp("large") / "orchard", FILES)


@pytest.fixture(params=[OLDER, NEWER])
def revision(request: pytest.FixtureRequest) -> str:
    """The older protocol and the newer one."""
    return str(request.param)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    """One server of the small project for many tests, none of which may harm it."""
    folder = tmp_path_factory.mktemp("served")
    root = write_tree(folder / "fruit", FRUIT)
    with StdioClient(root, HOME=str(folder), DOWSE_HOME=str(folder / "dowse")) as client:
        client.initialize().call("create_index")
        yield client
