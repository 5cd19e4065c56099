"""SECURITY.md: every claim has a number and a test, and every test that it names exists and runs."""

import ast
import re
from functools import cache

from tests.repository import REPOSITORY

TEXT = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
_CLAIM = re.compile(r"^(\d+)\. (.+)$")
_TEST = re.compile(r"^ +- `(tests/[\w/]+\.py)::(test_\w+)`$")


def claims() -> dict[int, list[tuple[str, str]]]:
    """Return the tests that each claim names, by the number of the claim."""
    part = TEXT.split("\n## Claims\n")[1].split("\n## ")[0]
    found: dict[int, list[tuple[str, str]]] = {}
    for line in part.splitlines():
        if claim := _CLAIM.match(line):
            assert int(claim[1]) not in found, line
            found[int(claim[1])] = []
        elif test := _TEST.match(line):
            found[max(found)].append((test[1], test[2]))
        elif line.lstrip().startswith("-"):
            raise AssertionError(f"neither a claim nor a test: {line}")
    return found


@cache
def functions_of(file: str) -> dict[str, list[str]]:
    """Return the tests of a file with their decorators."""
    body = ast.parse((REPOSITORY / file).read_text(encoding="utf-8")).body
    return {
        node.name: [ast.unparse(one) for one in node.decorator_list]
        for node in body
        if isinstance(node, ast.FunctionDef)
    }


def test_claims_are_numbered_in_order() -> None:
    assert list(claims()) == list(range(1, len(claims()) + 1))
    assert len(claims()) > 30


def test_every_claim_names_a_test() -> None:
    assert [number for number, named in claims().items() if not named] == []


def test_every_test_that_is_named_exists() -> None:
    named = {one for each in claims().values() for one in each}
    assert [f"{file}::{test}" for file, test in sorted(named) if test not in functions_of(file)] == []


def test_no_test_that_is_named_is_left_out() -> None:
    for file, test in {one for each in claims().values() for one in each}:
        assert not [
            mark for mark in functions_of(file)[test] if ("skip" in mark and "skipif" not in mark) or "xfail" in mark
        ], test
        assert not [mark for mark in functions_of(file)[test] if "soak" in mark], test


def test_every_variable_that_is_trusted_is_one_we_read() -> None:
    source = "".join(file.read_text(encoding="utf-8") for file in (REPOSITORY / "src").rglob("*.py"))
    for variable in set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", TEXT)):
        assert f'"{variable}"' in source, variable
