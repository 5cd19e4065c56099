"""Every clause of the specifications has a test that exists, or a reason why it has none."""

import re

from tests.docs.test_security_claims import functions_of
from tests.repository import REPOSITORY

PAGE = (REPOSITORY / "docs" / "clauses.md").read_text(encoding="utf-8")
REASONS = ("Deviation: ", "Figure: ", "Not ours to ")
SECTIONS = [
    "The site", "Named indexes", "Documents", "Archives", "The project", "What the specifications leave open",
]  # fmt: skip


def rows(text: str) -> list[tuple[str, ...]]:
    """Return the cells of every row below a table's head."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [
        tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
        for line in lines
        if not line.startswith("| where | what | shown by |")
    ]


def named_tests(cell: str) -> list[str]:
    return re.findall(r"`(tests/[^`\s]+::[^`\s]+)`", cell)


def test_every_specification_has_its_table() -> None:
    parts = dict(zip(*[iter(re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)[1:])] * 2, strict=True))
    assert list(parts) == SECTIONS
    assert all(len(rows(part)) >= 14 for part in parts.values())


def test_a_clause_has_a_test_or_a_reason() -> None:
    for where, what, shown in rows(PAGE):
        assert where, what
        assert what, where
        tests = named_tests(shown)
        assert tests or shown.startswith(REASONS), f"{where}: {what}: neither a test nor a reason"
        for test in tests:
            file, _, name = test.partition("::")
            assert (REPOSITORY / file).is_file(), test
            assert name in functions_of(file), test
        for reason in REASONS:
            _, found, explanation = shown.partition(reason)
            assert not found or len(explanation) > 20, f"{where}: {what}: a reason is a sentence"


def test_no_clause_stands_there_twice() -> None:
    claimed = [row[:2] for row in rows(PAGE)]
    assert len(claimed) == len(set(claimed))


def test_nothing_but_tests_is_called_like_one() -> None:
    """A truncated or misspelled name would not be checked."""
    assert len(re.findall(r"tests/", PAGE)) == len(re.findall(r"`tests/[^`\s]+\.py(::test_\w+)?`", PAGE))
