"""Fixtures: an indexed project, and keepers that stop after the test."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from dowse.keeping.keeper import Keeper
from tests.sample_data import open_indexed, write_tree

Paths = Callable[[], set[str]]
Keep = Callable[[], Keeper]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    write_tree(
        folder,
        {
            "src/apple.py": "def apple(): return 'red'\n",
            "src/pear.py": "def pear(): return 'green'\n",
            "docs/guide.md": "# Guide\n\nHow to peel an orange.\n",
        },
    )
    return folder


@pytest.fixture
def project(root: Path) -> Iterator[ProjectIndex]:
    """The indexed project, as the thread that answers opens it."""
    project = open_indexed(root)
    while project.drift().pending:  # the files were read in the same clock tick in which they were written
        time.sleep(0.01)
        project.update()
    yield project
    project.close()


@pytest.fixture
def keep(root: Path) -> Iterator[Keep]:
    keepers: list[Keeper] = []

    def start() -> Keeper:
        keepers.append(Keeper(root))
        return keepers[-1]

    yield start
    for keeper in keepers:
        keeper.stop()


@pytest.fixture
def paths(project: ProjectIndex) -> Paths:
    """A function that returns the paths in the index."""

    def indexed() -> set[str]:
        project.store.refresh()
        return {document.path for document in project.store.documents()}

    return indexed
