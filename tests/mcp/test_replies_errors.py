"""Every error of the catalog, each with a real cause."""

import errno
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client.stdio import StdioServerParameters

from dowse.error_catalog import CATALOG
from dowse.errors import Failed, UsageError, error_with
from dowse.indexes import growing_index
from dowse.mcp.replies import error_reply, without_storage_root
from dowse.store import storage_layout
from dowse.surfaces.notes.notes_surface import error_of
from dowse.system.platform import Lock, writing_error
from tests.end_to_end.preloaded import FAILING, compile_library, failing
from tests.sample_data import index, write_tree
from tests.surfaces.project.conftest import INDEXED
from tests.surfaces.project.project_client import (
    call_tool,
    connect,
    expect_error,
    run_conversation_over_stdio,
)

pytestmark = pytest.mark.anyio

UNREADABLE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
"""Makes root respect the permissions of files."""


def short_index_folder(root: Path) -> str:
    """Return the index folder of a root as developer messages show it, with `~` for the home."""
    return f"~/dowse/indexes/{storage_layout.index_folder(root).name}/"


def test_docs_that_are_not_wanted_are_not_found(indexed: Path) -> None:
    write_tree(storage_layout.index_folder(indexed), {"config.json": '{"indexDocs": false}'})
    error = expect_error("auto", "search_docs", indexed, query="apple")
    assert (error["code"], "indexDocs" in error["developerMessage"]) == ("DOCS_INDEX_NOT_FOUND", True)


def test_a_project_without_documents_has_none(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "bare", {"a.py": "apple = 1\n"})
    index(root)
    assert expect_error("auto", "search_docs", root, query="apple")["code"] == "DOCS_INDEX_NOT_FOUND"


def damage(root: Path) -> None:
    """Overwrite everything after the header, so that the file still looks like a database."""
    file = storage_layout.index_folder(root) / "catalog.sqlite"
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.seek(100)
        stream.write(b"\xa5" * (size - 100))


async def test_index_corrupt_is_said_and_mended_by_itself(indexed: Path) -> None:
    async with connect("auto", indexed) as assistant:
        damage(indexed)
        error = await assistant.expect_error("search_code", query="apple")
        assert error["code"] == "INDEX_CORRUPT"
        assert error["userMessage"] == "The search index seems corrupted. Rebuilding it now..."
        assert "Catalog read error - " in error["developerMessage"]

        await assistant.call_until(lambda reply: reply["status"] == "ready", "get_index_status")
        assert (await assistant.call_tool("search_code", query="peel_apple"))["results"][0]["path"] == "src/apple.py"
        assert (await assistant.call_tool("get_index_status"))["totalFiles"] == len(INDEXED)
    assert list(storage_layout.index_folder(indexed).glob("*.bak*"))


def test_index_too_new(indexed: Path) -> None:
    with sqlite3.connect(storage_layout.index_folder(indexed) / "catalog.sqlite") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    error = expect_error("auto", "search_code", indexed, query="apple")
    assert (error["code"], "999" in error["developerMessage"]) == ("INDEX_TOO_NEW", True)


def test_index_busy(indexed: Path) -> None:
    with Lock(storage_layout.index_folder(indexed) / "index.lock").held(1.0):
        assert expect_error("auto", "delete_index", indexed, confirm=True)["code"] == "INDEX_BUSY"
    assert storage_layout.index_folder(indexed).exists()


def test_an_index_that_was_begun_and_is_not_there_yet_is_busy(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_index, "FIRST_HITS_SECONDS", 0.1)
    storage_layout.index_folder(root).mkdir(parents=True)
    with Lock(storage_layout.index_folder(root) / "index.lock").held(1.0):
        error = expect_error("auto", "search_code", root, query="apple", mode="vector")
        assert error["code"] == "INDEX_BUSY"


@pytest.fixture(scope="module")
def full_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes writes fail."""
    return compile_library(FAILING, tmp_path_factory.mktemp("failing"))


@pytest.mark.parametrize("place", [1, 40])
def test_disk_full(root: Path, full_disk: Path, storage: Path, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """Only the indexing process finds the disk full; its leftovers do not stop the next one."""
    with monkeypatch.context() as patch:
        for name, value in failing(full_disk, "write", place, errno.ENOSPC, storage).items():
            patch.setenv(name, value)
        error = expect_error("auto", "create_index", root)
    free = shutil.disk_usage(storage.parent).free // 10**6
    assert error["code"] == "DISK_FULL"
    assert error["userMessage"] == (
        "Not enough disk space to create the search index. Free up some space and try again."
    )
    need, have = (
        error["developerMessage"].removeprefix("DISK_FULL: ENOSPC - need ~").removesuffix("MB").split("MB, have ")
    )
    assert int(need) >= 1
    assert abs(int(have) - free) < 1000
    assert call_tool("auto", "create_index", root)["filesIndexed"] == len(INDEXED)


@pytest.fixture
def locked(indexed: Path) -> Iterator[Path]:
    """A project with an unreadable file."""
    (indexed / "src/apple.py").chmod(0)
    yield indexed
    (indexed / "src/apple.py").chmod(0o600)


@pytest.mark.skipif(sys.platform == "win32", reason="needs the permissions of POSIX")
def test_permission_denied(locked: Path) -> None:
    is_root = os.geteuid() == 0
    if is_root and not shutil.which(UNREADABLE[0]):
        pytest.skip("root may read everything, and there is no setpriv to change that")
    command = [*(UNREADABLE if is_root else ()), sys.executable, "-m", "dowse", "serve", str(locked)]
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    error = run_conversation_over_stdio(
        server, lambda assistant: assistant.expect_error("reindex_file", path="src/apple.py")
    )
    assert error == {
        "code": "PERMISSION_DENIED",
        "userMessage": "Can't access some files in this project. Check folder permissions.",
        "developerMessage": "PERMISSION_DENIED: EACCES reading src/apple.py",
    }


async def test_a_project_that_went_away_cannot_be_accessed(indexed: Path, tmp_path: Path) -> None:
    async with connect("auto", indexed) as assistant:
        indexed.rename(tmp_path / "elsewhere")
        error = await assistant.expect_error("search_code", query="apple")
        assert error["code"] in ("PERMISSION_DENIED", "FAILED")
        assert str(tmp_path) not in error["userMessage"]
        (tmp_path / "elsewhere").rename(indexed)
        assert (await assistant.call_tool("search_code", query="peel_apple"))["results"]


INVALID_PATTERNS = [
        "[", "src/[a", "{a", "a{b,c", "[z-a]", "/etc/*", "../*", "src/../../*", "~/x", "C:/x", "C:\\x", "..\\x", "a\0b",
        "x" * 1001, "{a,b}" * 9, "{{a,b},{c,d}}" * 6,
]  # fmt: skip


async def test_invalid_pattern(indexed: Path) -> None:
    async with connect("auto", indexed) as assistant:
        for pattern in INVALID_PATTERNS:
            error = await assistant.expect_error("search_by_path", pattern=pattern)
            assert error["code"] == "INVALID_PATTERN", pattern
            assert error["userMessage"].startswith("The search pattern '")
            assert error["userMessage"].endswith("' is invalid. Please check the syntax.")
            assert error["developerMessage"] != "INVALID_PATTERN: "
            narrowed = await assistant.expect_error("search_code", query="apple", path=pattern)
            assert narrowed["code"] == "INVALID_PATTERN", pattern


def test_every_message_can_be_made_of_what_is_always_known() -> None:
    """Errors from other modules have only a code and a message."""
    for code in CATALOG.keys() - {"INVALID_PATTERN"}:
        error = error_reply(error_with(code, "the cause"))
        assert error["userMessage"]
        assert error["developerMessage"].startswith(f"{error['code']}: ")


def test_a_message_for_a_user_names_no_place_of_the_storage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An error of the notes once named the whole path of the storage root."""
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path))
    refusal = writing_error(OSError(errno.EROFS, "Read-only file system"), tmp_path / "notes" / "index-n1.db")
    assert refusal is not None
    assert str(tmp_path) in str(refusal), "a person at the terminal has to know the place"
    assert error_of(refusal)["error"].startswith("notes/index-n1.db cannot be written: its file system is read-only.")
    assert str(tmp_path) not in error_reply(refusal)["userMessage"]
    assert str(tmp_path) not in error_reply(UsageError(f"{tmp_path / 'x'} is no file."))["userMessage"]
    assert without_storage_root(f"{tmp_path} is gone") == "the storage root is gone"
    assert "/" not in error_reply(Failed("/srv/fruit cannot be read."))["userMessage"]
