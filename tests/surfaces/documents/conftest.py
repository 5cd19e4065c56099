"""A folder of documents."""

from pathlib import Path

import pytest

from tests.sample_data import write_tree
from tests.surfaces.documents.documents_client import index

NOTES: dict[str, str | bytes] = {
    "README.md": "# Orchard notes\n\nHow the orchard is kept.\n\nSee [pruning](guide/pruning.md#when).\n",
    "guide/pruning.md": (
        "---\ntitle: Pruning apple trees\ndescription: When and how to cut.\ntags: [apple, winter]\n---\n\n"
        "# Pruning\n\nAn introduction.\n\n## When\n\nIn late winter, before the buds open.\n\n"
        "## How\n\nCut above a bud with sharp secateurs.\n"
    ),
    "guide/grafting.html": (
        "<html><head><title>Grafting &amp; budding</title><script>steal()</script></head>"
        "<body><h1>Grafting</h1><p>Join a <b>scion</b> to a rootstock.</p><h2>Whip and tongue</h2><p>Two cuts.</p></body></html>"
    ),
    "memo.txt": "Buy secateurs\nand a ladder\nbefore spring\n",
    ".env": "TOKEN=hunter2\n",
    "id_rsa": "hunter2\n",
    ".git/notes.md": "# hunter2\n",
    "src/tree.py": "def grow():\n    return 'hunter2'\n",
}
LISTED = ["docs://README.md", "docs://guide/grafting.html", "docs://guide/pruning.md", "docs://memo.txt"]


@pytest.fixture
def unindexed(tmp_path: Path) -> Path:
    """A small folder of documents."""
    return write_tree(tmp_path / "notes", NOTES)


@pytest.fixture
def notes(unindexed: Path) -> Path:
    """The small folder of documents, indexed."""
    index(unindexed)
    return unindexed
