"""Side effects of the program: no network access, no shell, no code from the searched folder.

Every Python process runs with an audit hook that records such events.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.archives.sample_archives import captured_page, make_archives
from tests.end_to_end.security.audited_process import AuditedProcesses
from tests.mcp.stdio.stdio_client import StdioClient
from tests.sample_data import write_tree
from tests.sites.sample_sites import write_index

FILES: dict[str, str | bytes] = {
    "pyproject.toml": "[project]\nname = 'fruit'\n",
    "src/apple.py": "def peel_apple():\n    return 'red'\n",
    "docs/guide.md": "# Guide\n\nSee ![picture](https://example.com/x.png) and <https://example.com>.\n",
    "docs/page.html": "<html><img src='http://example.com/a.png'><script src='//example.com/b.js'></script>Apple</html>",
    "docs/odd.rst": ".. include:: /etc/passwd\n.. image:: http://example.com/x.png\n\nApple\n",
    "docs/odd.adoc": "= Odd\n\ninclude::http://example.com/x.adoc[]\n\ninclude::/etc/passwd[]\n\nApple\n",
    "docs/book.ipynb": '{"cells": [{"cell_type": "code", "source": ["import os; os.system(\'id\')"], "outputs": []}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "docs/front.md": "---\ntitle: !!python/object/apply:os.system ['id']\n---\n\n# Front\n\nApple\n",
    ".git/config": "[core]\n\tfsmonitor = touch hacked\n\tsshCommand = touch hacked\n\texcludesFile = /etc/passwd\n",
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/hooks/post-checkout": "#!/bin/sh\ntouch hacked\n",
}  # fmt: skip


@pytest.fixture
def audited(tmp_path: Path) -> AuditedProcesses:
    return AuditedProcesses(tmp_path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "fruit", FILES)


def test_the_hook_sees_what_it_should(audited: AuditedProcesses, tmp_path: Path) -> None:
    program = (
        "import socket, subprocess, sys\n"
        "try: socket.create_connection(('127.0.0.1', 1))\n"
        "except OSError: pass\n"
        "subprocess.run([sys.executable, '-c', 'import pickle; pickle.loads(pickle.dumps(print))'])\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | audited.environment)
    assert {event for event, _ in audited.events()} >= {"socket.connect", "subprocess.Popen", "pickle.find_class"}


def test_commands_use_no_network_and_start_no_foreign_program(
    audited: AuditedProcesses, root: Path, tmp_path: Path
) -> None:
    audited.run("index", root)
    assert "peel_apple" in audited.run("search", "peel apple", root)
    places = make_archives(
        tmp_path,
        {"a.md": "# Apples\n\nSee https://example.com/x.\n"},
        {"p": captured_page("https://e.com", "E", "# E")},
    )
    audited.run_in_one_process(
        ("search", "peel_apple", root, "--exact"),
        ("status", root),
        ("why", "src/apple.py", root),
        ("doctor",),
        ("docs", "search", "apple", root),
        ("docs", "read", "docs/odd.rst", root),
        ("archive", "index", places.research, "--urls", places.url_content, "--db", places.database),
        ("archive", "search", "apples", "--db", places.database),
        ("site", "check", write_index(tmp_path / "site.json")),
        ("notes", "add", "default", "a", "apples"),
    )
    assert audited.network_events() == []
    assert _foreign(audited.started_programs()) == []
    assert not {"os.system", "os.exec", "os.posix_spawn", "pickle.find_class"} & {
        event for event, _ in audited.events()
    }
    assert not list(root.rglob("hacked"))


def test_a_server_uses_no_network_and_starts_no_foreign_program(audited: AuditedProcesses, root: Path) -> None:
    with StdioClient(root, **audited.environment) as client:
        client.initialize().call("create_index")
        assert client.call("search_code", query="peel apple")["results"]
        assert client.call("search_docs", query="apple")["results"]
        client.call("search_documents", query="apple")
        client.call("search_add_document", doc_id="a", content="apples")
        client.request("resources/read", uri="docs://docs/odd.adoc")
    assert any(
        "dowse.keeping.indexing_worker" in program for program in audited.started_programs()
    )  # the hook also runs in worker processes
    assert audited.network_events() == []
    assert _foreign(audited.started_programs()) == []
    assert not list(root.rglob("hacked"))


def test_a_folder_of_a_stranger_is_not_where_programs_are_imported_from(audited: AuditedProcesses, root: Path) -> None:
    trap = "open('hacked', 'w').close()\n"
    names = (
        "regex", "ahocorasick", "click", "yaml", "tantivy", "json", "sqlite3", "mcp", "dowse", "sitecustomize",
    )  # fmt: skip
    write_tree(root, {f"{name}.py": trap for name in names})
    audited.run("search", "peel apple", "--wait", cwd=root)
    audited.run("search", "peel apple", cwd=root)
    assert not (root / "hacked").exists()


def _foreign(programs: list[str]) -> list[str]:
    """Return the programs that are neither our interpreter, run with `-P`, nor `git config`."""
    ours = (repr(sys.executable) + ", ", f"({sys.executable!r}")
    return [
        one for one in programs
        if not ((any(name in one for name in ours) and "'-P', '-m', 'dowse" in one) or "'config', '--show-scope'" in one)
    ]  # fmt: skip
