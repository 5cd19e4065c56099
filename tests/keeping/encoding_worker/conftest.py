"""Fixtures: a project that is quick to encode, and encoding processes that stop after their test."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dowse.encoding.selection import MINILM_VERSION
from dowse.indexes.encoding_progress import EncodingProgress, read_encoding_progress
from dowse.indexes.index import ProjectIndex
from dowse.keeping.encoding_worker.background_encoder import BackgroundEncoder
from tests.mcp.stdio import stdio_client
from tests.sample_data import write_tree

if TYPE_CHECKING:
    from dowse.types import Vectors

wait_until = partial(stdio_client.wait_until, seconds=90.0)
MANY = 150
"""Files that take some seconds to encode, so that something can happen meanwhile."""

FRUIT = {
    "apple.py": "def peel_apple(): return 'red'\n",
    "pear.py": "def peel_pear(): return 'green'\n",
    "guide.md": "# Guide\n\nHow to peel an orange.\n",
}

StartEncoder = Callable[..., BackgroundEncoder]


class Lengths:
    """An encoder for tests that records its texts; the length of a text determines its vector."""

    version = "lengths-1"
    dimensions = 4

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str], kind: str = "docs") -> "Vectors":
        self.seen += texts
        rows = np.array([[1, len(text), text.count("e"), 0] for text in texts], np.float32)
        made: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return made

    def encode_query(self, text: str) -> "Vectors":
        vector: Vectors = self.encode([text])[0]
        return vector


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "fruit", FRUIT)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "many", {f"file{number:03}.py": f"value = {number}\n" for number in range(MANY)})


@pytest.fixture
def indexed() -> Iterator[Callable[[Path], ProjectIndex]]:
    opened: list[ProjectIndex] = []

    def index(root: Path) -> ProjectIndex:
        opened.append(ProjectIndex(root))
        opened[-1].update()
        return opened[-1]

    yield index
    for project in opened:
        project.close()


@pytest.fixture
def start() -> Iterator[StartEncoder]:
    started: list[BackgroundEncoder] = []

    def make(**options: Any) -> BackgroundEncoder:
        started.append(BackgroundEncoder(**options))
        return started[-1]

    yield make
    for encoder in started:
        encoder.stop()


def encoding_progress(project: ProjectIndex) -> EncodingProgress:
    """Return the progress of the vectors of a project."""
    return read_encoding_progress(project.store, project.settings)


def is_complete(project: ProjectIndex) -> bool:
    return encoding_progress(project).state == "complete"


def wait_for_query(encoder: BackgroundEncoder, text: str, version: str = MINILM_VERSION) -> "Vectors":
    """Return the vector of a query, once the process is ready for it."""
    found: list[Vectors] = []

    def is_answered() -> bool:
        vector = encoder.start_query(version, text)(5.0)
        if vector is not None:
            found.append(vector)
        return bool(found)

    wait_until(is_answered)
    return found[0]
