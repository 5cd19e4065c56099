"""The rules of one ignore file, by git's manual and its code."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dowse.errors import TooManyRules
from dowse.settings import Settings
from dowse.sources.gitignore import MAX_PATTERN_BYTES, MAX_RULES, MAX_WILD_RULES, IgnoreRule, parse_ignore_file
from dowse.sources.path_decision import decide_normalized_path
from dowse.sources.policy import Policy
from dowse.types import Reason, Verdict
from tests.examples import examples
from tests.repository import EVAL
from tests.sources.repositories import git, make_repository

CASES_FILE = EVAL / "gitignore" / "cases.json"

CASES = [
    # rules, path (a folder's ends in a slash), ignored
    ("*.log", "a/b.log", True),
    ("/*.log", "a/b.log", False),
    ("a/*.log", "a/b.log", True),
    ("a/*.log", "x/a/b.log", False),
    ("*.d\n!x.d/", "x.d/", False),
    ("*.d\n!x.d/", "x.d", True),
    ("*.d\n!x.d/", "x.d/file", False),
    ("out/\n!out/keep", "out/keep", True),
    ("out/*\n!out/keep", "out/keep", False),
    ("a/**/b", "a/b", True),
    ("a/**/b", "a/x/y/b", True),
    ("a/**", "a/", False),
    ("a/**", "a/x", True),
    ("**/a", "x/y/a", True),
    ("**", "x", True),
    ("a**b", "axb", True),
    ("/a**b", "ax/yb", False),
    ("/a**/b", "ax/y/b", True),  # git's quirk: only literal characters before the stars
    ("/*a**/b", "xa/y/b", False),
    ("a/**\\/b", "a/b", False),
    ("a/**\\/b", "a/x/b", True),
    ("?", "a", True),
    ("?", "é", False),
    ("??", "é", True),
    ("a?b", "a/b", False),
    ("[a-c]x", "bx", True),
    ("[!a-c]x", "bx", False),
    ("[^a-c]x", "dx", True),
    ("[[:alpha:]]1", "x1", True),
    ("[[:alpha:]]1", "91", False),
    ("[![:digit:]]", "x", True),
    ("[[:nonsense:]]", "n", False),
    ("[[:", "[", False),
    ("[]a]", "]", True),
    ("[!]a]", "b", True),
    ("[a-]", "-", True),
    ("[z-a]", "z", True),
    ("[\\]]", "]", True),
    ("[\\a-c]", "b", True),
    ("[a/b]c", "ac", True),
    ("a[/]b", "a/b", False),
    ("a[!x]b", "a/b", False),
    ("[a", "[a", False),
    ("a\\", "a\\", False),
    ("\\*", "*", True),
    ("\\*", "a", False),
    ("\\a", "a", True),
    ("#a", "#a", False),
    ("\\#a", "#a", True),
    ("\\!a", "!a", True),
    ("!a\na", "a", True),
    ("a\n!a", "a", False),
    ("a  ", "a", True),
    ("a\\ ", "a ", True),
    ("a\\  ", "a ", True),
    ("a\\\\ ", "a\\", True),
    ("a\t", "a", False),
    ("a\r\nb\r\n", "a", True),
    ("a\r", "a", True),
    ("\ufeffa", "a", True),
    ("a\n\ufeffb", "b", False),
    ("a/", "a", False),
    ("a/", "a/", True),
    ("a/", "a/b", True),
    ("/", "a/", False),
    ("//a", "a", False),
    ("!", "a", False),
    ("", "a", False),
    ("a\0b", "a", True),
    ("Readme", "README", False),
    ("x\ny", "x\ny", False),
    ("*", "line\nbreak", True),
]


def ignored_by(rules: str, path: str, *, folds_case: bool = False) -> IgnoreRule | None:
    """Return the rule that ignores a path or a folder above it, level by level."""
    understood = parse_ignore_file(rules.encode(), folds_case=folds_case)
    parts = path.removesuffix("/").split("/")
    for depth in range(1, len(parts) + 1):
        is_folder = depth < len(parts) or path.endswith("/")
        rule = understood.deciding_rule(
            "/".join(parts[:depth]).encode(), parts[depth - 1].encode(), is_folder=is_folder
        )
        if rule and not rule.is_negated:
            return rule
    return None


def test_a_rule_ignores_what_git_ignores() -> None:
    for rules, path, is_ignored in CASES:
        assert (ignored_by(rules, path) is not None) == is_ignored


@pytest.mark.skipif(not CASES_FILE.is_file(), reason=f"needs {CASES_FILE}; set DOWSE_EVAL to the folder with the data")
def test_all_collected_cases_pass() -> None:
    cases = json.loads(CASES_FILE.read_text(encoding="utf-8"))
    wrong = [case["id"] for case in cases if is_ignored_in(case) != case["ignored"]]
    assert (len(cases), wrong) == (67, [])


def is_ignored_in(case: dict[str, str]) -> bool:
    root, path = (os.path.normpath(case[key]) for key in ("root", "path"))
    relative = os.path.relpath(path, root) if path.startswith(f"{root}/") else path
    return ignored_by(case["gitignore"], relative + ("/" if case["is_dir"] else "")) is not None


def test_the_deciding_rule_knows_its_text_and_line() -> None:
    rule = ignored_by("# comment\n\n*.a\n*.b  \n*.c\n", "x.b")
    assert rule is not None
    assert (rule.text, rule.line) == ("*.b", 4)


def test_the_last_of_several_rules_decides_whether_it_has_a_slash_or_not() -> None:
    rule = ignored_by("x.b\n/x.b\n*.b\nother\n", "x.b")
    assert rule is not None
    assert rule.line == 3


def test_letter_case_counts_only_where_the_file_system_minds_it() -> None:
    assert ignored_by("*.HTML", "page.html") is None
    assert ignored_by("*.HTML", "page.html", folds_case=True)
    assert ignored_by("[!A]x", "ax", folds_case=True) is None


def test_no_pattern_makes_matching_explode() -> None:
    for pattern in (
        "*a" * 200 + "b",
        "**/a/" * 100 + "b",
        "/" + "**/*a*a*a/" * 50 + "b",
        "[ab]*" * 200 + "c",
        "?*" * 200 + "c",
    ):
        assert ignored_by(pattern, "/".join(["a" * 50] * 40)) is None


def test_too_many_rules_are_refused_and_none_is_dropped() -> None:
    for data, message in (
        (b"x\n" * (MAX_RULES + 1), "more than 100,000 rules"),
        (b"*x\n" * (MAX_WILD_RULES + 1), "more than 10,000 rules with wildcards"),
        ((b"*" + b"x" * 4000 + b"\n") * 70, "more than 256 KB of rules with wildcards"),
        (b"*" + b"x" * MAX_PATTERN_BYTES, "a rule with wildcards of more than 4 KB"),
    ):
        with pytest.raises(TooManyRules, match=message):
            parse_ignore_file(data)


def test_a_long_list_of_plain_rules_is_honoured_to_its_end() -> None:
    rules = "".join(f"some/path/file{number}.txt\n" for number in range(30_000)) + "!some/path/file7.txt\n/last\n"
    assert ignored_by(rules, "last")
    assert ignored_by(rules, "some/path/file29999.txt")
    assert ignored_by(rules, "some/path/file7.txt") is None


def test_a_long_way_to_what_is_taken_back_is_not_slow() -> None:
    """One line of 4 KB took 9 s when all levels were one expression."""
    rules = parse_ignore_file(b"".join(b"!" + b"a/" * 2000 + b"%d\n" % number for number in range(50)))
    assert rules.reaches_below(b"a/a/a")
    assert not rules.reaches_below(b"a/b")


def test_a_negation_with_a_slash_tells_which_folders_lie_on_its_way() -> None:
    rules = parse_ignore_file(b"!gen/api/x.py\n!any/**/y\n!t*/z\n!**/w\n!v\nplain/rule\n")
    folders = ("gen", "gen/api", "gen/api/x", "gen/other", "any/a/b", "top", "plain", "v")
    reached = [folder for folder in folders if rules.reaches_below(folder.encode())]
    assert reached == ["gen", "gen/api", "any/a/b"]


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
