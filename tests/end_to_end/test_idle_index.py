"""A complete index that nobody touches answers without a warning, from the first reply on."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from dowse.cli import main
from dowse.indexes.index import ProjectIndex
from dowse.types import View
from tests.mcp.http.http_server import HttpClient, HttpServer
from tests.mcp.stdio.stdio_client import NEWER, StdioClient

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_code", {"query": "peel an apple"}),
    ("find_text", {"text": "peel"}),
    ("search", {"query": "peel an apple"}),
    ("search_documents", {"query": "guide"}),
    ("search_docs", {"query": "guide"}),
    ("get_index_status", {}),
    ("search_by_path", {"pattern": "**/*.py"}),
    ("find_references", {"name": "peel_apple"}),
    ("related_files", {"path": "src/apple.py"}),
    ("explain", {"path": "src/apple.py", "query": "apple"}),
]
ROUNDS = 3
WARNINGS = ("warnings", "pending", "pendingFiles", "stale", "problem", "problems", "lastError", "secondsLeft")
STATES = ("ready", "success", "complete")

Call = Callable[..., dict[str, Any]]


def find_warnings(reply: object, path: str) -> Iterator[str]:
    """Yield everything in a reply that says that something may be missing."""
    if isinstance(reply, list):
        for value in reply:
            yield from find_warnings(value, path)
    elif isinstance(reply, dict):
        for name, value in reply.items():
            is_state = name in ("status", "state") and value not in STATES
            if is_state or (name in WARNINGS and value) or (name == "complete" and value is not True):
                yield f"{path}.{name}: {value}"
            if name != "encoding":  # vectors are made after the index is complete
                yield from find_warnings(value, f"{path}.{name}")


def warnings_of(call: Call) -> list[str]:
    return [warning for tool, arguments in CALLS * ROUNDS for warning in find_warnings(call(tool, **arguments), tool)]


@pytest.fixture
def complete(root: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A project whose index has its documents and its references."""
    index = ProjectIndex(root, View.BOTH)
    index.update()
    index.close()
    assert main(["refs", "peel_apple", str(root)]) == 0
    capsys.readouterr()
    return root


def test_no_reply_over_stdio_has_a_warning(complete: Path) -> None:
    with StdioClient(Path("--tools=full"), complete) as client:
        assert warnings_of(client.initialize().call) == []


def test_no_reply_over_http_has_a_warning(complete: Path) -> None:
    with HttpServer(complete, options=("--tools", "full")) as server:
        assert warnings_of(HttpClient(server, NEWER).call_tool) == []


def test_no_reply_has_a_warning_while_another_server_keeps_the_index(complete: Path) -> None:
    with ExitStack() as stack:
        first, second = (stack.enter_context(StdioClient(Path("--tools=full"), complete)) for _ in range(2))
        assert warnings_of(first.initialize().call) == []
        assert warnings_of(second.initialize().call) == []
        assert warnings_of(first.call) == []


def test_no_reply_has_a_warning_after_a_file_was_touched(complete: Path) -> None:
    def touch_and_call(tool: str, /, **arguments: Any) -> dict[str, Any]:
        os.utime(complete / "src/apple.py")
        return {} if tool == "get_index_status" else client.call(tool, **arguments)  # it tells of the event

    os.utime(complete / "src/pear.py")
    with StdioClient(Path("--tools=full"), complete) as client:
        client.initialize()
        assert warnings_of(touch_and_call) == []
