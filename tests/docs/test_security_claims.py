"""SECURITY.md: every claim has a number and tests in security_claims.toml, and every test that is named exists and runs."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

from tests.repository import REPOSITORY

TEXT = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
TESTS: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("security_claims.toml").read_text(encoding="utf-8")
)


@cache
def functions_of(file: str) -> dict[str, list[str]]:
    """Return the tests of a file with their decorators."""
    body = ast.parse((REPOSITORY / file).read_text(encoding="utf-8")).body
    return {
        node.name: [ast.unparse(one) for one in node.decorator_list]
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_claims_are_numbered_in_order_and_each_has_a_test() -> None:
    claims = TEXT.split("\n## Claims\n")[1].split("\n## ")[0]
    numbers = re.findall(r"^(\d+)\. ", claims, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert len(numbers) > 30
    assert [number for number in numbers if not TESTS.get(number)] == []
    assert list(TESTS) == numbers


def test_every_test_that_is_named_exists_and_runs() -> None:
    for name in {name for named in TESTS.values() for name in named}:
        file, _, test = name.partition("::")
        assert test in functions_of(file), name
        left_out = [
            mark
            for mark in functions_of(file)[test]
            if ("skip" in mark and "skipif" not in mark) or "xfail" in mark or "soak" in mark
        ]
        assert left_out == [], name


def test_every_variable_that_is_trusted_is_one_we_read() -> None:
    source = "".join(file.read_text(encoding="utf-8") for file in (REPOSITORY / "src").rglob("*.py"))
    for variable in set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", TEXT)):
        assert f'"{variable}"' in source, variable


def test_every_test_in_the_list_of_faults_exists() -> None:
    faults = (REPOSITORY / "tests/end_to_end/conditions/README.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", faults)
    assert len(named) > 40
    assert [(file, test) for file, test in named if test not in functions_of(f"tests/{file}")] == []
