"""Repositories by their address: cloned once, fetched again, and searched as they are where nothing can be fetched."""

import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from dowse.errors import Failed, LimitReached, PathRefused, UsageError
from dowse.indexes import cloned_repositories
from dowse.indexes.cloned_repositories import clone_or_fetch, parse_address
from dowse.indexes.index import ProjectIndex
from dowse.system.platform import storage_root
from tests.searching.history.repositories import Change, add_commits, git, make_repository


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """Make a repository of two commits on two branches."""
    root = make_repository(
        tmp_path / "origin" / "shop", [Change("Begin", {"a.py": "apple = 1\n", "old.py": "x = 1\n"})]
    )
    git(root, "branch", "old")
    add_commits(root, [Change("Go on", {"a.py": "apple = 2\n", "old.py": None})])
    return root


def test_a_clone_has_one_commit_and_later_calls_fetch_the_newest(origin: Path) -> None:
    address = parse_address(f"file://{origin}")
    root, warning = clone_or_fetch(address)
    assert (root.name, warning, (root / "a.py").read_text()) == ("shop", "", "apple = 2\n")
    assert root.is_relative_to(storage_root())
    assert git(root, "rev-list", "--count", "HEAD") == "1"
    (root / "a.py").write_text("changed here\n", encoding="utf-8")
    (root / "stray.py").write_text("", encoding="utf-8")
    add_commits(origin, [Change("Third", {"b.py": "pear = 3\n"})])
    assert clone_or_fetch(address) == (root, "")
    assert sorted(path.name for path in root.glob("*.py")) == ["a.py", "b.py"]
    assert (root / "a.py").read_text() == "apple = 2\n"


def test_a_branch_a_tag_or_a_commit_may_be_meant(origin: Path) -> None:
    git(origin, "tag", "v1.0", "old")
    commit = git(origin, "rev-parse", "old")
    for ref in ("old", "v1.0", commit):
        root, _ = clone_or_fetch(parse_address(f"file://{origin}@{ref}"))
        assert (root / "a.py").read_text() == "apple = 1\n"
        assert root.name == f"shop@{ref}"
    with pytest.raises(Failed, match="couldn't find remote ref nothing"):
        clone_or_fetch(parse_address(f"file://{origin}@nothing"))


def test_where_nothing_can_be_fetched_the_clone_is_used_and_that_is_said(origin: Path) -> None:
    address = parse_address(f"file://{origin}")
    root, _ = clone_or_fetch(address)
    origin.rename(origin.with_name("gone"))
    again, warning = clone_or_fetch(address)
    assert again == root
    assert warning.startswith(f"{address.url} cannot be fetched: ")
    assert warning.endswith(" is searched.")
    with pytest.raises(Failed, match="cannot be fetched"):
        clone_or_fetch(parse_address(f"file://{origin}-never"))
    assert [path.name for path in storage_root().glob("repositories/*/new-*")] == []


def test_a_repository_that_is_too_large_is_not_kept(origin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloned_repositories, "MAX_BYTES", 10)
    with pytest.raises(LimitReached, match="more than 0 MB"):
        clone_or_fetch(parse_address(f"file://{origin}"))
    assert [path.name for path in storage_root().glob("repositories/*/*") if path.is_dir()] == []


def test_nothing_of_the_user_or_of_the_repository_runs(
    origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks of a template, filters, helpers and submodules would each leave a file."""
    modules = f'[submodule "s"]\npath = s\nurl = file://{origin}\n'
    add_commits(origin, [Change("Traps", {".gitattributes": "* filter=x\n", ".gitmodules": modules})])
    mark = tmp_path / "ran"
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
        (hooks / name).chmod(0o755)
    config = tmp_path / "gitconfig"
    for file in (config, Path.home() / ".gitconfig"):
        file.write_text(
            f"[init]\ntemplateDir = {hooks.parent}\n[core]\nhooksPath = {hooks}\nfsmonitor = touch {mark}\n"
            f'[filter "x"]\nsmudge = touch {mark}\n[credential]\nhelper = "!touch {mark}"\n',
            encoding="utf-8",
        )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(hooks.parent))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(hooks))
    root, _ = clone_or_fetch(parse_address(f"file://{origin}"))
    clone_or_fetch(parse_address(f"file://{origin}"))
    assert not mark.exists()
    assert not (root / "s").exists()
    assert not (root / ".git" / "hooks").exists()
    assert str(origin) not in (root / ".git" / "config").read_text()


def test_a_link_of_a_repository_becomes_a_plain_file(origin: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    subprocess.run(["git", "clone", "-q", str(origin), str(work)], check=True)
    (work / "link.py").symlink_to("/etc/passwd")
    git(work, "add", ".")
    git(work, "commit", "-qm", "Link")
    root, _ = clone_or_fetch(parse_address(f"file://{work}"))
    assert not (root / "link.py").is_symlink()


def test_an_address_is_parsed() -> None:
    for text, url, ref in (
        ("https://host.example/owner/name", "https://host.example/owner/name", ""),
        ("https://host.example/owner/name.git@v1.0", "https://host.example/owner/name.git", "v1.0"),
        ("https://host.example:8443/a/b/c@feature/x", "https://host.example:8443/a/b/c", "feature/x"),
        ("ssh://git@host.example/owner/name@main", "ssh://git@host.example/owner/name", "main"),
        ("https://host.example/@owner/name", "https://host.example/@owner/name", ""),
        ("https://host.example/owner/name/", "https://host.example/owner/name", ""),
        ("file:///srv/name", "file:///srv/name", ""),
    ):
        address = parse_address(text)
        assert (address.url, address.ref) == (url, ref)


def test_an_address_that_could_mean_something_else_is_refused() -> None:
    for text in (
        "http://host.example/owner/name", "https://user:secret@host.example/owner/name", "https://token@host.example/a/b",
        "ssh://git:secret@host.example/a", "https://host.example", "https://-oProxyCommand=x/a", "https://host/a@--upload-pack=x",
        "https://host/a@x..y", "ssh://-x/a", "ext::sh -c id", "git://host/a", "https://host/a@b@c@", "file://host", "ssh://host/a@-x",
    ):  # fmt: skip
        with pytest.raises(UsageError):
            parse_address(text)


class Private(BaseHTTPRequestHandler):
    """A server that wants a password for everything."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


def test_nobody_is_asked_for_a_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = tmp_path / "ask"
    asked.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\necho secret\n", encoding="utf-8")
    asked.chmod(0o755)
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(asked))
    with HTTPServer(("127.0.0.1", 0), Private) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        with pytest.raises(Failed, match="could not read Username"):
            clone_or_fetch(parse_address(f"http://127.0.0.1:{server.server_port}/private/shop"))
        server.shutdown()
    assert not (tmp_path / "asked").exists()


def test_of_the_storage_root_only_clones_may_be_searched(origin: Path) -> None:
    root, _ = clone_or_fetch(parse_address(f"file://{origin}"))
    assert ProjectIndex(root).count_files() == 1
    for folder in (root.parent, root.parent.parent, storage_root(), storage_root() / "indexes", root / ".git"):
        folder.mkdir(exist_ok=True)
        with pytest.raises(PathRefused):
            ProjectIndex(folder)
