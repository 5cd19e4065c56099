"""The start of the server: imports, errors in the arguments, missing streams, early signals."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.mcp.stdio.stdio_client import StdioClient, wait_until

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


def test_what_searches_of_an_index_need_is_loaded_before_the_tools_are_listed(indexed: Path) -> None:
    imported = imported_before_the_tools_are_listed(indexed)
    assert {name for name in imported if name in HEAVY} == FOR_SEARCHES


def test_no_client_of_the_protocol_is_imported(root: Path) -> None:
    """The SDK's own `__init__` imports it, with a hundred other modules that no server needs."""
    assert not [name for name in imported_before_the_tools_are_listed(root) if name.startswith("mcp.client")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere is not a folder"),
        ([".", "nowhere"], "nowhere is not a folder"),
        ([""], "is not a path"),
        (["--budget", "3"], "--budget"),
        (["--nothing"], "--nothing"),
    ],
)
def test_an_error_before_the_start_is_one_line_for_people(arguments: list[str], message: str) -> None:
    command = [sys.executable, "-m", "dowse", "serve", *arguments]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


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
