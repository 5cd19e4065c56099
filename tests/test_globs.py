"""Globs match as people expect, and no pattern makes matching slow."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import UsageError
from dowse.globs import compile_glob, compile_path_filter, to_path_glob
from tests.examples import examples

CASES = [
    ("*.py", "a.py", True), ("*.py", "src/a.py", False), ("**/*.py", "a.py", True),
    ("**/*.py", "src/deep/a.py", True), ("src/**", "src/a", True), ("src/**", "src", False),
    ("src/**/test_*.py", "src/test_a.py", True), ("src/**/test_*.py", "src/x/y/test_a.py", True),
    ("a/**/b/**/c", "a/b/c", True), ("a/**/b/**/c", "a/x/b/b/y/c", True), ("a/**/b/**/c", "a/x/c", False),
    ("?.md", "é.md", True), ("?.md", "ab.md", False), ("[ab].py", "b.py", True), ("[!ab].py", "b.py", False),
    ("[!ab].py", "c.py", True), ("[a-c]/x", "b/x", True), ("a[!x]b", "a/b", False), ("*.{ts,tsx}", "a.tsx", True),
    ("{src,lib}/**/*.{c,h}", "lib/x/a.h", True), ("{a,b{c,d}}.x", "bd.x", True), ("**/.*", "x/.hidden", True),
    ("*", ".hidden", True), ("README.MD", "README.md", False), ("a**b", "axyb", True), ("a**b", "a/b", False),
    (r"\*.py", "*.py", True), (r"\*.py", "a.py", False), ("**", "a/b/c", True), ("**/", "a", False),
    ("{a}", "{a}", True), ("{a,,,,,}/**/b", "a/x/b", True), ("a+b(c).py", "a+b(c).py", True),
]  # fmt: skip


def test_a_glob_matches_whole_paths() -> None:
    for pattern, path, expected in CASES:
        assert bool(compile_glob(pattern).fullmatch(path)) is expected


def test_a_malformed_or_explosive_pattern_is_refused() -> None:
    for pattern in ("", "[", "a[b", "{a,b", "x" * 1001, "{a,b}" * 9, "a\0b", "[z-a]", "{a,b}" * 8 + "**/" * 300):
        with pytest.raises(UsageError, match="is invalid"):
            compile_glob(pattern)


def test_wildcards_that_would_explode_are_matched_in_bounded_time() -> None:
    assert not compile_glob("*a" * 400 + "b").fullmatch("a" * 250)
    assert not compile_glob("**/a/" * 150 + "b").fullmatch("a/" * 250)
    assert not compile_glob("**/*a*a*a*a*a*a*a*b/**/c").fullmatch("/".join(["a" * 30] * 20))


def test_in_settings_a_pattern_without_a_slash_means_the_name_anywhere() -> None:
    for pattern, path, expected in (("*.gen.py", "a/b/x.gen.py", True), ("generated", "a/generated", True), ("generated/", "generated", True),
    ("src/*.py", "src/a.py", True), ("src/*.py", "x/src/a.py", False), ("/top.py", "top.py", True)):  # fmt: skip
        assert bool(compile_glob(to_path_glob(pattern)).fullmatch(path)) is expected


def by_definition(pattern: str, path: str) -> bool:
    """Match a pattern in the slow and obvious way."""

    @cache
    def inside(glob: str, name: str) -> bool:
        if not glob:
            return not name
        if glob[0] == "*":
            return inside(glob[1:], name) or (bool(name) and inside(glob, name[1:]))
        return bool(name) and glob[0] in ("?", name[0]) and inside(glob[1:], name[1:])

    @cache
    def across(globs: tuple[str, ...], names: tuple[str, ...]) -> bool:
        if not globs:
            return not names
        if globs[0] == "**":
            if len(globs) == 1:
                return bool(names)
            return across(globs[1:], names) or (bool(names) and across(globs, names[1:]))
        return bool(names) and inside(globs[0], names[0]) and across(globs[1:], names[1:])

    return across(tuple(pattern.split("/")), tuple(path.split("/")))


PART = st.text(alphabet="ab*?", min_size=1, max_size=5)
PATTERN = st.lists(st.one_of(st.just("**"), PART), min_size=1, max_size=5).map("/".join)
PATH = st.lists(st.text(alphabet="ab", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join)


@given(PATTERN, PATH)
@examples(300, many=10000)
def test_a_glob_agrees_with_its_definition(pattern: str, path: str) -> None:
    assert bool(compile_glob(pattern).fullmatch(path)) == by_definition(pattern, path)


def test_a_path_means_a_file_or_everything_below_a_folder() -> None:
    for path, found in (
        ("src", ["src/a.py", "lib/src/b.md"]), ("src/", ["src/a.py", "lib/src/b.md"]), ("/src", ["src/a.py"]),
        ("./src", ["src/a.py", "lib/src/b.md"]), ("src/a.py", ["src/a.py"]), ("a.py", ["src/a.py"]), ("lib/src", ["lib/src/b.md"]),
        ("*.md", ["lib/src/b.md", "c.md"]), ("src/*", ["src/a.py"]), ("**/src/*", ["src/a.py", "lib/src/b.md"]), ("sr", []),
        (".", ["src/a.py", "lib/src/b.md", "c.md", "srcs.py"]),
    ):  # fmt: skip
        expression = compile_path_filter(path)
        assert [one for one in ("src/a.py", "lib/src/b.md", "c.md", "srcs.py") if expression.fullmatch(one)] == found
