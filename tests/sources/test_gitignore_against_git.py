"""For generated trees and ignore files, the decision about every path and its rule are the same as git's."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dowse.settings import Settings
from dowse.sources.path_decision import decide_normalized_path
from dowse.sources.policy import Policy
from dowse.types import Reason, Verdict
from tests.examples import examples
from tests.sources.repositories import git, make_repository

Tree = dict[str, "Tree | None"]

NAMES = [
    "a", "b", "ab", "a.b", "x.d", "foo.c", "#x", "!y", "a b", "a ", "[", "a]", "a-b", "é", "A", "\\", "a\\", "*",
    "**",
]  # fmt: skip
PIECES = [
    *("*", "**", "***", "?", "/", "/", ".", "-", "^", "]", "!", "#", " ", "\\ ", "\t", "\r", "\\", "\\*", "\\/", "é"),
    *(
        "[a-c]", "[!a]", "[^b]", "[[:alpha:]]", "[[:punct:]]", "[[:foo:]]", "[]a]", "[!]]", "[a", "[a-", "[\\]]",
        "[z-a]",
    ),
    *("[\\a-c]", "[[:]", "[--/]", "[a/b]", "[!a/b]", "[é]"),
]  # fmt: skip

trees = st.recursive(
    st.dictionaries(st.sampled_from(NAMES), st.none(), min_size=1, max_size=4),
    lambda below: st.dictionaries(st.sampled_from(NAMES), st.none() | below, min_size=1, max_size=4),
    max_leaves=12,
)
paths_of_names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
wild = st.lists(st.sampled_from(PIECES) | st.sampled_from(NAMES), min_size=1, max_size=5).map("".join)
patterns = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "", "", "!", "/", "!/"]),
    paths_of_names | wild | st.builds("{}{}".format, paths_of_names, wild),
    st.sampled_from(["", "", "", "/", " ", "\\ ", "\r"]),
)
ignore_files = st.lists(patterns, min_size=1, max_size=6).map("\n".join)


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    return Policy(make_repository(tmp_path), Settings())


def plant(folder: Path, tree: Tree) -> Iterator[Path]:
    for name, below in tree.items():
        yield folder / name
        if below is None:
            (folder / name).touch()
        else:
            (folder / name).mkdir()
            yield from plant(folder / name, below)


def clear(folder: Path) -> None:
    for item in folder.iterdir():
        if item.name != ".git":
            shutil.rmtree(item) if item.is_dir() else item.unlink()


@examples(50, many=3000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tree=trees, ignores=st.lists(st.tuples(st.integers(0, 99), ignore_files), min_size=1, max_size=3), exclude=patterns
)
def test_every_path_is_ignored_by_the_rule_that_git_names(
    policy: Policy, tree: Tree, ignores: list[tuple[int, str]], exclude: str
) -> None:
    repository = policy.root
    clear(repository)
    planted = list(plant(repository, tree))
    folders = [repository, *(path for path in planted if path.is_dir())]
    for chosen, content in ignores:
        (folders[chosen % len(folders)] / ".gitignore").write_bytes(content.encode())
    (repository / ".git" / "info" / "exclude").write_bytes(exclude.encode())
    paths = [path.relative_to(repository).as_posix() for path in planted]
    assert {path: our_decision(policy, path) for path in paths} == git_decisions(repository, paths)


def git_decisions(repository: Path, paths: list[str]) -> dict[str, tuple[str, str, str] | None]:
    """Return the origin, line and pattern of the rule that ignores each path."""
    answer = git(repository, "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n", stdin="\0".join(paths).encode())
    fields = answer.decode().split("\0")[:-1]
    rows = zip(*(fields[column::4] for column in range(4)), strict=True)
    return {
        path: None if pattern.startswith("!") or not origin else (origin, line, pattern)
        for origin, line, pattern, path in rows
    }


def our_decision(policy: Policy, path: str) -> tuple[str, str, str] | None:
    answer = decide_normalized_path(policy, path)
    if not isinstance(answer, Verdict) or answer.reason is not Reason.GITIGNORED:
        return None
    assert answer.rule is not None
    return answer.rule.origin, str(answer.rule.line), answer.rule.pattern
