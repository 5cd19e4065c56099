"""References come with their lines, bounded, filtered and verified."""

from pathlib import Path

import pytest

from dowse.errors import UsageError
from dowse.indexes.index import ProjectIndex
from tests.references.conftest import Find, places


def test_a_use_has_its_line_and_the_definition_around_it(find: Find) -> None:
    (use,) = find("cook", kind="call").uses
    assert (use.path, use.line, use.text, use.within) == ("tests/test_kitchen.py", 5, "cook(None, None)", "test_cook")


def test_uses_are_filtered_and_counted_and_come_in_pages(find: Find) -> None:
    everything = find("peel")
    assert everything.kinds == {"import": 3, "call": 3}
    assert find("peel", kind="call").total == 3
    assert find("peel", path_glob="src/fruit/k*").files == 1
    pages = [find("peel", limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [use for page in pages for use in page.uses] == everything.uses
    assert {page.total for page in pages} == {everything.total}


def test_an_unknown_name_suggests_similar_ones(find: Find) -> None:
    found = find("kitchn.coook")
    assert not found.is_found
    assert find("rinze").suggestions == ["rinse"]
    assert find("Kiwi.rinse").suggestions == ["Apple.rinse", "Pear.rinse"]


@pytest.mark.parametrize("name", ["", "a b", "def peel():"])
def test_what_is_no_name_is_refused(find: Find, name: str) -> None:
    with pytest.raises(UsageError, match="is no name"):
        find(name)


def test_a_file_that_has_changed_is_left_out_and_named(project: ProjectIndex, bowl: Path, find: Find) -> None:
    file = bowl / "tests" / "test_kitchen.py"
    before = file.read_bytes()
    file.write_bytes(b"# nothing is cooked\n")
    try:
        found = find("cook")
    finally:
        file.write_bytes(before)
    assert found.outdated == ["tests/test_kitchen.py"]
    assert places(found) == []
