"""Side effects of the program: no network access, no shell, no code from the searched folder.

Every Python process runs with an audit hook that records such events, and the imports of the packages that parse files:
these are parsed in the parser processes alone.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.archives.sample_archives import captured_page, make_archives
from tests.end_to_end.security.audited_process import AuditedProcesses
from tests.mcp.stdio.stdio_client import StdioClient, wait_until
from tests.reading.test_office_files import archive, paragraph, part
from tests.reading.test_pdf import make_pdf
from tests.sample_data import write_tree
from tests.sites.sample_sites import write_index

PARSERS = (
    "tree_sitter", "semble_grammars", "pyromark", "selectolax", "pypdfium2", "yaml",
    "charset_normalizer",
)  # fmt: skip
"""The packages that parse files."""

FILES: dict[str, str | bytes] = {
    "pyproject.toml": "[project]\nname = 'fruit'\n",
    "src/apple.py": "def peel_apple():\n    return 'red'\n",
    "docs/guide.md": (
        "---\ntitle: Guide\n---\n\n# Guide\n\nPeel an apple, see [the page](page.html), ![picture](https://example.com/x.png) "
        "and <https://example.com>.\n\n## Knife\n\nSharp.\n"
    ),
    "docs/page.html": (
        "<html><title>Page</title><img src='http://example.com/a.png'><script src='//example.com/b.js'></script>"
        "<h1>Page</h1><p>Apple <a href='guide.md'>guide</a></p></html>"
    ),
    "docs/odd.rst": "Odd\n===\n\n.. include:: /etc/passwd\n.. image:: http://example.com/x.png\n\nApple\n",
    "docs/odd.adoc": "= Odd\n\ninclude::http://example.com/x.adoc[]\n\ninclude::/etc/passwd[]\n\nApple\n",
    "docs/old.txt": "Äpfel schälen und Bäume gießen, für größere Früchte.\n".encode("cp1252"),
    "docs/word.docx": archive({"word/document.xml": part("document", paragraph("Apple"))}),
    "docs/paper.pdf": make_pdf("Apple"),
    "docs/book.ipynb": '{"cells": [{"cell_type": "code", "source": ["import os; os.system(\'id\')"], "outputs": []}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "docs/front.md": "---\ntitle: !!python/object/apply:os.system ['id']\n---\n\n# Front\n\nApple\n",
    ".git/config": "[core]\n\tfsmonitor = touch hacked\n\tsshCommand = touch hacked\n\texcludesFile = /etc/passwd\n",
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/hooks/post-checkout": "#!/bin/sh\ntouch hacked\n",
}  # fmt: skip


@pytest.fixture
def audited(tmp_path: Path) -> AuditedProcesses:
    return AuditedProcesses(tmp_path, modules=PARSERS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "fruit", FILES)


def check(audited: AuditedProcesses, root: Path, *parsers: str) -> None:
    """Check that nothing was done but what may be, and that the parser processes, and no others, used some parsers."""
    assert audited.network_events() == []
    assert _foreign(audited.started_programs()) == []
    assert not {"os.system", "os.exec", "os.posix_spawn", "pickle.find_class"} & {
        event for event, _ in audited.events()
    }
    assert not list(root.rglob("hacked"))
    imported = audited.imports()
    assert [one for one in imported if "dowse.parsing.parser_worker" not in one] == []
    assert {name for name, *_ in imported} >= set(parsers)


def test_the_hook_sees_what_it_should(audited: AuditedProcesses, tmp_path: Path) -> None:
    program = (
        "import socket, subprocess, sys\n"
        "try: socket.create_connection(('127.0.0.1', 1))\n"
        "except OSError: pass\n"
        "subprocess.run([sys.executable, '-c', 'import pickle; pickle.loads(pickle.dumps(print))'])\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | audited.environment)
    assert {event for event, _ in audited.events()} >= {"socket.connect", "subprocess.Popen", "pickle.find_class"}


def test_commands_use_no_network_start_no_foreign_program_and_parse_no_file(
    audited: AuditedProcesses, root: Path
) -> None:
    audited.run("index", root)
    output = audited.run_in_one_process(
        ("search", "peel apple", root),
        ("search", "peel_apple", root, "--exact"),
        ("status", root),
        ("docs", "search", "apple", root),
        ("docs", "read", "docs/word.docx", root),
        ("docs", "read", "docs/odd.rst", root),
        ("docs", "read", "docs/guide.md#knife", root),
        ("docs", "outline", "docs/guide.md", root),
        ("docs", "links", "docs/guide.md", root),
        ("why", "src/apple.py", root),
        ("doctor", root),
        ("notes", "add", "default", "a", "apples"),
    )
    assert "peel_apple" in output
    assert "Sharp." in output
    check(audited, root, "tree_sitter", "pyromark", "selectolax", "yaml")


def test_commands_for_archives_and_sites_do_not_either(audited: AuditedProcesses, root: Path, tmp_path: Path) -> None:
    places = make_archives(
        tmp_path,
        {
            "a.md": "---\ndate: 2025-01-31\n---\n\n# Apples\n\nSee PEP 8 and https://example.com/x.\n",
            "b.html": FILES["docs/page.html"],
        },
        {"p": captured_page("https://e.com", "E", "# E")},
    )
    write_tree(tmp_path / "site", {"docs/a.md": FILES["docs/guide.md"]})
    write_tree(tmp_path / "built", {"a.html": FILES["docs/page.html"]})
    output = audited.run_in_one_process(
        ("archive", "index", places.research, "--urls", places.url_content, "--db", places.database),
        ("archive", "search", "apples", "--citations", "--db", places.database),
        ("archive", "broken", "--db", places.database),
        ("site", "build", tmp_path / "site", "--name", "S", "--domain", "e.com", "-o", tmp_path / "site.json"),
        ("site", "build", tmp_path / "built", "--name", "B", "--domain", "b.com", "-o", tmp_path / "built.json"),
        ("site", "check", tmp_path / "site.json"),
        ("site", "check", write_index(tmp_path / "other.json")),
    )
    assert "3 documents" in output
    assert output.count("1 page of ") == 2
    check(audited, root, "pyromark", "selectolax", "yaml")


def test_a_server_uses_no_network_starts_no_foreign_program_and_parses_no_file(
    audited: AuditedProcesses, root: Path
) -> None:
    with StdioClient(Path("--tools=full"), root, **audited.environment) as client:
        client.initialize().call("create_index")
        assert client.call("search_code", query="peel apple")["results"]
        assert client.call("search_docs", query="apple")["results"]
        wait_until(lambda: client.call("search_documents", query="apple")["results"])
        assert client.call("get_document_outline", uri="docs://docs/guide.md")["headings"]
        assert "Sharp" in str(client.call("read_document", uri="docs://docs/guide.md", section="knife"))
        assert client.call("find_links", uri="docs://docs/guide.md")["links"]
        assert "Apple" in str(client.request("resources/read", uri="docs://docs/word.docx"))
        client.request("resources/read", uri="docs://docs/odd.adoc")
        client.call("search_add_document", doc_id="a", content="apples")
        found = client.call("search", query="apple")["results"]
        assert client.call("fetch", id=found[0]["id"])["text"]
    assert any(
        "dowse.keeping.indexing_worker" in program for program in audited.started_programs()
    )  # the hook also runs in worker processes
    check(audited, root, "tree_sitter", "pyromark", "selectolax")


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
