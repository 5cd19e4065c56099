"""The callers of definitions before the references of all files were read."""

from pathlib import Path

import pytest

from dowse.federation.answers.definition_search import FoundDefinitions, describe_definitions
from dowse.indexes import reference_lookup
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import definition_options, search_now
from dowse.searching.query_terms import parse_plain_query
from tests.sample_data import open_indexed, write_tree

FILES = {
    "pyproject.toml": "[project]\n",
    "src/fees.py": "LATE_FEE = 5\n\n\ndef late_fee_of(loan):\n    return loan.days * LATE_FEE\n",
    "src/desk.py": "from fees import late_fee_of\n\n\ndef take_back(loan):\n    return late_fee_of(loan)\n",
    "src/mail.py": "from fees import late_fee_of\n\n\ndef remind(loan):\n    return str(late_fee_of(loan))\n",
    "tests/test_fees.py": "from fees import late_fee_of\n\n\ndef test_fee():\n    assert late_fee_of(None)\n",
    **{f"src/other_{number}.py": f"def other_{number}():\n    return {number}\n" for number in range(12)},
}


@pytest.fixture
def project(tmp_path: Path) -> ProjectIndex:
    return open_indexed(write_tree(tmp_path / "library", FILES))


def describe(project: ProjectIndex, most_unread: int | None = 5) -> FoundDefinitions:
    answer = search_now(project, parse_plain_query("late_fee_of", ()), definition_options(1, None, None))
    return describe_definitions({"": project}, answer, most_unread=most_unread)


def test_the_callers_of_what_is_shown_are_known_before_all_references_were_read(project: ProjectIndex) -> None:
    """The first answers right after indexing said nothing about callers, until another process had read all files."""
    (first,) = describe(project).whole
    assert [place.path for place in first.context.callers] == ["src/desk.py", "src/mail.py"]
    assert (first.context.caller_count, first.context.test_count) == (2, 1)
    assert project.whole.references.missing() >= 12
    (complete,) = describe(project, most_unread=None).whole
    assert project.whole.references.is_current()
    assert first.context == complete.context


@pytest.mark.parametrize("limit", ["MAX_NAMED_FILES", "MAX_CANDIDATES"])
def test_a_name_that_many_files_have_waits_for_their_references(
    project: ProjectIndex, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference_lookup, limit, 2)
    (first,) = describe(project).whole
    assert not first.context.callers
    assert [place.text for place in first.context.constants] == ["LATE_FEE = 5"]


def test_some_callers_are_not_shown_as_if_they_were_all(project: ProjectIndex) -> None:
    describe(project, most_unread=-1)
    write_tree(project.root, {"src/shop.py": "from fees import late_fee_of\n\n\ndef buy():\n    late_fee_of(1)\n"})
    project.update()
    (shown,) = describe(project, most_unread=0).whole
    assert shown.context.caller_count == 3
