"""The decision about a single path is that of the walk, for any tree."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dowse.sources import ProjectFiles
from dowse.types import Entry, Reason, Rule, Verdict
from tests.examples import examples
from tests.sample_data import write_tree
from tests.sources.repositories import decisions, source

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


def test_the_verdict_names_the_folder_that_decided(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "\n/gen/\n", "gen/a/b.py": ""})
    verdict = source(tmp_path).verdict("gen/a/b.py")
    assert verdict == Verdict(
        "gen/a/b.py", Reason.GITIGNORED, Rule("/gen/", ".gitignore", 2), "because of its folder gen/"
    )


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
