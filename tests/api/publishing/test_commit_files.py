"""The files of a commit that are written into a folder."""

import subprocess
from pathlib import Path

import pytest

from dowse.api.publishing.commit_files import list_blobs, mask_file, write_blobs
from dowse.searching.history.git_objects import find_repository, open_objects
from dowse.system.platform import IS_WINDOWS
from tests.api.publishing.shared_places import KEY
from tests.searching.history.repositories import Change, git, make_repository

NAMES = (
    ".git", ".GIT", ".Git", ".git.", ".GIT ", ".git. .", ".git::$INDEX_ALLOCATION", "git~1", "GIT~1", "git~1 ",
    ".g\u200cit", "\ufeff.GIT", ".gi\u206ft", "a\\.git", ".git\\b",
    "git", "git~2", "git~10", ".gitignore", ".github", ".git-x", ".git~1", "a.git", "x git~1", "ı.git", ".gıt",
)  # fmt: skip


def is_added(root: Path, path: str, blob: str) -> bool:
    """Return whether git adds a path where it protects the file systems of all machines."""
    protected = ("-c", "core.protectHFS=true", "-c", "core.protectNTFS=true")
    try:
        git(root, *protected, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    except subprocess.CalledProcessError:
        return False
    git(root, "read-tree", "--empty")
    return True


@pytest.mark.skipif(IS_WINDOWS, reason="Windows has no files with most of these names")
def test_a_path_that_leads_into_gits_folder_on_some_file_system_is_left_out(tmp_path: Path) -> None:
    """macOS and Windows ignore the case of names: `.GIT/config` would be git's own file there."""
    root, folder = make_repository(tmp_path / "shop", [Change("Begin", {"a.py": "a = 1\n"})]), tmp_path / "written"
    blob = git(root, "rev-parse", "HEAD:a.py")
    around = git(root, "mktree", given=f"100644 blob {blob}\tconfig\n".encode())
    files = git(root, "mktree", "-z", given="".join(f"100644 blob {blob}\t{name}\0" for name in NAMES).encode())
    folders = "".join(f"040000 tree {around}\t{name}\0" for name in NAMES)
    top = git(root, "mktree", "-z", given=f"{folders}040000 tree {files}\tsub\0".encode())
    git(root, "update-ref", "refs/heads/main", git(root, "commit-tree", top, "-m", "Odd"))
    folder.mkdir()
    with open_objects(find_repository(root)) as objects:
        write_blobs(objects, list_blobs(objects), folder)
    paths = [path for name in NAMES for path in (f"{name}/config", f"sub/{name}")]
    wanted = {path for path in paths if is_added(root, path, blob)}
    assert {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()} == wanted
    assert "sub/.gitignore" in wanted
    assert "sub/.GIT" not in wanted


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_secret_is_masked_in_every_encoding_and_the_rest_stays(encoding: str) -> None:
    text = f'# café\r\nKEY = "{KEY}"\r\nlast = 1\r\n'
    masked = mask_file("settings.py", text.encode(encoding)).decode(encoding)
    assert masked == text.replace(KEY, "[masked: aws-access-token]")


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe", b"\xff\xfe\x00", bytes(range(256)), "caf\u00e9 = 1\n".encode("latin-1")]
)
def test_a_file_without_a_secret_keeps_its_bytes(data: bytes) -> None:
    assert mask_file("a.py", data) == data
