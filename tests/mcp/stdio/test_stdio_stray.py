"""Output that a library prints, at import or later, from Python or from C, never reaches the client."""

from pathlib import Path

import pytest

from tests.mcp.stdio.stdio_client import NEWER, StdioClient
from tests.sample_data import write_tree

SHOUTS = """
import builtins, ctypes, os, subprocess, sys

plain = builtins.__import__
shouted = set()

def shouting(name, *rest, **more):
    module = plain(name, *rest, **more)
    if name not in shouted and name.startswith(("mcp", "tantivy", "dowse.searching", "dowse.store", "dowse.freshness")):
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
