"""Fixtures: a small indexed project, and the library that makes the system behave badly."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sample_data import index, write_tree

FRUIT = {
    "pyproject.toml": "[project]\nname = 'fruit'\n",
    "src/apple.py": "def peel_apple():\n    return 'red'\n",
    "docs/guide.md": "# Guide\n\nHow to peel an apple.\n",
}


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the library, for `LD_PRELOAD`."""
    if sys.platform != "linux" or not shutil.which("cc"):
        pytest.skip("needs Linux and a C compiler to change what the system does")
    made = tmp_path_factory.mktemp("conditions") / "conditions.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", made, Path(__file__).with_name("conditions.c"), "-ldl"], check=True
    )
    return str(made)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "fruit", FRUIT)


@pytest.fixture
def indexed(root: Path) -> Path:
    index(root)
    return root
