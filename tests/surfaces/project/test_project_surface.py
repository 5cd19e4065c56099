"""The ten tools: their effects, replies and annotations."""

import json
import threading
from pathlib import Path

import anyio
import pytest

from dowse.store import storage_layout
from dowse.store.local import LocalStore
from dowse.types import View
from tests.sample_data import index, open_indexed, write_tree
from tests.surfaces.project.conftest import INDEXED
from tests.surfaces.project.project_client import Assistant, call_tool, connect, run_conversation

pytestmark = pytest.mark.anyio


def test_every_argument_is_described_and_the_output_has_a_schema(indexed: Path) -> None:
    for tool in run_conversation("auto", Assistant.tools, indexed).values():
        assert tool.output_schema
        assert tool.title
        assert all(argument.get("description") for argument in tool.input_schema["properties"].values())


def test_a_hit_is_the_lines_it_names(indexed: Path) -> None:
    (hit,) = call_tool("auto", "search_code", indexed, query="peel_apple")["results"][:1]
    lines = (indexed / hit["path"]).read_text(encoding="utf-8").splitlines()
    assert hit["path"] == "src/apple.py"
    assert hit["text"].split("\n") == lines[hit["startLine"] - 1 : hit["endLine"]]
    assert 0 < hit["score"] <= 1


async def test_what_is_meant_is_found_though_no_word_of_it_is_used(root: Path) -> None:
    write_tree(
        root,
        {
            "store.py": "def delete_user(identifier):\n    database.execute('delete from users where id = ?', identifier)\n",
            "paint.py": "def draw_circle(canvas, radius):\n    canvas.ellipse(radius, radius)\n",
        },
    )
    async with connect("auto", root) as assistant:
        await assistant.call_tool("create_index")
        found = await assistant.call_tool("search_code", query="round shape on the picture", mode="vector")
        assert [hit["path"] for hit in found["results"]][:1] == ["paint.py"]
        assert found["searchedBy"] == {"dowse-static-2": 1.0}
        found = await assistant.call_tool("search_code", query="delete user", mode="lexical")
        assert found["searchedBy"] == {"words": 1.0}


# Search by path


def test_twenty_paths_are_shown_unless_more_are_asked_for(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "many", {f"{number:02}.py": "x = 1\n" for number in range(30)})
    index(root)
    assert len(call_tool("auto", "search_by_path", root, pattern="*")["matches"]) == 20
    assert len(call_tool("auto", "search_by_path", root, pattern="*", limit=100)["matches"]) == 30


def test_a_file_deleted_since_is_not_listed(indexed: Path) -> None:
    (indexed / "src/pear.py").unlink()
    reply = call_tool("auto", "search_by_path", indexed, pattern="src/p*.py")
    assert (reply["matches"], reply["totalMatches"]) == ([], 0)


# Edge cases


async def test_who_is_not_asked_for_a_while_lets_go_of_memory_and_answers_as_before(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dowse.keeping.served_index.IDLE_SECONDS", 0.05)
    release_memory = threading.Event()
    plain = LocalStore.release_memory

    def watched(store: LocalStore) -> None:
        plain(store)
        release_memory.set()

    monkeypatch.setattr(LocalStore, "release_memory", watched)
    async with connect("2026-07-28", indexed) as assistant:
        before = await assistant.call_tool("search_code", query="peel an apple")
        assert await anyio.to_thread.run_sync(release_memory.wait, 10)
        after = await assistant.call_tool("search_code", query="peel an apple")
        assert after["results"] == before["results"]


# Status


def test_an_index_without_files_is_a_problem_with_its_cause(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "secrets", {".env": "X=1\n", "server.key": "x\n"})
    index(root)
    reply = call_tool("auto", "get_index_status", root)
    assert reply["totalFiles"] == 0
    assert "denied" in reply["problem"]


def test_a_status_does_not_name_what_has_just_been_denied(indexed: Path) -> None:
    write_tree(
        indexed, {".gitignore": "pear.py\nnotes.txt\n", "src/apple.py": "def peel_apple():\n    return 'yellow'\n"}
    )
    for path in ("notes.txt", "docs/guide.md"):
        (indexed / path).unlink()
    reply = call_tool("auto", "get_index_status", indexed)
    assert (reply["pendingFiles"], reply["newFiles"]) == (6, ["src/x.gen.py"])
    assert reply["staleFiles"] == [".", ".gitignore", "docs/guide.md", "src/apple.py"]


def test_a_status_does_not_name_files_that_were_read_as_plain_text_and_are_denied_by_now(root: Path) -> None:
    write_tree(root, {"docs/long.md": "x\n" * 100_001, "docs/longer.md": "y\n" * 100_001})
    index(root)
    assert len(call_tool("auto", "get_index_status", root)["unparsedFiles"]) == 2
    write_tree(root, {".gitignore": "longer.md\n"})
    [unparsed] = call_tool("auto", "get_index_status", root)["unparsedFiles"]
    assert unparsed.startswith("docs/long.md ")


def test_a_root_that_has_only_documents_is_listed_with_their_number(indexed: Path, tmp_path: Path) -> None:
    notes = open_indexed(write_tree(tmp_path / "notes", {"a.md": "# Apples\n", "b.html": "<p>Pears"}), View.DOCUMENTS)
    notes.close()
    listed = {one["projectPath"]: one for one in call_tool("auto", "list_projects", indexed)["projects"]}
    assert (listed[str(notes.root)]["totalFiles"], listed[str(notes.root)]["totalChunks"]) == (2, 2)


# Changes to the index


async def test_a_rebuild_forgets_what_was_there(indexed: Path) -> None:
    async with connect("auto", indexed) as assistant:
        (indexed / "src/pear.py").unlink()
        reply = await assistant.call_tool("reindex_project", confirm=True)
        assert (reply["status"], reply["message"]) == ("success", "Index rebuilt successfully")
        assert reply["filesIndexed"] == len(INDEXED) - 1


async def test_a_file_is_indexed_again_by_its_name(indexed: Path) -> None:
    async with connect("auto", indexed) as assistant:
        write_tree(indexed, {"src/apple.py": "def slice_apple():\n    return 'thin'\n", "src/new.py": "fig = 1\n"})
        assert await assistant.call_tool("reindex_file", path="src/apple.py") == {
            "status": "success",
            "path": "src/apple.py",
            "chunksCreated": 1,
            "message": "File re-indexed successfully",
        }
        assert (await assistant.call_tool("search_code", query="slice_apple"))["results"][0]["path"] == "src/apple.py"
        assert (await assistant.call_tool("reindex_file", path="src/new.py"))["chunksCreated"] == 1


def test_the_fingerprints_follow_a_file_that_is_indexed_again(indexed: Path) -> None:
    file = storage_layout.index_folder(indexed) / "fingerprints.json"
    before = json.loads(file.read_text(encoding="utf-8"))
    write_tree(indexed, {"src/apple.py": "def slice_apple():\n    return 'thin'\n"})
    call_tool("auto", "reindex_file", indexed, path="src/apple.py")
    after = json.loads(file.read_text(encoding="utf-8"))
    assert before.keys() == after.keys()
    assert [path for path in before if before[path] != after[path]] == ["src/apple.py"]


async def test_a_file_that_is_gone_leaves_the_index_when_it_is_named(indexed: Path) -> None:
    async with connect("auto", indexed) as assistant:
        (indexed / "src/pear.py").unlink()
        assert (await assistant.expect_error("reindex_file", path="src/pear.py"))["code"] == "FILE_NOT_FOUND"
        assert (await assistant.call_tool("get_index_status"))["totalFiles"] == len(INDEXED) - 1


async def test_a_file_that_is_ignored_by_now_leaves_the_index_when_it_is_named(indexed: Path) -> None:
    async with connect("auto", indexed) as assistant:
        write_tree(indexed, {".gitignore": "*.gen.py\npear.py\n"})
        assert "ignored" in (await assistant.expect_error("reindex_file", path="src/pear.py"))["developerMessage"]
        assert (await assistant.call_tool("get_index_status"))["code"]["files"] == len(INDEXED) - 3


async def test_the_title_of_an_issue_that_quotes_a_message_finds_the_code_without_the_message(indexed: Path) -> None:
    """The message of a program is often put together, so that no file has it as it is quoted."""
    async with connect("auto", indexed) as assistant:
        title = 'Peeling an apple twice fails with "apple is not red"'
        found = await assistant.call_tool("search_code", query=title)
        assert found["results"][0]["path"] == "src/apple.py"
        strict = await assistant.call_tool("search_code", query='peel "apple is not red"')
        assert (strict["results"], strict["withoutFilters"] > 0) == ([], True)


async def test_a_deleted_index_is_gone_and_the_files_stay(indexed: Path) -> None:
    async with connect("auto", indexed) as assistant:
        await assistant.call_tool("search_code", query="apple")
        reply = await assistant.call_tool("delete_index", confirm=True)
        assert (reply["status"], reply["projectPath"]) == ("success", str(indexed))
        assert not storage_layout.index_folder(indexed).exists()
        assert (indexed / "src/apple.py").exists()
        assert (await assistant.call_tool("get_index_status"))["status"] == "not_found"
        assert (await assistant.expect_error("delete_index", confirm=True))["code"] == "INDEX_NOT_FOUND"
        assert (await assistant.call_tool("create_index"))["filesIndexed"] == len(INDEXED)
