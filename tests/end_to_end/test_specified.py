"""The exact arguments, value formats and files that the specifications fix."""

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from dowse.cli.composition import ComposedServer, Offer
from dowse.error_catalog import CATALOG
from dowse.indexes import index_log
from dowse.indexes.freshness import pending_paths
from dowse.keeping.served_index import Service
from dowse.notes import limits
from dowse.parsing.text_cutting import MAX_CHUNKS
from dowse.settings import MAX_JSON_BYTES, Settings, write_default_settings
from dowse.sites.site_constants import FIELD_WEIGHTS
from dowse.sources import policy
from dowse.surfaces.sites.sites_surface import open_sites
from mcp import Client
from tests.sample_data import index, write_tree
from tests.sites.sample_sites import write_index
from tests.surfaces.project.project_client import Assistant, run_conversation

Schema = dict[str, Any]

TEN_OF_FIFTY: Schema = {"type": "number", "default": 10, "minimum": 1, "maximum": 50}
IN_DEFAULT: Schema = {"type": "string", "default": "default"}
TEXT: Schema = {"type": "string"}
ARGUMENTS: dict[str, tuple[dict[str, Schema], list[str]]] = {
    "create_index": ({}, []),
    "search_code": ({"query": TEXT, "top_k": TEN_OF_FIFTY}, ["query"]),
    "search_docs": ({"query": TEXT, "top_k": TEN_OF_FIFTY}, ["query"]),
    "search_by_path": ({"pattern": TEXT, "limit": {"type": "number", "default": 20}}, ["pattern"]),
    "get_index_status": ({}, []),
    "reindex_project": ({}, []),
    "reindex_file": ({"path": TEXT}, ["path"]),
    "delete_index": ({}, []),
    "search_documents": (
        {
            "query": {"type": "string"},
            "searchIn": {"type": "string", "enum": ["title", "content", "both"], "default": "both"},
            "limit": {"type": "number", "default": 10},
            "fileTypes": {"type": "array", "items": {"type": "string"}},
        },
        ["query"],
    ),
    "search_website": ({"query": TEXT}, ["query"]),
    "searchLocalArchives": (
        {
            "query": {"type": "string", "description": "The search query"},
            "fuzzy": {"type": "boolean", "description": "Whether to enable fuzzy matching", "default": True},
            "includeCitations": {
                "type": "boolean", "description": "Whether to include citation information", "default": False,
            },
            "citationDepth": {
                "type": "integer", "description": "How many levels of citations to include", "default": 1,
                "minimum": 1, "maximum": 3,
            },
            "limit": {
                "type": "integer", "description": "Maximum number of results to return", "default": 10,
                "minimum": 1, "maximum": 50,
            },
        },
        ["query"],
    ),
    "search_index": ({"query": TEXT, "k": {"type": "integer", "default": 10}, "index_name": IN_DEFAULT}, ["query"]),
    "search_add_document": (
        {"doc_id": TEXT, "content": TEXT, "metadata": {"type": "object"}, "index_name": IN_DEFAULT},
        ["doc_id", "content"],
    ),
    "search_create_index": (
        {"index_name": TEXT, "backend": {"type": "string", "default": "memory"}, "tokenizer_config": {"type": "object"}},
        ["index_name"],
    ),
}  # fmt: skip
"""For each tool of a specification: the schema of each argument, and the required arguments."""


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> dict[str, Schema]:
    """The input schema of every tool, as listed to a client."""
    monkeypatch.chdir(tmp_path)
    root = write_tree(tmp_path / "app", {"pyproject.toml": "", "pear.py": "pear = 1\n"})
    (tmp_path / "research-archive").mkdir()
    site = write_index(tmp_path / "site.json", site={"name": "Fruit", "domain": "fruit.example"})

    async def listed() -> dict[str, Schema]:
        server = ComposedServer(Service([root]), root, Offer(), open_sites([str(site)]))
        async with Client(server.server(), mode=mode) as client:
            return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}

    return anyio.run(listed)


def test_every_tool_takes_what_its_specification_says(published: dict[str, Schema]) -> None:
    assert published.keys() >= ARGUMENTS.keys()
    for tool, (arguments, required) in ARGUMENTS.items():
        schema = published[tool]
        assert sorted(schema.get("required", [])) == sorted(required), tool
        for name, specified in arguments.items():
            found = schema["properties"][name]
            assert {key: found.get(key) for key in specified} == specified, (tool, name)
    tokens = published["search_create_index"]["properties"]["tokenizer_config"]["properties"]
    assert (tokens["lowercase"]["type"], tokens["lowercase"]["default"]) == ("boolean", True)
    assert (tokens["min_length"]["type"], tokens["min_length"]["default"]) == ("integer", 2)


def test_no_argument_beyond_the_specification_is_required(published: dict[str, Schema]) -> None:
    for tool, (arguments, _) in ARGUMENTS.items():
        assert set(published[tool].get("required", [])) <= arguments.keys(), tool


def test_ten_hits_are_shown_unless_more_are_asked_for(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "many", {f"module{n}.py": f"def peel_{n}():\n    return 'peel'\n" for n in range(14)})
    index(root)

    async def conversation(assistant: Assistant) -> None:
        for arguments, count in (({}, 10), ({"top_k": 12}, 12), ({"top_k": None}, 10)):
            reply = await assistant.call_tool("search_code", query="peel", **arguments)
            assert len(reply["results"]) == reply["totalResults"] == count

    run_conversation("auto", conversation, root)


def test_times_sizes_and_durations_are_written_as_in_the_examples(root: Path) -> None:
    async def conversation(assistant: Assistant) -> None:
        made = await assistant.call_tool("create_index")
        assert re.fullmatch(r"\d+(\.\d+)?s", made["duration"])
        assert (made["projectPath"], made["status"]) == (str(root), "success")
        status = await assistant.call_tool("get_index_status")
        assert re.fullmatch(r"\d+(\.\d+)?(B|KB|MB|GB)", status["storageSize"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", status["lastUpdated"])
        rebuilt = await assistant.call_tool("reindex_project", confirm=True)
        assert rebuilt["message"] == "Index rebuilt successfully"
        file = await assistant.call_tool("reindex_file", path="src/apple.py")
        assert (file["path"], file["message"]) == ("src/apple.py", "File re-indexed successfully")
        gone = await assistant.call_tool("delete_index", confirm=True)
        assert (gone["projectPath"], gone["message"]) == (str(root), "Index deleted successfully")

    run_conversation("auto", conversation, root)


def test_the_numbers_are_those_of_the_specifications() -> None:
    """Other tests check what the numbers do, mostly with smaller numbers, to be fast."""
    assert pending_paths.QUIET_SECONDS == 0.5
    assert (MAX_CHUNKS, policy.MAX_DEPTH, MAX_JSON_BYTES, policy.HEAD_BYTES) == (1000, 20, 10 * 2**20, 8 * 2**10)
    defaults = Settings()
    assert (defaults.max_files, defaults.max_file_bytes, defaults.integrity_hours) == (50_000, 2**20, 24)
    assert FIELD_WEIGHTS == (0.35, 0.30, 0.20, 0.15)
    assert limits.MAX_HIGHLIGHTS == 3
    assert pending_paths.PENDING_FILE == "dirty-files.json"


USERS_READ = {
    "INDEX_NOT_FOUND": "This project hasn't been indexed yet. Would you like to index it now?",
    "INDEX_CORRUPT": "The search index seems corrupted. Rebuilding it now...",
    "FILE_LIMIT_WARNING": ("This project is very large ({count} files). Indexing may take several minutes. Continue?"),
    "PERMISSION_DENIED": "Can't access some files in this project. Check folder permissions.",
    "DISK_FULL": "Not enough disk space to create the search index. Free up some space and try again.",
    "FILE_NOT_FOUND": "The file '{path}' doesn't exist or isn't indexed.",
    "INVALID_PATTERN": "The search pattern '{pattern}' is invalid. Please check the syntax.",
    "PROJECT_NOT_DETECTED": "Could not detect project root. Please choose a directory.",
    "DOCS_INDEX_NOT_FOUND": "No documentation has been indexed yet. Run create_index to index your project.",
    "SYMLINK_NOT_ALLOWED": "Symbolic links are not allowed for security reasons.",
}
DEVELOPERS_READ = {
    "FILE_LIMIT_WARNING": "{count} files exceeds soft limit of",
    "PERMISSION_DENIED": "EACCES reading {path}",
    "DISK_FULL": "ENOSPC - need ~{needed}MB, have {available}MB",
    "FILE_NOT_FOUND": "{path} not in index",
    "PROJECT_NOT_DETECTED": "No markers found in path hierarchy",
    "SYMLINK_NOT_ALLOWED": "Symlink detected at path: {path}",
}
"""The beginning of the message after the code; more may follow, such as what to do."""


def test_errors_read_as_the_catalogue_of_the_specification() -> None:
    assert {code: CATALOG[code][0] for code in USERS_READ} == USERS_READ
    for code, beginning in DEVELOPERS_READ.items():
        assert CATALOG[code][1].startswith(beginning), code


SETTINGS = {
    "_comment": "Search MCP Configuration - Edit to customize indexing behavior",
    "include": ["**/*"],
    "exclude": [],
    "respectGitignore": True,
    "maxFileSize": "1MB",
    "maxFiles": 50000,
    "docPatterns": ["**/*.md", "**/*.txt"],
    "indexDocs": True,
    "enhancedToolDescriptions": False,
    "indexingStrategy": "realtime",
    "lazyIdleThreshold": 30,
}


def test_the_settings_file_is_the_specification_s(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    write_default_settings(file)
    written = json.loads(file.read_text(encoding="utf-8"))
    explained = {key: written.pop(key) for key in ("_hardcodedExcludes", "_availableOptions")}
    assert written == SETTINGS
    assert len(explained["_hardcodedExcludes"]) == 9
    assert set(explained["_availableOptions"]) == {key for key in written if not key.startswith("_")}
    assert explained["_availableOptions"]["maxFileSize"] == (
        "Skip files larger than this. Supports: '500KB', '1MB', '2MB'."
    )


def test_the_log_of_an_index_rolls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_log, "MAX_LOG_BYTES", 2000)
    log = index_log.open_log(tmp_path)
    for number in range(500):
        log.info("line %d of a log that goes on", number)
    index_log.close_log(tmp_path)
    files = sorted((tmp_path / "logs").iterdir())
    assert [file.name for file in files] == [
        "dowse.log",
        *(f"dowse.log.{n}" for n in range(1, index_log.KEPT_LOG_FILES + 1)),
    ]
    assert all(file.stat().st_size <= 2000 for file in files)
    assert "line 499 " in files[0].read_text(encoding="utf-8")
