"""Denied files are not opened or revealed, by whatever name or method they are requested."""

import ast
import os
import unicodedata
from pathlib import Path

import pytest

from tests.end_to_end.security.audited_process import AuditedProcesses
from tests.end_to_end.security.fake_secrets import private_key
from tests.mcp.stdio.stdio_client import OLDER, StdioClient
from tests.sample_data import write_tree

SECRET_WORD = "hunter2"
DENIED = (".env", "id_rsa", ".npmrc", "cert.pem", "credentials", "outside.md", "\u00e9toile.env.local")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside.md").write_text(f"# Outside\n\n{SECRET_WORD}\n", encoding="utf-8")
    made = write_tree(
        tmp_path / "fruit",
        {
            "pyproject.toml": "[project]\nname = 'fruit'\n",
            "docs/guide.md": "# Guide\n\nApples and pears.\n",
            ".env": f"TOKEN={SECRET_WORD}\n",
            "deep/er/.env": f"TOKEN={SECRET_WORD}\n",
            "id_rsa": f"{SECRET_WORD}\n",
            ".npmrc": f"//x/:_authToken={SECRET_WORD}\n",
            "cert.pem": f"{SECRET_WORD}\n",
            ".aws/credentials": f"{SECRET_WORD}\n",
            ".env.local": f"TOKEN={SECRET_WORD}\n",
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
    audited = AuditedProcesses(tmp_path, *DENIED, "guide.md")
    output = audited.run_in_one_process(
        ("index", root), ("search", SECRET_WORD, root), ("search", SECRET_WORD, root, "--exact"), ("docs", "list", root),
        ("search", f"{SECRET_WORD}|TOKEN", root, "--regex"), ("docs", "search", SECRET_WORD, root),
        *(("why", "--", spelling) for spelling in SPELLINGS if "outside.md" not in spelling),  # `why` may name files outside of the root
        *(("docs", "read", "--", spelling) for spelling in SPELLINGS),
        cwd=root,
    )  # fmt: skip
    assert "secrets" in output  # the reason that `why` prints
    assert SECRET_WORD not in output
    assert {Path(name).name for name in _opened_names(audited)} == {"guide.md"}  # proves that the hook works


def test_no_request_opens_or_tells_of_a_denied_file(root: Path, tmp_path: Path) -> None:
    audited = AuditedProcesses(tmp_path, *DENIED, "guide.md")
    with StdioClient(root, **audited.environment) as client:
        client.initialize(OLDER).call("create_index")
        for spelling in SPELLINGS:
            client.request("resources/read", uri=f"docs://{spelling}")
            client.request("tools/call", name="reindex_file", arguments={"path": spelling})
            client.request("tools/call", name="search_by_path", arguments={"pattern": spelling})
        for tool in ("search_code", "search_docs", "search_documents"):
            reply = client.request("tools/call", name=tool, arguments={"query": f"TOKEN {SECRET_WORD}"})
            assert not reply["result"]["structuredContent"].get("results")
        client.request("resources/list")
        assert not [
            message for message in client.received if SECRET_WORD in str(message) and "notFound" not in str(message)
        ]
    assert {Path(name).name for name in _opened_names(audited)} == {"guide.md"}


def _opened_names(audited: AuditedProcesses) -> set[str]:
    return {ast.literal_eval(details)[0] for details in audited.opened_files()}


def test_a_hard_link_to_a_private_key_is_denied_by_what_it_holds(root: Path, tmp_path: Path) -> None:
    (root / "server.key").write_text(private_key(), encoding="utf-8")
    os.link(root / "server.key", root / "notes.txt")
    output = AuditedProcesses(tmp_path).run_in_one_process(
        ("why", "notes.txt"), ("search", "RSA PRIVATE KEY", "--json"), cwd=root
    )
    assert "notes.txt is not indexed: denied" in output
    assert private_key().split("\n")[1] not in output
