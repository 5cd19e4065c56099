"""A project that is served."""

from pathlib import Path

import pytest

from tests.sample_data import index, write_tree

FRUIT = {
    "pyproject.toml": "[project]\nname = 'fruit'\n",
    "src/apple.py": "def peel_apple():\n    return 'red'\n",
    "src/pear.py": "def peel_pear():\n    return 'green'\n",
    "docs/guide.md": "# Guide\n\nHow to peel an apple.\n",
    "notes.txt": "Pears keep longer than apples.\n",
    ".env": "TOKEN=hunter2\n",
    ".gitignore": "*.gen.py\n",
    "src/x.gen.py": "generated = 'hunter2'\n",
}
INDEXED = sorted(FRUIT.keys() - {".env", "src/x.gen.py"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project that is not indexed."""
    return write_tree(tmp_path / "fruit", FRUIT)


@pytest.fixture
def indexed(root: Path) -> Path:
    """The small project, indexed."""
    index(root)
    return root
