"""Refused resources: files outside of the folder, denied files and other URI schemes get an error."""

import os
import sys
from pathlib import Path

import pytest

from tests.sample_data import write_tree
from tests.surfaces.documents.documents_client import NOT_FOUND, Reader, index, run_conversation

SECRET = "hunter2"


@pytest.fixture
def guarded(notes: Path) -> Path:
    """The folder with secrets in it and beside it, and with links that lead to them."""
    write_tree(notes.parent, {"secret.md": f"# {SECRET}\n", "notes-too/secret.md": f"# {SECRET}\n"})
    write_tree(
        notes,
        {
            ".env.md": SECRET,
            ".ssh/config.md": SECRET,
            "server.pem": SECRET,
            "key.txt": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET * 8}\n-----END OPENSSH PRIVATE KEY-----\n",
            "node_modules/x/README.md": SECRET,
            "ignored.md": SECRET,
            ".gitignore": "ignored.md\n",
            "binary.md": b"\0\1\2" + SECRET.encode(),
        },
    )
    (notes / "out.md").symlink_to(notes.parent / "secret.md")
    (notes / "outside").symlink_to(notes.parent)
    (notes / "inside.md").symlink_to(notes / "README.md")
    (notes / "env.md").symlink_to(notes / ".env")
    (notes / "folder.md").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(notes / "pipe.md")
    index(notes)
    return notes


REFUSED = [
    "docs://../secret.md", "docs://%2e%2e/secret.md", "docs://%2E%2E%2Fsecret.md", "docs://..%2fsecret.md",
    "docs://..%5csecret.md", "docs://..\\secret.md", "docs://%252e%252e%252fsecret.md",
    "docs://guide/../../secret.md", "docs://guide/../README.md", "docs://./README.md", "docs://guide//pruning.md",
    "docs://guide/./pruning.md", "docs:///etc/passwd", "docs:////etc/passwd", "docs://%2Fetc%2Fpasswd",
    "docs:///README.md", "docs://README.md/", "docs://README.md/..", "docs://README.md%00",
    "docs://README.md%00.txt", "docs://~/secret.md", "docs://C:/secret.md", "docs://\\\\host\\share.md",
    "docs://ＲＥＡＤＭＥ.md", "docs://․․/secret.md", "docs://%c0%ae%c0%ae/secret.md", "docs://out.md",
    "docs://outside/secret.md", "docs://outside/notes/README.md", "docs://inside.md", "docs://env.md", "docs://.env",
    "docs://%2eenv", "docs://.env.md", "docs://.ssh/config.md", "docs://id_rsa", "docs://ID_RSA",
    "docs://server.pem", "docs://key.txt", "docs://.git/notes.md", "docs://.git/config",
    "docs://node_modules/x/README.md", "docs://ignored.md", "docs://binary.md", "docs://src/tree.py",
    "docs://folder.md", "docs://guide", "docs://guide/", "docs://pipe.md", "docs://", "docs://#", "docs://?",
    "docs://missing.md", "docs://" + "a/" * 3000 + "x.md", "docs://" + "x" * 5000, "docs://*.md",
]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="needs symlinks")
def test_whatever_is_not_a_document_of_the_folder_is_not_found(guarded: Path, mode: str) -> None:
    async def conversation(reader: Reader) -> None:
        for uri in REFUSED:
            code, message = await reader.read_error(uri)
            assert (code, message) == (NOT_FOUND[mode], f"Resource not found: {uri}")
        listed = await reader.list_all()
        assert [str(one.uri) for one in listed] == [
            "docs://README.md",
            "docs://guide/grafting.html",
            "docs://guide/pruning.md",
            "docs://memo.txt",
        ]
        assert (await reader.search(SECRET))["totalMatches"] == 0
        for tool in ("get_document_outline", "read_document", "find_links"):
            for uri in REFUSED:
                assert SECRET not in await reader.expect_error(tool, uri=uri)

    run_conversation(mode, conversation, guarded, level="full")


FOREIGN = [
    "file:///etc/passwd", "file://README.md", "http://example.org/README.md", "https://example.org",
    "doc://README.md", "docs:README.md", "docs:/README.md", "README.md", "javascript:alert(1)", "mailto:a@b",
    " docs://README.md", "",
]  # fmt: skip


def test_another_scheme_is_named_as_such(guarded: Path) -> None:
    async def conversation(reader: Reader) -> None:
        for uri in FOREIGN:
            assert await reader.read_error(uri) == (NOT_FOUND["auto"], f"Unsupported URI scheme: {uri}")

    run_conversation("auto", conversation, guarded)


def test_a_file_that_becomes_a_symlink_is_not_read_any_more(guarded: Path) -> None:
    async def conversation(reader: Reader) -> None:
        assert "secateurs" in await reader.read("docs://memo.txt")
        (guarded / "memo.txt").unlink()
        (guarded / "memo.txt").symlink_to(guarded.parent / "secret.md")
        assert (await reader.read_error("docs://memo.txt"))[0] == NOT_FOUND["auto"]
        text, found = await reader.search_with_text("secateurs ladder")
        assert "docs://memo.txt" not in text
        assert SECRET not in text
        assert SECRET not in str(found)

    run_conversation("auto", conversation, guarded)


def test_a_folder_that_is_gone_is_an_error_and_no_empty_list(notes: Path) -> None:
    async def conversation(reader: Reader) -> None:
        notes.rename(notes.with_name("elsewhere"))
        code, message = await reader.read_error("docs://README.md")
        assert code == -32602
        assert str(notes.parent) not in message

    run_conversation("auto", conversation, notes)
