"""Indexing while a client waits, cancels, or sends other requests."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from dowse.indexes.index import ProjectIndex
from dowse.store import lexical_follower, storage_layout
from dowse.surfaces.project import index_tools
from dowse.system.platform import Lock
from tests.sample_data import make_words_older, write_tree
from tests.surfaces.project.project_client import (
    Assistant,
    call_tool,
    connect,
    content_of,
    run_conversation,
    wait_until,
)

pytestmark = pytest.mark.anyio

FILES = 250


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project that takes a while to index."""
    functions = "\n\n".join(f"def part_{number}():\n    return {number}" for number in range(5))
    files = {
        f"src/m{number}/file{number}.py": f"def needle_{number}(): ...\n\n{functions}\n" for number in range(FILES)
    }
    return write_tree(tmp_path / "tree", files)


class ProgressRecorder:
    """Records the progress notifications of a client."""

    def __init__(self) -> None:
        self.done: list[float] = []
        self.totals: list[float | None] = []
        self.messages: list[str | None] = []
        self.has_some = anyio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.done.append(progress)
        self.totals.append(total)
        self.messages.append(message)
        if progress:
            self.has_some.set()


async def test_an_answer_does_not_wait_for_words_that_an_update_of_dowse_indexes_again(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_follower, "QUICK_DOCUMENTS", 2)
    project = ProjectIndex(indexed)
    make_words_older(project.folder)

    async def search(assistant: Assistant) -> tuple[str, int]:
        reply = await assistant.call_tool("search_code", query="peel pear")
        return reply["results"][0]["path"], reply["coverage"].get("searchedDirectly", 0)

    async with connect("auto", indexed) as assistant:
        with Lock(project.folder / "write.lock").held(1.0):  # the process that indexes the words waits for it
            assert await search(assistant) == ("src/pear.py", 4)

        async def is_whole() -> bool:
            return await search(assistant) == ("src/pear.py", 0)

        await wait_until(is_whole)
        assert not project.whole.check()


async def test_progress_grows_and_ends_at_the_total(tree: Path, mode: str) -> None:
    async with connect(mode, tree) as assistant:
        recorder = ProgressRecorder()
        result = await assistant.client.call_tool("create_index", {}, progress_callback=recorder)
        assert content_of(result)["filesIndexed"] == FILES
        assert recorder.done == sorted(set(recorder.done))
        assert (recorder.done[-1], recorder.totals[-1]) == (FILES, FILES)
        assert recorder.messages[-1] == f"Indexing tree: {FILES} of {FILES} files"


async def test_a_call_that_is_cancelled_keeps_what_was_done(tree: Path, mode: str) -> None:
    async def is_something_kept() -> bool:
        project = ProjectIndex(tree)
        files = project.status().files
        project.close()
        return bool(files)

    async def has_run_ended() -> bool:
        return not Lock(storage_layout.index_folder(tree) / "index.lock").is_taken()

    async with connect(mode, tree) as assistant:
        recorder, again = ProgressRecorder(), ProgressRecorder()
        async with anyio.create_task_group() as tasks:

            async def create() -> None:
                await assistant.client.call_tool("create_index", {}, progress_callback=recorder)

            tasks.start_soon(create)
            await recorder.has_some.wait()
            await wait_until(is_something_kept)
            tasks.cancel_scope.cancel()

        await wait_until(has_run_ended)

        async def is_done() -> bool:
            result = await assistant.client.call_tool("create_index", {}, progress_callback=again)
            return bool(content_of(result)["status"] == "success")

        await wait_until(is_done)
        assert (await assistant.call_tool("get_index_status"))["totalFiles"] == FILES
        left = [total for total in again.totals if total]  # none if the run was faster than the cancellation
        assert all(total < FILES for total in left), "the rest was done, and not everything once more"


def test_a_client_that_leaves_finds_what_was_done_when_it_comes_back(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(index_tools, "FOLLOW_SECONDS", 0.0)
        assert call_tool("auto", "create_index", tree)["status"] == "indexing"
    assert not Lock(storage_layout.index_folder(tree) / "index.lock").is_taken(), (
        "nobody works for a client that is gone"
    )
    assert call_tool("auto", "create_index", tree)["filesIndexed"] == FILES


async def test_a_long_run_is_left_to_itself_and_a_second_call_reports_it(
    tree: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_tools, "FOLLOW_SECONDS", 0.0)

    storage_layout.index_folder(tree).mkdir(parents=True)
    async with connect(mode, tree) as assistant:
        assert_indexing(await assistant.call_tool("create_index"))
        with Lock(storage_layout.index_folder(tree) / "index.lock").held(60):  # so that the run cannot end
            assert_indexing(await assistant.call_tool("create_index"))
            assert_indexing(await assistant.call_tool("reindex_project", confirm=True))

        await assistant.call_until(lambda reply: reply["status"] == "ready", "get_index_status")
        assert (await assistant.call_tool("search_by_path", pattern="**"))["totalMatches"] == FILES


def assert_indexing(reply: dict[str, Any]) -> None:
    assert reply["status"] == "indexing"
    assert reply["filesIndexed"] <= FILES
    assert "goes on" in reply["message"]


async def test_search_works_while_the_index_grows_and_states_coverage(tree: Path) -> None:
    async with connect("auto", tree) as assistant:
        recorder = ProgressRecorder()

        async def create() -> None:
            await assistant.client.call_tool("create_index", {}, progress_callback=recorder)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(create)
            await recorder.has_some.wait()
            reply = await assistant.call_tool("search_code", query="part_3")
            assert reply["coverage"]["indexedFiles"] <= reply["coverage"]["expectedFiles"] <= FILES
            assert reply["results"] or not reply["coverage"]["complete"]

        reply = await assistant.call_until(
            lambda reply: reply["coverage"]["complete"], "search_code", query="needle_199"
        )
        assert reply["coverage"] == {"indexedFiles": FILES, "expectedFiles": FILES, "complete": True}
        assert reply["results"][0]["path"] == "src/m199/file199.py"


def test_while_another_process_indexes_that_is_said(indexed: Path) -> None:
    with Lock(storage_layout.index_folder(indexed) / "index.lock").held(1.0):

        async def conversation(assistant: Assistant) -> None:
            found = await assistant.call_tool("search_code", query="peel_apple")
            assert found["results"][0]["path"] == "src/apple.py"
            assert found["coverage"]["complete"]  # all files were compared with the index, and none is missing
            assert (await assistant.call_tool("get_index_status"))["status"] == "indexing"
            assert (await assistant.call_tool("create_index"))["status"] == "indexing"
            assert (await assistant.call_tool("reindex_project", confirm=True))["status"] == "indexing"

        run_conversation("auto", conversation, indexed)


def test_a_lock_that_a_dead_process_left_does_not_matter(indexed: Path) -> None:
    write_tree(storage_layout.index_folder(indexed), {"index.lock": "process 999999999\n"})
    assert call_tool("auto", "get_index_status", indexed)["status"] == "ready"
    assert call_tool("auto", "create_index", indexed)["status"] == "success"


@pytest.mark.skipif(sys.platform != "linux", reason="finds the process by /proc")
async def test_an_indexing_process_that_dies_is_said_and_the_next_one_goes_on(tree: Path) -> None:
    async with connect("auto", tree) as assistant:

        async def kill() -> None:
            for process in await wait_until(lambda: workers_of(tree)):
                os.kill(process, signal.SIGKILL)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(kill)
            error = await assistant.expect_error("create_index")
        assert (error["code"], "-9" in error["developerMessage"]) == ("FAILED", True)

        await assistant.call_until(lambda reply: reply["status"] == "success", "create_index")
        assert (await assistant.call_tool("get_index_status"))["totalFiles"] == FILES


async def workers_of(root: Path) -> list[int]:
    """Return the ids of our processes that index a root."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
            parent = int((folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == os.getpid() and b"dowse.keeping.indexing_worker" in command and str(root).encode() in command:
            found.append(int(folder.name))
    return found
