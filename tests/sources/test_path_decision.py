"""The decision about a single path is that of the walk, for any tree."""

import errno
import os
import shutil
import socket
import unicodedata
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dowse.errors import Failed
from dowse.sources import ProjectFiles
from dowse.sources.open_folders import OpenFolders
from dowse.types import Entry, Reason, Rule, Verdict
from tests.examples import examples
from tests.sample_data import write_tree
from tests.sources.repositories import can_make, decisions, refusal, source, visible_files

NAMES = [
    "a", "b.py", "c.md", "d.png", ".env", "build", "node_modules", "x.log", "gen", "é", "sub", "api.py", ".git",
    ".vscode",
]  # fmt: skip
CONTENTS = st.sampled_from([b"", b"text", b"nul\0byte", b"\xff\xfet\0", b"x" * 300])
RULES = [
    "*.py", "gen", "gen/", "!gen/api.py", "!gen/sub/", "!*.md", "sub/*", "!sub/a", "/a", "!build/", "**/c.md",
    "!.env", "*",
]  # fmt: skip
ignore_files = st.lists(st.sampled_from(RULES), max_size=4).map(lambda rules: "\n".join(rules).encode())
leaves = st.one_of(CONTENTS, st.just("symlink"), st.just("pipe"))
trees = st.recursive(
    st.dictionaries(st.sampled_from(NAMES), leaves, max_size=5),
    lambda below: st.dictionaries(st.sampled_from(NAMES), leaves | below, max_size=5),
    max_leaves=16,
)
Tree = dict[str, "bytes | str | Tree"]


def plant(folder: Path, tree: Tree) -> None:
    for name, content in tree.items():
        path = folder / name
        if isinstance(content, dict):
            path.mkdir()
            plant(path, content)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        elif content == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("..")


@examples(30, many=1500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tree=trees,
    git_rules=ignore_files,
    own_rules=ignore_files,
    deep_rules=ignore_files,
    exclude=st.sampled_from([(), ("sub/**",), ("a",), ("*.md", "gen/a/")]),
    index_docs=st.booleans(),
)
def test_every_path_gets_the_decision_of_the_walk(
    tmp_path: Path,
    tree: Tree,
    git_rules: bytes,
    own_rules: bytes,
    deep_rules: bytes,
    exclude: tuple[str, ...],
    index_docs: bool,
) -> None:
    root = tmp_path / "root"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    plant(root, tree)
    write_tree(root, {".gitignore": git_rules, ".dowseignore": own_rules})
    for folder in ("gen", "sub"):
        if isinstance(tree.get(folder), dict):
            write_tree(root / folder, {".gitignore": deep_rules})
    project = source(root, exclude=exclude, index_docs=index_docs, max_file_bytes=256)
    walked = decisions(project)
    for path in every_path(root):
        verdict = project.verdict(path)
        rule = (
            None if verdict.is_allowed else verdict.rule
        )  # the rule of an allowed path is the one that re-includes it
        assert (verdict.reason, rule) == decision_of_walk(project, walked, path), path


def every_path(root: Path) -> list[str]:
    found = []
    for folder, folders, files in os.walk(root):
        found += [os.path.relpath(os.path.join(folder, name), root) for name in folders + files]
    return found


def decision_of_walk(
    project: ProjectFiles, walked: dict[str, Entry | Verdict], path: str
) -> tuple[Reason | None, Rule | None]:
    """Return the result of walking and reading a path, or that of a folder above it that was left out."""
    parts = path.split("/")
    names = [path, f"{path}/", *("/".join(parts[:depth]) + end for depth in range(1, len(parts)) for end in ("", "/"))]
    item = next((walked[name] for name in names if name in walked), None)
    if isinstance(item, Entry):
        answer = project.read(item)
        item = answer if isinstance(answer, Verdict) else None
    return (item.reason, item.rule) if item else (None, None)  # the walk yields no item for an entered folder


def test_a_path_below_a_symlink_is_refused_as_that(tmp_path: Path) -> None:
    write_tree(tmp_path, {"outside/secret.txt": "", "root/a.py": ""})
    (tmp_path / "root" / "link").symlink_to("../outside")
    verdict = source(tmp_path / "root").verdict("link/secret.txt")
    assert (verdict.reason, verdict.detail) == (
        Reason.SYMLINK,
        "because of its folder link/: symbolic links are not followed",
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [("gen/new.py", Reason.GITIGNORED), ("deep/new.log", Reason.DENIED), ("new.md", Reason.VANISHED)],
)
def test_a_rule_speaks_even_of_what_does_not_exist(tmp_path: Path, path: str, reason: Reason) -> None:
    write_tree(tmp_path, {".gitignore": "gen/\n"})
    assert source(tmp_path).verdict(path).reason is reason


def test_a_folder_is_asked_for_with_or_without_its_slash(tmp_path: Path) -> None:
    write_tree(tmp_path, {"src/a.py": "", "build/b.py": ""})
    project = source(tmp_path)
    assert {project.verdict(path).path for path in ("src", "src/")} == {"src/"}
    assert {project.verdict(path).reason for path in ("build", "build/")} == {Reason.DENIED}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path, {"secret.txt": "", "rootbeer/a.py": ""})
    return write_tree(
        tmp_path / "root", {"src/main.py": "", ".env": "", "src/größe.py": "", "my file.md": "", "sub/.env": ""}
    )


@pytest.mark.parametrize(
    "spelling",
    [
        "src/main.py", "./src/main.py", "src//main.py", "src/./main.py", "src/../src/main.py", "../root/src/main.py",
        "src\\main.py", "src/%6dain.py", "src%2Fmain.py", "src%5Cmain.py", "s\u200brc/main.py", "src/main.py/",
        "src%252fmain.py",
    ],
)  # fmt: skip
def test_other_spellings_of_a_file_mean_the_file(root: Path, spelling: str) -> None:
    verdict = source(root).verdict(spelling)
    assert (verdict.path, verdict.reason) == ("src/main.py", None)


@pytest.mark.parametrize("spelling", ["my file.md", "my%20file.md"])
def test_a_space_may_be_encoded(root: Path, spelling: str) -> None:
    assert source(root).verdict(spelling).path == "my file.md"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_names_mean_the_same_file(root: Path, form: Literal["NFC", "NFD"]) -> None:
    spelling = "src/" + unicodedata.normalize(form, "größe.py")
    assert source(root).verdict(spelling).is_allowed


def test_an_absolute_path_below_the_root_is_taken_from_there(root: Path) -> None:
    assert source(root).verdict(str(root / "src" / "main.py")).path == "src/main.py"


def test_an_absolute_path_may_name_the_root_through_a_symlink(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("root")
    for named in (root, tmp_path / "link"):
        verdict = source(named).verdict(str(tmp_path / "link" / "src" / "main.py"))
        assert (verdict.path, verdict.reason) == ("src/main.py", None)


@pytest.mark.parametrize(
    "spelling",
    [
        "../secret.txt", "src/../../secret.txt", "..", "/", "/etc/passwd", "//etc/passwd", "..\\secret.txt",
        "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt", "..%5csecret.txt", "%252e%252e%252fsecret.txt",
        ".\u200b./secret.txt", "\\\\server\\share", "%2Fetc%2Fpasswd", "../rootbeer/a.py",
        "src/%2e%2e/%2e%2e/secret.txt",
    ],
)  # fmt: skip
def test_no_spelling_leads_outside(root: Path, spelling: str) -> None:
    assert source(root).verdict(spelling).reason is Reason.OUTSIDE


def test_an_absolute_path_outside_is_outside_even_when_its_name_begins_alike(root: Path, tmp_path: Path) -> None:
    assert source(root).verdict(str(tmp_path / "rootbeer" / "a.py")).reason is Reason.OUTSIDE


@pytest.mark.parametrize(
    "spelling",
    [
        ".env", "./.env", "src/../.env", "sub/.env", ".ENV", "%2eenv", "%2Eenv", ".e\u200bnv", "sub\\.env",
        "sub%2f.env", ".env/", "\u202e.env", "nowhere/.env", ".env/nothing", "%252eenv", ".git/config", "a/.ssh/x",
        "src/.e%E2%80%8Bnv", "sub\\id_rsa",
    ],
)  # fmt: skip
def test_no_spelling_reaches_what_is_denied(root: Path, spelling: str) -> None:
    assert source(root).verdict(spelling).reason is Reason.DENIED


def test_an_absolute_spelling_does_not_reach_what_is_denied(root: Path) -> None:
    assert source(root).verdict(str(root / ".env")).reason is Reason.DENIED


@pytest.mark.parametrize(
    "spelling", ["a\0b", "src/main.py\0.txt", "x" * 5000, "a/" * 3000 + "b", "src/main.py/below", "gone.py", "gone/"]
)
def test_what_does_not_exist_has_vanished(root: Path, spelling: str) -> None:
    assert source(root).verdict(spelling).reason in (Reason.VANISHED, Reason.TOO_DEEP)


@pytest.mark.parametrize("spelling", ["", ".", "./", "src/.."])
def test_the_root_itself_is_a_folder_that_nothing_speaks_against(root: Path, spelling: str) -> None:
    verdict = source(root).verdict(spelling)
    assert (verdict.path, verdict.reason, verdict.detail) == ("", None, "a folder")


@pytest.mark.parametrize("name", ["%2e%2e", "a\\b", "%2e%2e%2fx", "..\\..\\x", "e\u0301", "z\u200bw", "100%25"])
def test_a_file_that_exists_as_written_is_that_file(root: Path, name: str) -> None:
    if not can_make(root, name):
        pytest.skip("this file system does not take the name")
    verdict = source(root).verdict(name)
    assert (verdict.path, verdict.reason) == (name, None)


def test_files_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    names = ["a.py", "a/b.py", "a/b/c.py", "a-b.py", "B.py", "aa.py", "é.py", "z/1", "z.1", "build/x", "a!/y"]
    write_tree(tmp_path, dict.fromkeys(names, ""))
    paths = [item.path for item in source(tmp_path).entries()]
    assert paths == sorted(paths)
    assert len(paths) == len(names)


def test_symlinks_to_files_folders_and_nowhere_are_left_out(tmp_path: Path) -> None:
    write_tree(tmp_path, {"root/real/a.py": "", "outside/secret.txt": ""})
    for name, target in {
        "file": "real/a.py",
        "folder": "real",
        "out": "../outside",
        "nowhere": "gone",
        "loop": "loop",
    }.items():
        (tmp_path / "root" / name).symlink_to(target)
    project = source(tmp_path / "root")
    assert visible_files(project) == ["real/a.py"]
    assert {refusal(project, name).reason for name in ("file", "folder", "out", "nowhere", "loop")} == {Reason.SYMLINK}


def test_the_root_may_be_reached_through_a_symlink(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real/a.py": ""})
    (tmp_path / "link").symlink_to("real")
    assert visible_files(source(tmp_path / "link")) == ["a.py"]


def test_pipes_and_sockets_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    os.mkfifo("pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert {refusal(source(tmp_path), name).reason for name in ("pipe.py", "socket.py")} == {Reason.SPECIAL}


def test_devices_are_left_out(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "zero.py", 0o666 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("making a device needs more rights")
    assert refusal(source(tmp_path), "zero.py").reason is Reason.SPECIAL


def test_a_name_that_is_not_utf8_is_left_out_and_can_be_printed(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"bad\xff.py")).touch()
        (tmp_path / os.fsdecode(b"folder\xff")).mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    items = decisions(source(tmp_path))
    assert {path: item.reason for path, item in items.items() if isinstance(item, Verdict)} == {
        "bad\\udcff.py": Reason.BAD_NAME,
        "folder\\udcff/": Reason.BAD_NAME,
    }


def test_a_folder_that_cannot_be_read_is_said_and_the_walk_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"a.py": "", "locked/b.py": "", "z.py": ""})
    refuse_to_open(monkeypatch, "locked", errno.EACCES)
    project = source(tmp_path)
    assert visible_files(project) == ["a.py", "z.py"]
    verdict = refusal(project, "locked/")
    assert (verdict.reason, verdict.detail) == (Reason.UNREADABLE, "Permission denied")
    assert project.verdict("locked/b.py").reason is Reason.UNREADABLE


def test_a_folder_that_vanishes_during_the_walk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"gone/b.py": "", "z.py": ""})
    refuse_to_open(monkeypatch, "gone", errno.ENOENT)
    assert refusal(source(tmp_path), "gone/").reason is Reason.VANISHED


def refuse_to_open(monkeypatch: pytest.MonkeyPatch, refused_name: str, number: int) -> None:
    """Make the system refuse one folder; tests may run as a user with access to everything."""
    enter = OpenFolders.enter

    def refusing(self: OpenFolders, name: str) -> None:
        if name == refused_name:
            raise OSError(number, os.strerror(number))
        enter(self, name)

    monkeypatch.setattr(OpenFolders, "enter", refusing)


def test_a_root_that_is_gone_is_no_empty_project(tmp_path: Path) -> None:
    write_tree(tmp_path, {"root/a.py": ""})
    project = source(tmp_path / "root")
    (item,) = project.entries()
    assert isinstance(item, Entry)
    (tmp_path / "root").rename(tmp_path / "away")
    for ask in (
        lambda: list(project.entries()),
        lambda: project.entry("a.py"),
        lambda: project.verdict("a.py"),
        lambda: project.read(item),
    ):
        with pytest.raises(Failed, match=r"root cannot be read \(No such file or directory\)"):
            ask()


def test_a_root_that_cannot_be_listed_is_no_empty_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"a.py": ""})

    def refusing(*args: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("dowse.sources.open_folders.os.scandir", refusing)
    with pytest.raises(Failed, match=r"cannot be read \(Input/output error\)"):
        list(source(tmp_path).entries())


def test_a_file_in_a_folder_that_may_not_be_opened_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"locked/deep/b.py": ""})
    system_open = os.open

    def refusing(path: str, *args: int, **more: int) -> int:
        if os.fspath(path) == "locked":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return system_open(path, *args, **more)

    monkeypatch.setattr("os.open", refusing)
    monkeypatch.setattr("os.supports_dir_fd", {*os.supports_dir_fd, refusing})
    project = source(tmp_path)
    for path in ("locked/deep/b.py", "locked/none", "locked"):
        assert project.verdict(path).reason is Reason.UNREADABLE
        answer = project.entry(path)
        assert isinstance(answer, Verdict)
        assert answer.reason is Reason.UNREADABLE


def test_a_walk_that_is_given_up_leaves_nothing_open(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{name}/deep/x.py": "" for name in "abc"})
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(20):
        next(source(tmp_path).entries())
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    assert after <= before + 1


def test_one_folder_can_be_walked_alone(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {".gitignore": "*.gen\n", "src/a.py": "", "src/b.gen": "", "src/deep/c.py": "", "other/d.py": ""}
    )
    items = [(item.path, type(item)) for item in source(tmp_path).entries("src")]
    assert items == [("src/a.py", Entry), ("src/b.gen", Verdict), ("src/deep/c.py", Entry)]


def test_a_folder_that_is_left_out_cannot_be_walked_alone_either(tmp_path: Path) -> None:
    write_tree(tmp_path, {"node_modules/x/a.js": ""})
    assert [item.reason for item in source(tmp_path).entries("node_modules/x") if isinstance(item, Verdict)] == [
        Reason.DENIED
    ]
