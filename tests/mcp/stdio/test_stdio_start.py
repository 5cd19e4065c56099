"""The start of the server: imports, errors in the arguments, missing streams, early signals."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from tests.mcp.stdio.stdio_client import (
    NEWER,
    PATIENCE_SECONDS,
    StdioClient,
    client_metadata,
    is_alive,
    resume_process,
    wait_until,
)
from tests.sample_data import index

HEAVY = (
    "charset_normalizer", "numpy", "pyromark", "rapidfuzz", "regex", "selectolax",
    "semble_grammars", "tree_sitter", "yaml",
)  # fmt: skip


FOR_SEARCHES = {"numpy", "rapidfuzz", "regex"}
"""Those of them that a search needs: they are loaded beside the protocol, if there is an index."""


def imported_before_the_tools_are_listed(root: Path) -> set[str]:
    started = time.monotonic()
    with StdioClient(root, PYTHONPROFILEIMPORTTIME="1") as client:
        client.initialize().request("tools/list")
        print(f"ready in {time.monotonic() - started:.2f} s")
        lines = client.stderr.splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import")}


def test_nothing_heavy_is_imported_before_the_tools_are_listed(root: Path) -> None:
    imported = imported_before_the_tools_are_listed(root)
    assert {"mcp.server.lowlevel", "dowse.mcp.stdio"} <= imported
    assert [name for name in sorted(imported) if name.partition(".")[0] in HEAVY] == []
    assert not [name for name in imported if name.startswith("mcp.client")], "a hundred modules that no server needs"


def test_what_searches_of_an_index_need_is_loaded_before_the_tools_are_listed(indexed: Path) -> None:
    imported = imported_before_the_tools_are_listed(indexed)
    assert {name for name in imported if name in HEAVY} == FOR_SEARCHES


def test_without_stdin_the_server_ends_at_once(root: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", '"$0" -m dowse serve "$1" <&-', sys.executable, str(root)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")


def test_without_stdout_and_stderr_the_server_ends_with_its_client(root: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", '"$0" -m dowse serve "$1" >&- 2>&-', sys.executable, str(root)],
        input=b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n', check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_modules_are_loaded_ends_the_server(root: Path, how: signal.Signals) -> None:
    with StdioClient(root, PYTHONPROFILEIMPORTTIME="1") as client:
        wait_until(lambda: "mcp_types" in client.stderr)
        assert client.stop(how) == 0
    assert client.received == []
    assert "Traceback" not in client.final_stderr


def parameter_name(value: object) -> str:
    return getattr(value, "name", getattr(value, "__name__", "stdin closed"))


def be_idle(client: StdioClient) -> None:
    client.request("ping")


def be_indexing(client: StdioClient) -> None:
    resume_process(client.suspend_indexing()[1])


@pytest.mark.parametrize(
    ("be_busy", "how"),
    [
        (be_idle, None),
        (be_idle, signal.SIGINT),
        (be_indexing, signal.SIGTERM),
    ],
    ids=parameter_name,
)
def test_the_server_and_what_it_started_leave(
    orchard: Path, be_busy: Callable[[StdioClient], None], how: signal.Signals | None
) -> None:
    with StdioClient(orchard) as client:
        be_busy(client.initialize())
        workers = client.workers()
        assert client.stop(how) == 0
        wait_until(lambda: not any(map(is_alive, workers)))
    assert client.final_stderr == ""


def test_the_server_leaves_while_a_question_is_open(root: Path) -> None:
    with StdioClient(root) as client:
        client.initialize(can_ask=True).start_call("create_index")
        client.wait_for_message(lambda message: message.get("method") == "elicitation/create")
        assert client.stop() == 0
    assert not ProjectIndex(root).exists


def test_an_indexing_process_that_hangs_is_ended_with_the_server(orchard: Path) -> None:
    with StdioClient(orchard) as client:
        _, worker = client.initialize().suspend_indexing()
        assert client.stop() == 0
        wait_until(lambda: not is_alive(worker))


def test_a_client_that_does_not_read_any_more_does_not_hold_the_server(root: Path) -> None:
    index(root)
    with subprocess.Popen(
        [sys.executable, "-m", "dowse", "serve", root], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        for number in range(200):  # more than the pipe holds
            server.stdin.write(list_tools_request(number))
        server.stdin.close()
        assert server.wait(PATIENCE_SECONDS) == 0


def test_a_client_that_closes_its_ear_is_gone(root: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "dowse", "serve", root], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdout.close()
        server.stdin.write(list_tools_request(1))
        server.stdin.flush()
        assert server.wait(PATIENCE_SECONDS) == 0


def list_tools_request(number: int) -> bytes:
    params = {"_meta": client_metadata(NEWER, {})}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": params}).encode() + b"\n"
