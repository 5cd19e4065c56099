"""The tools about the index itself: its status, the list of projects, and changes to it."""

import json
from pathlib import Path

from dowse.store import storage_layout
from dowse.types import View
from tests.sample_data import index, open_indexed, write_tree
from tests.surfaces.project.conftest import INDEXED
from tests.surfaces.project.project_client import Assistant, call_tool, run_conversation

# Status


def test_before_anything_is_indexed_the_status_says_so(root: Path) -> None:
    reply = call_tool("auto", "get_index_status", root)
    assert (reply["status"], reply["totalFiles"], reply["lastUpdated"]) == ("not_found", 0, None)
    assert "create_index" in reply["message"]


def test_the_status_tells_what_is_indexed_and_what_was_left_out(indexed: Path) -> None:
    reply = call_tool("auto", "get_index_status", indexed)
    assert (reply["status"], reply["projectPath"], reply["totalFiles"]) == ("ready", str(indexed), len(INDEXED))
    assert (reply["code"]["files"], reply["docs"]["files"]) == (len(INDEXED) - 2, 2)
    assert reply["coverage"] == {"indexedFiles": len(INDEXED), "expectedFiles": len(INDEXED)}
    assert sum(reply["skipped"].values()) == 2


def test_an_index_without_files_is_a_problem_with_its_cause(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "secrets", {".env": "X=1\n", "server.key": "x\n"})
    index(root)
    reply = call_tool("auto", "get_index_status", root)
    assert reply["totalFiles"] == 0
    assert "denied" in reply["problem"]


def test_a_root_that_has_only_documents_is_listed_with_their_number(indexed: Path, tmp_path: Path) -> None:
    notes = open_indexed(write_tree(tmp_path / "notes", {"a.md": "# Apples\n", "b.html": "<p>Pears"}), View.DOCUMENTS)
    notes.close()
    listed = {one["projectPath"]: one for one in call_tool("auto", "list_projects", indexed)["projects"]}
    assert (listed[str(notes.root)]["totalFiles"], listed[str(notes.root)]["totalChunks"]) == (2, 2)


def test_every_project_of_the_machine_is_listed(indexed: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "other", {"a.py": "x = 1\n"})
    index(other)
    reply = call_tool("auto", "list_projects", indexed)
    assert [(one["projectPath"], one["totalFiles"], one["exists"]) for one in reply["projects"]] == [
        (str(indexed), len(INDEXED), True),
        (str(other), 1, True),
    ]


# Changes to the index


def test_a_rebuild_forgets_what_was_there(indexed: Path) -> None:
    async def conversation(assistant: Assistant) -> None:
        (indexed / "src/pear.py").unlink()
        reply = await assistant.call_tool("reindex_project", confirm=True)
        assert (reply["status"], reply["message"]) == ("success", "Index rebuilt successfully")
        assert reply["filesIndexed"] == len(INDEXED) - 1

    run_conversation("auto", conversation, indexed)


def test_a_file_is_indexed_again_by_its_name(indexed: Path) -> None:
    async def conversation(assistant: Assistant) -> None:
        write_tree(indexed, {"src/apple.py": "def slice_apple():\n    return 'thin'\n", "src/new.py": "fig = 1\n"})
        assert await assistant.call_tool("reindex_file", path="src/apple.py") == {
            "status": "success",
            "path": "src/apple.py",
            "chunksCreated": 1,
            "message": "File re-indexed successfully",
        }
        assert (await assistant.call_tool("search_code", query="slice_apple"))["results"][0]["path"] == "src/apple.py"
        assert (await assistant.call_tool("reindex_file", path="src/new.py"))["chunksCreated"] == 1

    run_conversation("auto", conversation, indexed)


def test_the_fingerprints_follow_a_file_that_is_indexed_again(indexed: Path) -> None:
    file = storage_layout.index_folder(indexed) / "fingerprints.json"
    before = json.loads(file.read_text(encoding="utf-8"))
    write_tree(indexed, {"src/apple.py": "def slice_apple():\n    return 'thin'\n"})
    call_tool("auto", "reindex_file", indexed, path="src/apple.py")
    after = json.loads(file.read_text(encoding="utf-8"))
    assert before.keys() == after.keys()
    assert [path for path in before if before[path] != after[path]] == ["src/apple.py"]


def test_a_file_that_is_gone_leaves_the_index_when_it_is_named(indexed: Path) -> None:
    async def conversation(assistant: Assistant) -> None:
        (indexed / "src/pear.py").unlink()
        assert (await assistant.expect_error("reindex_file", path="src/pear.py"))["code"] == "FILE_NOT_FOUND"
        assert (await assistant.call_tool("get_index_status"))["totalFiles"] == len(INDEXED) - 1

    run_conversation("auto", conversation, indexed)


def test_a_file_that_is_ignored_by_now_leaves_the_index_when_it_is_named(indexed: Path) -> None:
    async def conversation(assistant: Assistant) -> None:
        write_tree(indexed, {".gitignore": "*.gen.py\npear.py\n"})
        assert "ignored" in (await assistant.expect_error("reindex_file", path="src/pear.py"))["developerMessage"]
        assert (await assistant.call_tool("get_index_status"))["code"]["files"] == len(INDEXED) - 3

    run_conversation("auto", conversation, indexed)


def test_a_deleted_index_is_gone_and_the_files_stay(indexed: Path) -> None:
    async def conversation(assistant: Assistant) -> None:
        await assistant.call_tool("search_code", query="apple")
        reply = await assistant.call_tool("delete_index", confirm=True)
        assert (reply["status"], reply["projectPath"]) == ("success", str(indexed))
        assert not storage_layout.index_folder(indexed).exists()
        assert (indexed / "src/apple.py").exists()
        assert (await assistant.call_tool("get_index_status"))["status"] == "not_found"
        assert (await assistant.expect_error("delete_index", confirm=True))["code"] == "INDEX_NOT_FOUND"
        assert (await assistant.call_tool("create_index"))["filesIndexed"] == len(INDEXED)

    run_conversation("auto", conversation, indexed)
