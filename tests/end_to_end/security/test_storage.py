"""Files in the storage folder: their permissions, and data that is not stored."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.end_to_end.security.fake_secrets import GITHUB
from tests.mcp.stdio.stdio_client import OLDER, StdioClient
from tests.sample_data import write_tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a user's folders from others by itself")


@pytest.fixture
def careless() -> Iterator[None]:
    """A user with umask 0, whose new files everybody may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path / "fruit",
        {"pyproject.toml": "", "src/apple.py": "def peel():\n    pass\n", "docs/guide.md": "# Guide\n\nApple.\n"},
    )


def others_can_enter(path: Path, top: Path) -> bool:
    """Return whether another user can reach a path below the folder."""
    return all(stat.S_IMODE(one.stat().st_mode) & 0o077 for one in (path, *path.parents) if one.is_relative_to(top))


@pytest.mark.usefixtures("careless")
@pytest.mark.parametrize("is_there", [False, True], ids=["new", "open to all"])
def test_nobody_else_gets_into_what_is_kept(
    run: Run,  # noqa: F811
    root: Path,
    storage: Path,
    is_there: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if is_there:
        storage.mkdir(parents=True)
        storage.chmod(0o755)
    run("docs", "search", "apple", root)
    run("notes", "create", "mine")
    run("notes", "add", "mine", "a", "apples")
    monkeypatch.delenv("SEMBLE_GRAMMARS_CACHE_DIR")  # includes the default folder of the grammars
    with StdioClient(root) as client:
        client.initialize(OLDER).call("create_index")
        client.call("search_code", query="peel")
    assert list((storage / "grammars").rglob("*.so*"))
    kept = [path for path in storage.rglob("*") if path.is_file()]
    assert len(kept) > 10
    assert [str(path) for path in kept if others_can_enter(path, storage)] == []


def test_what_was_asked_for_is_not_kept(run: Run, root: Path, storage: Path) -> None:  # noqa: F811
    run("index", root)
    run("search", f"peel {GITHUB}", root)
    run("search", GITHUB, root, "--exact")
    run("docs", "search", GITHUB, root)
    with StdioClient(root) as client:
        client.initialize(OLDER).call("search_code", query=GITHUB)
        client.call("search_documents", query=GITHUB)
        client.request("tools/call", name="search_code", arguments={"nonsense": GITHUB})
    assert GITHUB not in client.final_stderr
    for path in storage.rglob("*"):
        if path.is_file():
            assert GITHUB.encode() not in path.read_bytes(), path


def test_a_project_is_not_written_to(run: Run, root: Path) -> None:  # noqa: F811
    before = everything_below(root)
    run("index", root)
    run("search", "peel", root)
    run("docs", "search", "apple", root)
    with StdioClient(root) as client:
        client.initialize(OLDER).call("search_code", query="peel")
    assert everything_below(root) == before


def everything_below(root: Path) -> dict[Path, bytes | None]:
    """Return the content of each file below a folder, and None for each folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in root.rglob("*")}
