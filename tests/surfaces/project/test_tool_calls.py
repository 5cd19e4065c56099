"""The words that an assistant's own search looks for, in the calls that its hook passes on."""

from typing import Any

import pytest

from dowse.surfaces.project.tool_calls import query_of


@pytest.mark.parametrize(
    ("name", "given", "query"),
    [
        ("Grep", {"pattern": r"class\s+(Parser|Lexer)\b"}, "class Parser Lexer"),
        ("Grep", {"pattern": "parse_address"}, "parse_address"),
        ("Grep", {"pattern": r"\d+"}, ""),
        ("Grep", {}, ""),
        ("Glob", {"pattern": "src/**/*router*.tsx"}, "src router"),
        ("Glob", {"pattern": "**/*.py"}, ""),
        ("Bash", {"command": "grep -rn --include '*.py' -A 3 'def main' ."}, "def main"),
        ("Bash", {"command": "cat x | egrep -v foo_bar"}, "foo_bar"),
        ("Bash", {"command": "cd a && rg -e open_file -g '*.rs' | wc -l"}, "open_file"),
        ("Bash", {"command": "/usr/bin/find . -type f -iname '*session*'"}, "session"),
        ("Bash", {"command": "fd config"}, "config"),
        ("Bash", {"command": "git grep -n upload_token"}, "upload_token"),
        ("Bash", {"command": "git log --grep=fix"}, ""),
        ("Bash", {"command": "make && ./grep_things"}, ""),
        ("Bash", {"command": "grep 'open quote"}, ""),
        ("Bash", {"command": 5}, ""),
        ("shell", {"command": ["bash", "-lc", "rg parse_url"]}, "parse_url"),
        ("shell", {"command": ["rg", "parse_url", "src"]}, "parse_url"),
        ("shell", {"cmd": "rg parse_url"}, "parse_url"),
        ("Read", {"file_path": "/a"}, ""),
    ],
)
def test_a_call_looks_for_these_words(name: str, given: Any, query: str) -> None:
    assert query_of({"tool_name": name, "tool_input": given}) == query


def test_an_endless_pattern_is_cut() -> None:
    assert len(query_of({"tool_name": "Grep", "tool_input": {"pattern": "word9x " * 100_000}})) <= 200
