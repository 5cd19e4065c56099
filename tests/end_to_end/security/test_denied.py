"""Denied files are not opened and nothing of them is told, by whatever name or way they are asked for."""

import ast
import os
import unicodedata
from pathlib import Path

import pytest

from tests.end_to_end.security.audited_process import Watched
from tests.end_to_end.security.fake_secrets import private_key
from tests.mcp.stdio.stdio_client import OLDER, StdioClient
from tests.sample_data import write_tree

MARK = "hunter2"
DENIED = (".env", "id_rsa", ".npmrc", "cert.pem", "credentials", "outside.md", "\u00e9toile.env.local")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside.md").write_text(f"# Outside\n\n{MARK}\n", encoding="utf-8")
    made = write_tree(
        tmp_path / "fruit",
        {
            "pyproject.toml": "[project]\nname = 'fruit'\n",
            "docs/guide.md": "# Guide\n\nApples and pears.\n",
            ".env": f"TOKEN={MARK}\n",
            "deep/er/.env": f"TOKEN={MARK}\n",
            "id_rsa": f"{MARK}\n",
            ".npmrc": f"//x/:_authToken={MARK}\n",
            "cert.pem": f"{MARK}\n",
            ".aws/credentials": f"{MARK}\n",
            ".env.local": f"TOKEN={MARK}\n",
        },
    )
    (made / "docs/linked.md").symlink_to(made / ".env")
    (made / "docs/out.md").symlink_to(tmp_path / "outside.md")
    (made / "out").symlink_to(tmp_path, target_is_directory=True)
    return made


SPELLINGS = [
    ".env", "./.env", "docs/../.env", "deep/er/.env", "DEEP/er/.env", ".ENV", ".Env", "/.env", "//.env", ".env/", ".env/.",
    "docs/linked.md", "docs/out.md", "out/outside.md", "../outside.md", "docs/../../outside.md", "id_rsa", ".aws/credentials",
    "%2eenv", ".%65nv", "%2e%2e/outside.md", "..%2foutside.md", ".env%00.md", ".env\u200b", "\uff0eenv", ".env ", ".env.",
    unicodedata.normalize("NFD", "\u00e9toile.env.local"), ".env.local", "file:///etc/passwd", "/etc/passwd",
]  # fmt: skip


def test_no_command_opens_or_tells_of_a_denied_file(root: Path, tmp_path: Path) -> None:
    watched = Watched(tmp_path, *DENIED, "guide.md")
    said = watched.run_each(
        ("index", root), ("search", MARK, root), ("search", MARK, root, "--exact"), ("docs", "list", root),
        ("search", f"{MARK}|TOKEN", root, "--regex"), ("docs", "search", MARK, root),
        *(("why", "--", spelling) for spelling in SPELLINGS if "outside.md" not in spelling),  # whoever names it may ask
        *(("docs", "read", "--", spelling) for spelling in SPELLINGS),
        cwd=root,
    )  # fmt: skip
    assert "secrets" in said  # why says so
    assert MARK not in said
    assert {Path(name).name for name in _names(watched)} == {"guide.md"}  # which the hook sees


def test_no_request_opens_or_tells_of_a_denied_file(root: Path, tmp_path: Path) -> None:
    watched = Watched(tmp_path, *DENIED, "guide.md")
    with StdioClient(root, **watched.environment) as client:
        client.initialize(OLDER).call("create_index")
        for spelling in SPELLINGS:
            client.request("resources/read", uri=f"docs://{spelling}")
            client.request("tools/call", name="reindex_file", arguments={"path": spelling})
            client.request("tools/call", name="search_by_path", arguments={"pattern": spelling})
        for tool in ("search_code", "search_docs", "search_documents"):
            reply = client.request("tools/call", name=tool, arguments={"query": f"TOKEN {MARK}"})
            assert not reply["result"]["structuredContent"].get("results")
        client.request("resources/list")
        assert not [message for message in client.received if MARK in str(message) and "notFound" not in str(message)]
    assert {Path(name).name for name in _names(watched)} == {"guide.md"}


def _names(watched: Watched) -> set[str]:
    return {ast.literal_eval(details)[0] for details in watched.opened()}


def test_a_hard_link_to_a_private_key_is_denied_by_what_it_holds(root: Path, tmp_path: Path) -> None:
    (root / "server.key").write_text(private_key(), encoding="utf-8")
    os.link(root / "server.key", root / "notes.txt")
    said = Watched(tmp_path).run_each(("why", "notes.txt"), ("search", "RSA PRIVATE KEY", "--json"), cwd=root)
    assert "notes.txt is not indexed: denied" in said
    assert private_key().split("\n")[1] not in said
