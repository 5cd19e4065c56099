"""Every line on stdout is one JSON-RPC message, whatever comes in and whatever goes wrong."""

import os
import signal
from pathlib import Path

import pytest

from tests.mcp.stdio.stdio_client import (
    NEWER,
    StdioClient,
    is_alive,
    wait_until,
)
from tests.sample_data import write_tree


def lists_tools(client: StdioClient) -> bool:
    """Return whether the server still lists its tools."""
    return len(client.request("tools/list")["result"]["tools"]) >= 9


def test_a_crash_of_the_indexing_process_is_an_error_and_not_the_end(orchard: Path) -> None:
    with StdioClient(orchard) as client:
        number, worker = client.initialize().suspend_indexing()
        os.kill(worker, signal.SIGKILL)
        reply = client.wait_for_reply(number)
        assert reply["result"]["isError"]
        # The watcher may hold the write lock for a moment while it compares the files.
        wait_until(lambda: client.call("get_index_status")["status"] == "incomplete")
        assert "-9" in client.call("get_index_status")["lastError"]
        client.complete_index()
        status = client.call("get_index_status")
        assert status["status"] == "ready"
        assert "lastError" not in status


def test_an_indexing_process_that_hangs_is_ended_when_the_index_is_deleted(orchard: Path) -> None:
    with StdioClient(orchard) as client:
        _, worker = client.initialize().suspend_indexing()
        assert client.call("delete_index", confirm=True)["status"] == "success"
        assert not is_alive(worker)
        assert client.call("get_index_status")["status"] == "not_found"


@pytest.mark.parametrize(
    "line",
    [
        b"{not json\n",
        b"\n \n\t\r\n",
        b"\xff\xfe\x00\n",
        b"[]\n",
        b"[" * 100_000 + b"\n",
        b'{"jsonrpc": "2.0", "id": 5}\n',
        b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}\n',
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}\n',
        b'{"jsonrpc": "2.0", "id": 999, "result": {}}\n',
        b'{"jsonrpc": "2.0", "id": "nobody", "error": {"code": 1, "message": "no"}}\n',
        b'{"jsonrpc": "2.0", "method": "notifications/nobody-knows"}\n',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}}\n',
        b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 9, "progress": 1}}\n',
        b"x" * 5_000_000 + b"\n",
    ],
    ids=lambda line: repr(line[:40]),
)
def test_the_server_goes_on_after(client: StdioClient, line: bytes) -> None:
    client.send(line)
    assert lists_tools(client)


def test_a_line_of_megabytes_is_answered(client: StdioClient) -> None:
    assert client.call("search_code", query="a" * 5_000_000)["code"] == "INVALID_ARGUMENT"


def test_a_line_that_is_too_long_is_refused_and_not_kept(client: StdioClient) -> None:
    """A line of 200 MB took 585 MB."""
    assert lists_tools(client)
    before = client.peak_memory_bytes()
    client.send(b'{"jsonrpc": "2.0", "id": "long", "method": "ping", "params": {"text": "')
    for _ in range(100):
        client.send(b"x" * 1_000_000)
    client.send(b'"}}\n')
    assert client.wait_for_reply("long")["error"]["code"] == -32600
    assert lists_tools(client)
    assert client.peak_memory_bytes() - before < 60_000_000


def test_requests_that_come_together_are_all_answered(client: StdioClient) -> None:
    numbers = [client.start_call("search_code", query=f"peel_apple {number}") for number in range(50)]
    wanted = set(numbers)
    while wanted:
        wanted.discard(client.wait_for_message(lambda message: message.get("id") in wanted)["id"])


def test_a_folder_whose_name_is_no_text_is_served(tmp_path: Path) -> None:
    """A reply that named the folder used to end the server."""
    root = write_tree(Path(os.fsdecode(os.fsencode(tmp_path) + b"/na\xffme")), {"apple.py": "def peel_apple(): ...\n"})
    with StdioClient(root) as client:
        assert client.initialize().call("create_index")["filesIndexed"] == 1
        assert client.call("get_index_status")["projectPath"].endswith("na?me")
        assert client.call("search_code", query="peel_apple")["results"]


SHOUTS = """
import builtins, ctypes, os, subprocess, sys

plain = builtins.__import__
shouted = set()

def shouting(name, *rest, **more):
    module = plain(name, *rest, **more)
    if name not in shouted and name.startswith(("mcp", "tantivy", "dowse.searching", "dowse.store", "dowse.indexes.freshness")):
        shouted.add(name)
        print("stray", name, end="", flush=True)
        os.write(1, b"stray from a descriptor\\n")
        ctypes.CDLL(None).puts(b"stray from C")
        ctypes.CDLL(None).fflush(None)
        sys.__stdout__.write("stray and kept\\n" * 10)
        if name == "mcp.server.lowlevel":
            subprocess.run(["echo", "stray from a child"])
    return module

builtins.__import__ = shouting
"""


@pytest.fixture
def shouting(tmp_path: Path) -> str:
    """A PYTHONPATH that makes libraries print while they are imported, in the server and in its processes."""
    return str(write_tree(tmp_path / "library", {"sitecustomize.py": SHOUTS}) / "")


def test_what_libraries_print_goes_to_stderr(root: Path, shouting: str) -> None:
    with StdioClient(root, PYTHONPATH=shouting) as client:
        client.initialize(NEWER)
        assert client.call("create_index")["status"] == "success"
        assert client.call("search_code", query="peel_apple")["results"]
        assert client.call("reindex_project", confirm=True)["status"] == "success"
    for source in ("mcp.server.lowlevel", "a descriptor", "C", "a child", "and kept"):
        assert f"stray {source}" in client.final_stderr or f"stray from {source}" in client.final_stderr
