"""Settings, and the files beside an index, as a client sees them."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from dowse.store import storage_layout
from tests.sample_data import write_tree
from tests.surfaces.project.conftest import FRUIT, INDEXED
from tests.surfaces.project.project_client import Assistant, call_tool, run_conversation

STANDARD = {
    "search_docs": "Search documentation files (.md, .txt)",
    "search_code": "Search your codebase for relevant code",
}
ENHANCED = {
    "search_docs": (
        "Search documentation files (.md, .txt). **TIP:** For follow-up questions about a doc already in context, use "
        "this tool instead of re-reading the entire file - more precise results, less context usage."
    ),
    "search_code": (
        "Search your codebase for relevant code using natural language. **TIP:** Prefer this over reading full files "
        "when looking for specific functions, patterns, or implementations."
    ),
}
INVALID: dict[str, Any] = {
    "include": "src",
    "exclude": [1],
    "respectGitignore": "yes",
    "maxFileSize": "1GB",
    "maxFiles": 0,
    "docPatterns": ["["],
    "indexDocs": 1,
    "enhancedToolDescriptions": None,
    "indexingStrategy": "sometimes",
    "lazyIdleThreshold": -1,
    "integrityHours": 1.5,
    "encoder": "best",
    "encoderFolder": "models",
    "vectorCacheMB": -1,
    "maskSecrets": "no",
    "store": "postgres",
    "sharedIndex": "https://example.org",
}


def configure(root: Path, settings: dict[str, Any]) -> None:
    """Change some of a project's settings, as a user would with an editor."""
    file = storage_layout.index_folder(root) / "config.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    write_tree(file.parent, {"config.json": json.dumps(known | settings)})


def test_an_invalid_setting_is_named_in_every_reply_and_its_default_holds(indexed: Path) -> None:
    configure(indexed, INVALID)

    async def conversation(assistant: Assistant) -> None:
        for tool, arguments in (("search_code", {"query": "peel"}), ("get_index_status", {}), ("create_index", {})):
            reply = await assistant.call_tool(tool, **arguments)
            for key in INVALID:
                assert sum(f"{key} " in warning for warning in reply["warnings"]) == 1, (tool, key)
        assert (await assistant.call_tool("search_by_path", pattern="**"))["matches"] == INDEXED

    run_conversation("auto", conversation, indexed)


def test_settings_that_are_no_settings_are_said_and_ignored(indexed: Path) -> None:
    async def conversation(assistant: Assistant) -> None:
        for content in ("{", "[]", "null", "\x00", '{"maxFiles": 1', "[" * 100_000):
            write_tree(storage_layout.index_folder(indexed), {"config.json": content})
            reply = await assistant.call_tool("search_code", query="peel")
            assert reply["results"]
            assert "config.json" in reply["warnings"][0]

    run_conversation("auto", conversation, indexed)


def test_the_warning_goes_when_the_settings_are_mended(indexed: Path) -> None:
    async def conversation(assistant: Assistant) -> None:
        configure(indexed, {"maxFiles": -5})
        assert "maxFiles" in (await assistant.call_tool("get_index_status"))["warnings"][0]
        configure(indexed, {"maxFiles": 500})
        assert "warnings" not in await assistant.call_tool("get_index_status")

    run_conversation("auto", conversation, indexed)


def test_the_settings_of_a_project_come_before_the_ones_for_all(indexed: Path, storage: Path) -> None:
    async def described(assistant: Assistant) -> str | None:
        return (await assistant.tools())["search_code"].description

    write_tree(storage, {"config.json": '{"enhancedToolDescriptions": true}'})
    write_tree(storage_layout.index_folder(indexed), {"config.json": "{}"})
    assert run_conversation("auto", described, indexed) == ENHANCED["search_code"]
    configure(indexed, {"enhancedToolDescriptions": False})
    assert run_conversation("auto", described, indexed) == STANDARD["search_code"]


def test_descriptions_become_hints_and_plain_again_without_a_restart(indexed: Path, mode: str) -> None:
    async def conversation(assistant: Assistant) -> None:
        for is_enhanced, expected in ((False, STANDARD), (True, ENHANCED), (False, STANDARD)):
            configure(indexed, {"enhancedToolDescriptions": is_enhanced})
            tools = await assistant.tools()
            assert {name: tools[name].description for name in STANDARD} == expected

    run_conversation(mode, conversation, indexed)


def test_only_the_two_descriptions_change(indexed: Path) -> None:
    plain = run_conversation("auto", Assistant.tools, indexed)
    configure(indexed, {"enhancedToolDescriptions": True})
    enhanced = run_conversation("auto", Assistant.tools, indexed)
    assert {name for name in plain if plain[name] != enhanced[name]} == STANDARD.keys()


def test_settings_and_unknown_keys_survive_a_rebuild(indexed: Path) -> None:
    configure(indexed, {"exclude": ["**/pear.py"], "mine": {"kept": True}, "_note": "of a user"})
    before = (storage_layout.index_folder(indexed) / "config.json").read_bytes()
    assert call_tool("auto", "reindex_project", indexed, confirm=True)["filesIndexed"] == len(INDEXED) - 1
    assert call_tool("auto", "create_index", indexed)["filesIndexed"] == len(INDEXED) - 1
    assert (storage_layout.index_folder(indexed) / "config.json").read_bytes() == before


def test_a_setting_is_obeyed_from_the_next_index_on(indexed: Path) -> None:
    async def conversation(assistant: Assistant) -> None:
        configure(indexed, {"exclude": ["**/*.md"]})
        assert (await assistant.call_tool("create_index"))["filesIndexed"] == len(INDEXED) - 1

    run_conversation("auto", conversation, indexed)


# The files


@pytest.fixture
def index_folder(root: Path, storage: Path) -> Path:
    """Return the folder of an index that a client created."""
    call_tool("auto", "create_index", root)
    return storage_layout.index_folder(root)


def read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def test_the_index_is_where_the_hash_of_its_path_says(root: Path, index_folder: Path, storage: Path) -> None:
    assert index_folder == storage / "indexes" / hashlib.sha256(str(root).encode()).hexdigest()[:32]


def test_the_settings_are_written_with_their_explanations(index_folder: Path) -> None:
    config = read(index_folder / "config.json")
    assert config["_availableOptions"].keys() < INVALID.keys()
    assert config.keys() == config["_availableOptions"].keys() | {"_comment", "_hardcodedExcludes", "_availableOptions"}
    assert (config["maxFiles"], config["maxFileSize"], config["docPatterns"]) == (50000, "1MB", ["**/*.md", "**/*.txt"])


def test_the_metadata_has_its_keys(root: Path, index_folder: Path) -> None:
    metadata = read(index_folder / "metadata.json")
    assert metadata.keys() >= {
        "version", "projectPath", "createdAt", "lastFullIndex", "lastIncrementalUpdate", "stats", "docsStats", "lastDocsIndex",
    }  # fmt: skip
    assert metadata["projectPath"] == str(root)
    assert metadata["stats"].keys() == {"totalFiles", "totalChunks", "storageSizeBytes"}
    assert metadata["docsStats"].keys() == {"totalDocs", "totalDocChunks", "docsStorageSizeBytes"}
    assert (metadata["stats"]["totalFiles"], metadata["docsStats"]["totalDocs"]) == (len(INDEXED) - 2, 2)
    assert all(metadata[key].endswith("Z") for key in ("createdAt", "lastFullIndex", "lastDocsIndex"))


def test_the_fingerprints_are_flat_maps_of_hashes(index_folder: Path) -> None:
    docs = {"docs/guide.md", "notes.txt"}
    hashes = {path: hashlib.sha256(FRUIT[path].encode()).hexdigest() for path in INDEXED}
    assert read(index_folder / "fingerprints.json") == {
        path: value for path, value in hashes.items() if path not in docs
    }
    assert read(index_folder / "docs-fingerprints.json") == {
        path: value for path, value in hashes.items() if path in docs
    }


def test_a_folder_with_the_short_name_of_older_indexes_is_used(root: Path, storage: Path) -> None:
    short = storage / "indexes" / hashlib.sha256(str(root).encode()).hexdigest()[:16]
    short.mkdir(parents=True)
    assert call_tool("auto", "create_index", root)["status"] == "success"
    assert {folder.name for folder in short.parent.iterdir()} == {short.name}
    assert (short / "metadata.json").exists()
    assert call_tool("auto", "search_code", root, query="peel")["results"]


def test_what_happened_is_in_the_log(index_folder: Path) -> None:
    assert "added" in "".join(file.read_text(encoding="utf-8") for file in (index_folder / "logs").iterdir())
