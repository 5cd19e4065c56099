"""Repositories: which rules apply where, and which nested repositories are entered."""

import os
import shutil
from pathlib import Path

import pytest

from dowse.errors import Failed
from dowse.sources.repository import (
    MAX_RULE_BYTES,
    find_git_folders,
    global_excludes_file,
    repository_around,
    submodule_paths,
)
from dowse.types import Reason, Rule, Verdict
from tests.sample_data import write_tree
from tests.sources.repositories import git, make_repository, refusal, source, visible_files


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repository")


def test_the_users_own_excludes_hold_and_are_named(repository: Path) -> None:
    write_tree(repository, {"notes.txt": "", "notes.tmp": ""})
    write_tree(Path.home(), {".config/git/ignore": "# mine\n*.tmp\n"})
    assert refusal(source(repository), "notes.tmp").rule == Rule("*.tmp", "~/.config/git/ignore", 2)


def test_the_users_own_excludes_may_be_a_symlink(repository: Path) -> None:
    write_tree(Path.home(), {"dotfiles/ignore": "*.tmp\n", ".config/git/other": ""})
    (Path.home() / ".config/git/ignore").symlink_to(Path.home() / "dotfiles/ignore")
    write_tree(repository, {"notes.tmp": "", "notes.txt": ""})
    assert visible_files(source(repository)) == ["notes.txt"]


def test_info_exclude_holds_and_is_stronger_than_the_users_excludes(repository: Path) -> None:
    write_tree(Path.home(), {".config/git/ignore": "*.tmp\n"})
    write_tree(repository, {".git/info/exclude": "!keep.tmp\n*.bak\n", "keep.tmp": "", "a.tmp": "", "sub/b.bak": ""})
    assert visible_files(source(repository)) == ["keep.tmp"]
    assert refusal(source(repository), "sub/b.bak").rule == Rule("*.bak", ".git/info/exclude", 2)


def test_a_worktree_has_the_rules_of_its_repository(repository: Path, tmp_path: Path) -> None:
    write_tree(repository, {".git/info/exclude": "*.bak\n"})
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    write_tree(tmp_path / "tree", {"a.bak": "", "a.py": ""})
    assert visible_files(source(tmp_path / "tree")) == ["a.py"]
    rule = refusal(source(tmp_path / "tree"), "a.bak").rule
    assert rule is not None
    assert rule.origin.endswith("repository/.git/info/exclude")


def test_a_worktree_nested_in_its_repository_is_not_entered(repository: Path) -> None:
    git(repository, "worktree", "add", "-q", str(repository / "trees" / "one"))
    write_tree(repository, {"trees/one/a.py": "", "trees/b.py": ""})
    assert visible_files(source(repository)) == ["trees/b.py"]
    assert refusal(source(repository), "trees/one/").reason is Reason.NESTED_REPOSITORY


def test_a_nested_repository_is_not_entered_and_why_says_so(repository: Path) -> None:
    make_repository(repository / "libs" / "other")
    write_tree(repository, {"libs/other/a.py": "", "libs/b.py": ""})
    verdict = source(repository).verdict("libs/other/a.py")
    assert (verdict.reason, verdict.rule) == (Reason.NESTED_REPOSITORY, Rule(".git", "libs/other/.git"))
    assert verdict.detail == "because of its folder libs/other/: a separate repository that is not in .gitmodules"


@pytest.fixture
def with_submodule(repository: Path, tmp_path: Path) -> Path:
    write_tree(make_repository(tmp_path / "library"), {"lib.py": "", ".gitignore": "*.dowse\n"})
    git(tmp_path / "library", "add", ".")
    git(tmp_path / "library", "commit", "-q", "-m", "files")
    git(repository, "submodule", "--quiet", "add", str(tmp_path / "library"), "libs/library")
    return repository


def test_a_submodule_is_entered(with_submodule: Path) -> None:
    assert "libs/library/lib.py" in visible_files(source(with_submodule))


def test_a_submodule_has_its_own_rules_and_not_those_of_its_parent(with_submodule: Path) -> None:
    write_tree(with_submodule, {".gitignore": "*.parents\n", "a.dowse": "", "a.parents": ""})
    write_tree(with_submodule / "libs/library", {"b.dowse": "", "b.parents": "", "b.excluded": ""})
    write_tree(with_submodule / ".git/modules/libs/library/info", {"exclude": "*.excluded\n"})
    files = [
        path
        for path in visible_files(source(with_submodule))
        if not path.endswith((".gitignore", ".gitmodules", ".py"))
    ]
    assert files == ["a.dowse", "libs/library/b.parents"]


def test_a_submodules_own_ignore_files_name_their_place(with_submodule: Path) -> None:
    write_tree(with_submodule, {"libs/library/deep/b.dowse": ""})
    assert refusal(source(with_submodule), "libs/library/deep/b.dowse").rule == Rule(
        "*.dowse", "libs/library/.gitignore", 1
    )


def test_a_repository_nested_in_a_submodule_is_not_entered(with_submodule: Path) -> None:
    make_repository(with_submodule / "libs/library/deeper")
    assert refusal(source(with_submodule), "libs/library/deeper/").reason is Reason.NESTED_REPOSITORY


def test_a_submodule_of_the_repository_above_the_root_is_entered(with_submodule: Path) -> None:
    assert "library/lib.py" in visible_files(source(with_submodule / "libs"))


def test_outside_any_repository_nested_ones_are_entered_each_with_its_own_rules(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_tree(make_repository(tmp_path / name), {".gitignore": f"*.{name}\n", "a.one": "", "a.two": ""})
    write_tree(tmp_path, {".gitignore": "a.*\n", "a.txt": "", "one/.git/info/exclude": "b\n", "one/b": "", "two/b": ""})
    assert [path for path in visible_files(source(tmp_path)) if not path.endswith("ignore")] == [
        "one/a.two",
        "two/a.one",
        "two/b",
    ]


def test_rules_that_a_repository_below_keeps_outside_its_folders_are_seen_to_change(tmp_path: Path) -> None:
    """A link in their place is not read, so that what it leads to may change."""
    for name in ("one", "two"):
        write_tree(make_repository(tmp_path / name), {"a.py": ""})
    (tmp_path / "one/.git/info").mkdir(exist_ok=True)
    (tmp_path / "one/.git/info/exclude").unlink(missing_ok=True)
    (tmp_path / "one/.git/info/exclude").symlink_to(tmp_path / "log")
    files = source(tmp_path)
    assert "one/a.py" in visible_files(files)
    write_tree(tmp_path, {"log": "a.py\n"})
    assert not files.has_new_rules()
    write_tree(tmp_path, {"two/.git/info/exclude": "a.py\n"})
    assert files.has_new_rules()
    assert "two/a.py" not in visible_files(files)


def test_ignore_files_hold_outside_any_repository(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "*.gen\n", "a.gen": "", "a.py": ""})
    assert visible_files(source(tmp_path)) == [".gitignore", "a.py"]


def test_a_root_inside_a_repository_has_the_rules_of_the_folders_above(repository: Path) -> None:
    write_tree(repository, {".gitignore": "*.top\n/sub/one/exact\n", "sub/.gitignore": "*.sub\n!keep.top\n"})
    write_tree(
        repository / "sub/one", {"a.top": "", "a.sub": "", "exact": "", "deep/exact": "", "keep.top": "", "b.py": ""}
    )
    project = source(repository / "sub/one")
    assert visible_files(project) == ["b.py", "deep/exact", "keep.top"]
    assert refusal(project, "a.top").rule == Rule("*.top", "../../.gitignore", 1)
    assert refusal(project, "a.sub").rule == Rule("*.sub", "../.gitignore", 1)
    assert refusal(project, "exact").rule == Rule("/sub/one/exact", "../../.gitignore", 2)


def test_an_ignored_or_denied_folder_may_be_named_as_the_root(repository: Path) -> None:
    write_tree(
        repository, {".gitignore": "generated/\n", "generated/a.py": "", "build/b.py": "", "generated/build/c.py": ""}
    )
    assert visible_files(source(repository / "generated")) == ["a.py"]
    assert visible_files(source(repository / "build")) == ["b.py"]


def test_without_respect_for_git_only_its_ignore_rules_are_off(repository: Path) -> None:
    make_repository(repository / "nested")
    write_tree(
        repository,
        {".gitignore": "*.gen\n", ".dowseignore": "*.dowse\n", "a.gen": "", "a.dowse": "", ".git/info/exclude": "a.*"},
    )
    project = source(repository, respect_gitignore=False)
    assert visible_files(project) == [".dowseignore", ".gitignore", "a.gen"]
    assert refusal(project, "nested/").reason is Reason.NESTED_REPOSITORY


def test_an_ignore_file_that_is_a_symlink_or_a_folder_does_not_count(repository: Path, tmp_path: Path) -> None:
    write_tree(tmp_path, {"elsewhere": "*\n"})
    (repository / ".gitignore").symlink_to(tmp_path / "elsewhere")
    write_tree(repository, {"a.py": "", "sub/.gitignore/x": "", "sub/b.py": ""})
    assert visible_files(source(repository)) == ["a.py", "sub/.gitignore/x", "sub/b.py"]


def test_an_ignore_file_that_is_a_pipe_is_not_opened(repository: Path) -> None:
    os.mkfifo(repository / ".gitignore")
    write_tree(repository, {"a.py": ""})
    assert visible_files(source(repository)) == ["a.py"]


def test_a_rule_far_down_a_large_ignore_file_holds(repository: Path) -> None:
    rules = "".join(f"/project/by/a/program/{number}\n" for number in range(20_000))
    write_tree(repository, {".gitignore": f"{rules}secret.txt\n", "secret.txt": "", "a.py": ""})
    assert len(rules) > 256 * 1024
    assert visible_files(source(repository)) == [".gitignore", "a.py"]
    assert refusal(source(repository), "secret.txt").rule == Rule("secret.txt", ".gitignore", 20_001)


@pytest.mark.parametrize("name", [".gitignore", ".dowseignore"])
def test_a_folder_whose_ignore_file_is_too_large_is_left_out_and_why_says_so(repository: Path, name: str) -> None:
    write_tree(repository, {f"sub/{name}": b"#" * (MAX_RULE_BYTES + 1), "sub/deep/a.py": "", "b.py": ""})
    project = source(repository)
    assert visible_files(project) == ["b.py"]
    detail = f"sub/{name} is larger than 1 MB, which is more than dowse reads"
    assert refusal(project, "sub/") == Verdict("sub/", Reason.UNREADABLE, None, detail)
    assert project.verdict("sub/deep/a.py").detail == f"because of its folder sub/: {detail}"


def test_a_project_whose_own_ignore_file_is_too_large_is_an_error(repository: Path) -> None:
    write_tree(repository, {".gitignore": b"*a\n" * 10_001, "a.py": ""})
    with pytest.raises(
        Failed, match=r"\.gitignore has more than 10,000 rules with wildcards, which is more than dowse reads"
    ):
        visible_files(source(repository))
    assert visible_files(source(repository, respect_gitignore=False)) == [".gitignore", "a.py"]


def test_a_git_file_that_points_to_another_machine_is_not_followed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(make_repository(tmp_path / "repository"), "worktree", "add", "-q", str(tree))
    folder = (tree / ".git").read_text(encoding="utf-8").removeprefix("gitdir: ")
    assert find_git_folders(tree) is not None
    write_tree(tree, {".git": f"gitdir: /{folder}"})  # Linux takes the same path with two slashes for one of its own
    assert find_git_folders(tree) is None


@pytest.mark.parametrize("kind", ["file", "file without a space", "link", "worktree", "strange worktree"])
def test_a_git_file_that_leads_to_a_strangers_repository_does_not_show_its_excludes(tmp_path: Path, kind: str) -> None:
    stranger = make_repository(tmp_path / "stranger")
    write_tree(stranger, {".git/info/exclude": "plans-for-*\n"})
    root = write_tree(
        tmp_path / "root", {"plans-for-spring.md": "x", "a.py": "", "own/HEAD": "", "own/gitdir": "../.git"}
    )
    if kind == "link":
        (root / ".git").symlink_to(stranger / ".git")
    elif kind == "worktree":  # it names the root, but not as one of the worktrees of the repository
        write_tree(root, {"own/commondir": str(stranger / ".git"), ".git": "gitdir: own\n"})
    elif kind == "strange worktree":
        git(stranger, "worktree", "add", "-q", str(tmp_path / "tree"))
        write_tree(root, {".git": f"gitdir: {stranger / '.git/worktrees/tree'}\n"})
    else:
        write_tree(root, {".git": f"gitdir:{'' if 'without' in kind else ' '}{stranger / '.git'}\n"})
    assert find_git_folders(root) is None
    assert "plans-for-spring.md" in visible_files(source(root))


def test_the_excludes_of_worktrees_and_submodules_hold_however_git_writes_the_way(with_submodule: Path) -> None:
    git(with_submodule, "commit", "-q", "-m", "with a submodule")
    git(with_submodule, "worktree", "add", "-q", str(with_submodule.parent / "tree"))
    git(with_submodule.parent / "tree", "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init")
    submodule = with_submodule / "libs/library"
    assert _excludes_of(submodule) == with_submodule / ".git/modules/libs/library/info/exclude"
    in_tree = with_submodule / ".git/worktrees/tree/modules/libs/library/info/exclude"
    assert _excludes_of(with_submodule.parent / "tree/libs/library") == in_tree
    git(submodule, "config", "extensions.worktreeConfig", "true")
    path = git(submodule, "config", "core.worktree").decode().strip()
    git(submodule, "config", "--worktree", "core.worktree", path)
    git(
        submodule, "config", "--file", str(_excludes_of(submodule).parent.parent / "config"), "--unset", "core.worktree"
    )
    assert _excludes_of(submodule) == with_submodule / ".git/modules/libs/library/info/exclude"


def _excludes_of(top: Path) -> Path:
    """Return the exclude file of a repository, after asserting that git uses the same."""
    folders = find_git_folders(top)
    assert folders is not None
    folder = folders.common
    expected = git(top, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude").decode().strip()
    assert (folder / "info/exclude").resolve() == Path(expected).resolve()
    return (folder / "info/exclude").resolve()


def test_a_git_file_with_nonsense_has_no_excludes(tmp_path: Path) -> None:
    write_tree(tmp_path, {".git": b"\xff\xfe nonsense"})
    assert find_git_folders(tmp_path) is None
    assert repository_around(tmp_path) is None


def make_nested(folder: Path, kind: str) -> None:
    """Create a folder with a file and a `.git` of some kind."""
    write_tree(folder, {"a.py": ""})
    if kind == "nothing in .git":
        (folder / ".git").mkdir()
    elif kind.startswith("gitdir") or kind == "nonsense":
        write_tree(folder, {".git": kind})
    else:
        make_repository(folder)
        shutil.rmtree(folder / ".git" / kind) if kind in ("refs", "objects") else (folder / ".git" / kind).unlink()


@pytest.mark.parametrize(
    "kind",
    ["nothing in .git", "nonsense", "gitdir: ", "gitdir: ../gone\n", "gitdir:../.git\n", "HEAD", "refs", "objects"],
)
def test_a_folder_with_a_broken_git_is_no_repository_as_in_git(repository: Path, kind: str) -> None:
    make_nested(repository / "nested", kind)
    assert git(repository, "ls-files", "--others", "--exclude-standard") == b"nested/a.py\n"
    assert visible_files(source(repository)) == ["nested/a.py"]


def test_a_folder_whose_git_leads_to_a_repository_is_one_as_in_git(repository: Path) -> None:
    make_repository(repository / "real")
    write_tree(repository, {"file/.git": "gitdir: ../real/.git\n", "file/a.py": "", "link/a.py": ""})
    (repository / "link/.git").symlink_to("../real/.git")
    assert git(repository, "ls-files", "--others", "--exclude-standard").split() == [b"file/", b"link/", b"real/"]
    assert visible_files(source(repository)) == []


def test_rules_of_the_repository_around_hold_in_a_root_with_a_broken_git(repository: Path) -> None:
    write_tree(repository, {".gitignore": "*.gen\n", "sub/a.gen": "", "sub/a.py": ""})
    (repository / "sub/.git").mkdir()
    assert visible_files(source(repository / "sub")) == ["a.py"]


def test_rules_are_read_anew_by_each_walk(repository: Path) -> None:
    project = source(repository)
    write_tree(repository, {"a.gen": ""})
    assert visible_files(project) == ["a.gen"]
    write_tree(repository, {".gitignore": "*.gen\n"})
    assert visible_files(project) == [".gitignore"]


def test_gitmodules_names_the_paths_of_submodules() -> None:
    for text, paths in (
        ('[submodule "x"]\n\tpath = libs/x\n\turl = ../x\n', {"libs/x"}),
        ('[submodule "a"]\npath=a\n[submodule "b"]\npath = b/\n', {"a", "b"}),
        ('[Submodule "x"] PATH = "with space" ; note\n', {"with space"}),
        ('[submodule "x"]\n path = a\\\nb\n', {"ab"}),
        ('[submodule "x"]\n path = "q\\"uote" # note\n', {'q"uote'}),
        ('[core]\n path = no\n[submodule "x"]\n url = path\n', set()),
        ('[submodule "x"]\r\n\tpath = crlf\r\n', {"crlf"}),
        ("nonsense = [ = \n[[[\n path\n", set()),
        ("", set()),
    ):
        assert submodule_paths(text) == paths


def test_the_users_excludes_are_where_their_configuration_says(tmp_path: Path) -> None:
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("[core]\n\texcludesFile = ~/my ignores\n", encoding="utf-8")
    assert global_excludes_file() == Path.home() / "my ignores"


def test_without_a_word_from_git_they_are_in_the_usual_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert global_excludes_file() == Path(os.environ["XDG_CONFIG_HOME"]) / "git" / "ignore"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert global_excludes_file() == Path.home() / ".config" / "git" / "ignore"


def test_without_git_they_are_in_the_usual_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert global_excludes_file() == Path(os.environ["XDG_CONFIG_HOME"]) / "git" / "ignore"


def test_a_repository_cannot_point_us_at_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(make_repository(tmp_path), "config", "core.excludesFile", "/etc/passwd")
    monkeypatch.chdir(tmp_path)
    assert global_excludes_file() == Path(os.environ["XDG_CONFIG_HOME"]) / "git" / "ignore"
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    assert global_excludes_file() == Path(os.environ["XDG_CONFIG_HOME"]) / "git" / "ignore"


def test_no_file_makes_the_search_for_submodules_slow() -> None:
    """A value of a megabyte took half a minute."""
    for value in ("a" * 300_000, "\\n" * 150_000, '"' * 300_001, '"' + "#" * 300_000, "\\" * 300_000):
        submodule_paths(f"[submodule]\npath = {value}")
    for text in ('[submodule "' * 25_000, "[" * 300_000, "[a" + " " * 300_000, "\\\n" * 150_000):
        submodule_paths(text)
