"""The order of the policy's checks, and the rules that its verdicts name."""

from pathlib import Path

import pytest

from dowse.sources.policy import MAX_DEPTH, binary_suffix, find_nul_byte
from dowse.types import Entry, Reason, Rule
from tests.sample_data import write_tree
from tests.sources.repositories import decisions, refusal, source, visible_files


def test_a_denied_file_is_denied_whatever_else_speaks_against_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "*\n", ".env": b"\0" * 2_000_000})
    verdict = refusal(source(tmp_path, exclude=("**",), include=("*.py",)), ".env")
    assert (verdict.reason, verdict.rule) == (Reason.DENIED, Rule(".env", "built-in deny list (secrets)"))


def test_the_users_exclude_comes_before_the_ignore_files(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "*.py\n", ".dowseignore": "*.py\n", "a.py": ""})
    verdict = refusal(source(tmp_path, exclude=("docs", "*.py")), "a.py")
    assert (verdict.reason, verdict.rule) == (Reason.EXCLUDED, Rule("*.py", "config.json (exclude)"))


def test_ignore_files_come_before_symlinks(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "ignored\n"})
    (tmp_path / "ignored").symlink_to("/etc")
    (tmp_path / "other").symlink_to("/etc")
    reasons = [refusal(source(tmp_path), path).reason for path in ("ignored", "other")]
    assert reasons == [Reason.GITIGNORED, Reason.SYMLINK]


def test_binary_comes_before_size_and_size_before_include(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.png": b"x" * 2000, "b.txt": b"x" * 2000, "c.txt": b"x"})
    project = source(tmp_path, include=("*.py",), max_file_bytes=1024)
    reasons = [refusal(project, path).reason for path in ("a.png", "b.txt", "c.txt")]
    assert reasons == [Reason.BINARY, Reason.TOO_LARGE, Reason.NOT_INCLUDED]


@pytest.mark.parametrize(
    "pattern", ["generated", "generated/", "generated/**", "**/generated", "/generated/**", "gen*ed"]
)
def test_an_excluded_folder_is_one_verdict(tmp_path: Path, pattern: str) -> None:
    write_tree(tmp_path, {"generated/a.py": "", "generated/deep/b.py": "", "c.py": ""})
    items = decisions(source(tmp_path, exclude=(pattern,)))
    assert list(items) == ["c.py", "generated/"]
    assert refusal(source(tmp_path, exclude=(pattern,)), "generated/").rule == Rule(pattern, "config.json (exclude)")


def test_an_exclude_that_begins_with_a_folder_speaks_of_the_root_only(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/x.py": "", "b/a/x.py": ""})
    assert visible_files(source(tmp_path, exclude=("a/**",))) == ["b/a/x.py"]


def test_only_included_files_are_seen_and_the_rule_says_which(tmp_path: Path) -> None:
    write_tree(tmp_path, {"src/a.py": "", "src/deep/b.py": "", "c.py": "", "d.md": ""})
    project = source(tmp_path, include=("src/", "*.md"))
    assert visible_files(project) == ["d.md", "src/a.py", "src/deep/b.py"]
    assert refusal(project, "c.py").rule == Rule("src/, *.md", "config.json (include)")


def test_a_file_that_is_too_large_says_how_large(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": b"x" * 1_500_000, "b.txt": b"x" * (1024 * 1024)})
    verdict = refusal(source(tmp_path), "a.txt")
    assert (verdict.reason, verdict.detail) == (Reason.TOO_LARGE, "1.4 MB, the limit is 1 MB")
    assert visible_files(source(tmp_path)) == ["b.txt"]


def test_a_binary_name_names_its_ending(tmp_path: Path) -> None:
    write_tree(tmp_path, {"logo.PNG": "text"})
    assert refusal(source(tmp_path), "logo.PNG").rule == Rule("*.png", "built-in list of binary files")


def test_documentation_is_told_from_code(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "", "docs/b.md": "", "c.rst": ""})
    kinds = {
        item.path: item.kind
        for item in source(tmp_path, doc_patterns=("**/*.md",)).entries()
        if isinstance(item, Entry)
    }
    assert kinds == {"a.py": "code", "c.rst": "code", "docs/b.md": "docs"}


def test_documentation_is_told_in_any_letter_case(tmp_path: Path) -> None:
    write_tree(tmp_path, {"A.MD": "", "b.Txt": "", "C.PY": ""})
    kinds = {item.path: item.kind for item in source(tmp_path).entries() if isinstance(item, Entry)}
    assert kinds == {"A.MD": "docs", "C.PY": "code", "b.Txt": "docs"}


def test_include_and_exclude_keep_their_letter_case(tmp_path: Path) -> None:
    write_tree(tmp_path, {"A.MD": "", "b.md": ""})
    assert visible_files(source(tmp_path, include=("*.md",))) == ["b.md"]
    assert visible_files(source(tmp_path, exclude=("*.md",))) == ["A.MD"]


def test_documentation_can_be_left_out(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": ""})
    verdict = refusal(source(tmp_path, index_docs=False), "a.md")
    assert (verdict.reason, verdict.rule) == (Reason.DOCS_OFF, Rule("**/*.md", "config.json (docPatterns)"))


def test_folders_are_entered_down_to_the_limit(tmp_path: Path) -> None:
    deepest = "/".join(["d"] * MAX_DEPTH)
    write_tree(tmp_path, {f"{deepest}/a.py": "", f"{deepest}/d/b.py": ""})
    project = source(tmp_path)
    assert visible_files(project) == [f"{deepest}/a.py"]
    assert refusal(project, f"{deepest}/d/").reason is Reason.TOO_DEEP
    assert project.verdict(f"{deepest}/d/b.py").reason is Reason.TOO_DEEP


def test_the_deny_list_speaks_of_what_lies_below_the_root_only(tmp_path: Path) -> None:
    write_tree(tmp_path, {"node_modules/build/a.py": ""})
    assert visible_files(source(tmp_path / "node_modules" / "build")) == ["a.py"]


def test_some_endings_are_binary() -> None:
    for name in ("a.png", "A.JPG", "lib.so", "x.tar.gz", "font.woff2", "data.sqlite3"):
        assert binary_suffix(name)


def test_other_names_are_not() -> None:
    for name in ("a.py", "a.ts", "a.svg", "graph.dot", "test.snap", "png", ".png", "a.", "", "a.md", "id_rsa.pub"):
        assert binary_suffix(name) is None


def test_a_nul_byte_in_the_first_eight_kilobytes_tells() -> None:
    for data, position in (
        (b"", None),
        (b"text", None),
        (b"ab\0", 2),
        (b"x" * 8191 + b"\0", 8191),
        (b"x" * 8192 + b"\0", None),
    ):
        assert find_nul_byte(data) == position
