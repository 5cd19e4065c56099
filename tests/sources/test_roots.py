"""Detection of a project's root, and folders that cannot be a root."""

import re
from pathlib import Path

import pytest

from dowse.errors import PathRefused, ProjectNotDetected
from dowse.settings import Settings
from dowse.sources import detect_root
from dowse.sources.policy import Policy
from dowse.sources.roots import MARKERS
from dowse.types import Reason, Rule, Verdict
from tests.sample_data import write_tree
from tests.sources.repositories import git, make_repository, refusal, source, visible_files


@pytest.mark.parametrize("marker", MARKERS)
def test_the_nearest_folder_with_a_marker_is_the_root(tmp_path: Path, marker: str) -> None:
    write_tree(tmp_path, {".git/HEAD": "", f"inner/{marker}": "", "inner/src/deep/a.py": ""})
    found = detect_root(tmp_path / "inner" / "src" / "deep")
    assert (found.path, found.marker) == (tmp_path / "inner", marker)


def test_a_folder_with_the_name_of_a_manifest_is_no_marker(tmp_path: Path) -> None:
    write_tree(tmp_path, {"go.mod": "", "inner/package.json/a.json": "", "inner/pyproject.toml/b.txt": ""})
    assert detect_root(tmp_path / "inner").path == tmp_path


def test_of_several_markers_the_first_is_named(tmp_path: Path) -> None:
    write_tree(tmp_path, {"go.mod": "", "package.json": "", ".git": "gitdir: elsewhere"})
    assert detect_root(tmp_path).marker == ".git"


def test_without_a_marker_it_is_the_folder_itself_and_says_so(tmp_path: Path) -> None:
    found = detect_root(tmp_path)
    assert (found.path, found.marker) == (tmp_path, None)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tree(tmp_path, {"home/package.json": "", "home/notes/a.txt": "", ".git/HEAD": ""})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_home_folder_is_never_found_even_with_a_marker(home: Path) -> None:
    with pytest.raises(ProjectNotDetected, match="choose a directory"):
        detect_root(home)


def test_a_folder_in_home_without_a_marker_of_its_own_stands_for_itself(home: Path) -> None:
    found = detect_root(home / "notes")
    assert (found.path, found.marker) == (home / "notes", None)


def test_a_project_that_holds_the_home_folder_is_found_by_its_marker(home: Path) -> None:
    assert detect_root(home.parent).marker == ".git"


def test_a_folder_that_holds_the_home_folder_needs_a_marker(home: Path) -> None:
    (home.parent / ".git" / "HEAD").unlink()
    (home.parent / ".git").rmdir()
    with pytest.raises(ProjectNotDetected):
        detect_root(home.parent)


def test_the_file_systems_root_is_never_found() -> None:
    with pytest.raises(ProjectNotDetected):
        detect_root(Path(Path.cwd().anchor))


def test_a_start_through_a_symlink_is_where_it_leads(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real/go.mod": "", "real/pkg/a.go": ""})
    (tmp_path / "link").symlink_to("real/pkg")
    assert detect_root(tmp_path / "link").path == tmp_path / "real"


@pytest.mark.parametrize(
    ("root", "pattern"),
    [
        (".ssh", ".ssh/"),
        (".ssh/keys/old", ".ssh/"),
        (".SSH", ".ssh/"),
        (".gnupg", ".gnupg/"),
        (".config/gcloud", ".config/gcloud/"),
        (".config/gcloud/logs", ".config/gcloud/"),
        ("repository/.git", ".git"),
        ("repository/.git/hooks", ".git"),
        ("repository/.hg/store", ".hg/"),
    ],
)
def test_a_folder_that_is_never_read_cannot_be_named(tmp_path: Path, root: str, pattern: str) -> None:
    write_tree(tmp_path / root, {"config": "SECRET"})
    category = "version control" if "repository" in root else "secrets"
    message = f"{tmp_path / root} is never read: {pattern} (built-in deny list ({category})). Choose another folder."
    with pytest.raises(PathRefused, match=re.escape(message)):
        source(tmp_path / root)
    with pytest.raises(PathRefused):
        Policy(tmp_path / root, Settings())


def test_it_cannot_be_named_by_a_way_around_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {".ssh/config": "", "elsewhere/x": ""})
    (tmp_path / "link").symlink_to(".ssh")
    (tmp_path / ".gnupg").symlink_to("elsewhere")
    monkeypatch.chdir(tmp_path / ".ssh")
    for root in (tmp_path / "link", tmp_path / ".gnupg", tmp_path / "elsewhere" / ".." / ".ssh", Path()):
        with pytest.raises(PathRefused):
            source(root)


@pytest.mark.parametrize(
    "root",
    [".config/app", "a.key/project", "prod.env", ".ssh-tools", "repository.git", ".github", "build/dist", ".aws"],
)
def test_a_folder_that_only_looks_alike_may_be_named(tmp_path: Path, root: str) -> None:
    write_tree(tmp_path / root, {"a.py": ""})
    assert visible_files(source(tmp_path / root)) == ["a.py"]


def test_a_worktree_may_be_named_though_its_git_is_a_file(tmp_path: Path) -> None:
    git(make_repository(tmp_path / "repository"), "worktree", "add", "-q", str(tmp_path / "tree"))
    write_tree(tmp_path / "tree", {"a.py": ""})
    assert visible_files(source(tmp_path / "tree")) == ["a.py"]


@pytest.mark.parametrize(
    ("root", "path", "pattern"),
    [
        (".aws", "credentials", ".aws/credentials"),
        (".aws", "sso/cache/token.json", ".aws/sso/"),
        (".kube", "config", ".kube/config"),
        (".config", "gcloud/x", ".config/gcloud/"),
        (".config/gh", "hosts.yml", ".config/gh/hosts.yml"),
    ],
)
def test_the_folders_above_the_root_count_for_secrets(tmp_path: Path, root: str, path: str, pattern: str) -> None:
    write_tree(tmp_path / root, {path: "SECRET", "a.py": ""})
    project = source(tmp_path / root)
    assert visible_files(project) == ["a.py"]
    assert project.verdict(path).rule == Rule(pattern, "built-in deny list (secrets)")
    with pytest.raises(PathRefused):
        project.read_bytes(path)


def test_dowses_own_storage_is_left_out_of_a_project_that_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"root/var/store/indexes/x.json": "", "root/var/store2/a.py": "", "root/store/b.py": ""})
    (tmp_path / "link").symlink_to("root/var/store")
    monkeypatch.setenv("DOWSE_HOME", str(tmp_path / "link"))
    project = source(tmp_path / "root")
    assert visible_files(project) == ["store/b.py", "var/store2/a.py"]
    rule = Rule("var/store/", "built-in deny list (dowse's own storage)")
    assert refusal(project, "var/store/") == Verdict("var/store/", Reason.DENIED, rule)
    assert project.verdict("var/store/indexes/x.json").rule == rule
    with pytest.raises(PathRefused):
        project.read_bytes("var/store/indexes/x.json")


def test_the_usual_storage_is_left_out_of_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOWSE_HOME")
    write_tree(Path.home(), {".mcp/search/indexes/x.json": "", ".mcp/a.json": ""})
    assert visible_files(source(Path.home())) == [".mcp/a.json"]


@pytest.mark.parametrize("below", ["", "indexes/project"])
def test_dowses_own_storage_cannot_be_named(storage: Path, below: str) -> None:
    (storage / below).mkdir(parents=True)
    with pytest.raises(PathRefused, match=r"is never read: .*/ \(built-in deny list \(dowse's own storage\)\)"):
        source(storage / below)
