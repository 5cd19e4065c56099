"""Where untrusted files are parsed: in the parser processes alone, whichever command or server reads them."""

from pathlib import Path

import pytest

from tests.archives.sample_archives import captured_page, make_archives
from tests.end_to_end.security.audited_process import AuditedProcesses
from tests.mcp.stdio.stdio_client import StdioClient, wait_until
from tests.reading.test_docx import archive, paragraph, part
from tests.reading.test_pdf import make_pdf
from tests.sample_data import write_tree

PARSERS = (
    "tree_sitter", "semble_grammars", "pyromark", "selectolax", "pypdfium2", "yaml",
    "charset_normalizer",
)  # fmt: skip
"""The packages that parse files."""

FILES: dict[str, str | bytes] = {
    "pyproject.toml": "[project]\nname = 'fruit'\n",
    "src/apple.py": "def peel_apple():\n    return 'red'\n",
    "docs/guide.md": "---\ntitle: Guide\n---\n\n# Guide\n\nPeel an apple, see [the page](page.html).\n\n## Knife\n\nSharp.\n",
    "docs/page.html": "<html><title>Page</title><h1>Page</h1><p>Apple <a href='guide.md'>guide</a></p></html>",
    "docs/odd.rst": "Odd\n===\n\nApple\n",
    "docs/old.txt": "Äpfel schälen und Bäume gießen, für größere Früchte.\n".encode("cp1252"),
    "docs/word.docx": archive({"word/document.xml": part("document", paragraph("Apple"))}),
    "docs/paper.pdf": make_pdf("Apple"),
}


@pytest.fixture
def audited(tmp_path: Path) -> AuditedProcesses:
    return AuditedProcesses(tmp_path, modules=PARSERS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "fruit", FILES)


def check(audited: AuditedProcesses, *expected: str) -> None:
    """Check that no process but the parser processes imported a parser, and that these imported some."""
    imported = audited.imports()
    assert [one for one in imported if "dowse.parsing.parser_worker" not in one] == []
    assert {name for name, *_ in imported} >= set(expected)


def test_a_command_that_indexes_or_reads_files_parses_none(audited: AuditedProcesses, root: Path) -> None:
    output = audited.run_in_one_process(
        ("index", root),
        ("search", "peel apple", root),
        ("search", "peel_apple", root, "--exact"),
        ("docs", "search", "apple", root),
        ("docs", "read", "docs/word.docx", root),
        ("docs", "read", "docs/guide.md#knife", root),
        ("docs", "outline", "docs/guide.md", root),
        ("docs", "links", "docs/guide.md", root),
        ("why", "src/apple.py", root),
        ("doctor", root),
    )
    assert "peel_apple" in output
    assert "Sharp." in output
    check(audited, "tree_sitter", "pyromark", "selectolax", "yaml")


def test_a_command_for_archives_or_sites_parses_no_file(audited: AuditedProcesses, root: Path, tmp_path: Path) -> None:
    places = make_archives(
        tmp_path,
        {
            "a.md": "---\ndate: 2025-01-31\n---\n\n# Apples\n\nSee PEP 8.\n",
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
    )
    assert "3 documents" in output
    assert output.count("1 page of ") == 2
    check(audited, "pyromark", "selectolax", "yaml")


def test_a_server_parses_no_file(audited: AuditedProcesses, root: Path) -> None:
    with StdioClient(Path("--tools=full"), root, **audited.environment) as client:
        client.initialize().call("create_index")
        assert client.call("search_code", query="peel apple")["results"]
        assert client.call("search_docs", query="apple")["results"]
        wait_until(lambda: client.call("search_documents", query="apple")["results"])
        assert client.call("get_document_outline", uri="docs://docs/guide.md")["headings"]
        assert "Sharp" in str(client.call("read_document", uri="docs://docs/guide.md", section="knife"))
        assert client.call("find_links", uri="docs://docs/guide.md")["links"]
        assert "Apple" in str(client.request("resources/read", uri="docs://docs/word.docx"))
        found = client.call("search", query="apple")["results"]
        assert client.call("fetch", id=found[0]["id"])["text"]
    check(audited, "tree_sitter", "pyromark", "selectolax")
