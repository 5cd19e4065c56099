"""The view of a search is readable for people."""

from dowse.federation.federation_types import SourceStatus
from dowse.page.search_view import source_overview
from dowse.types import Coverage


def test_a_source_is_named_as_its_folder_is() -> None:
    view = source_overview([SourceStatus("project", "project/a%2Bb", "ready", {"files": 1200})])
    assert ">project/a+b</a>" in view
    assert 'href="/read?id=project/a%252Bb/"' in view
    assert "1,200 files" in view


def test_a_source_without_an_index_is_said_to_have_none() -> None:
    view = source_overview([SourceStatus("project", "project/plum", "not_found", problem="Run: dowse index")])
    assert "not indexed" in view
    assert "not_found" not in view


def test_a_source_that_is_being_indexed_is_said_to_be_and_asked_again() -> None:
    growth = Coverage(3, 10, is_indexing=True, seconds_left=4)
    view = source_overview([SourceStatus("project", "project/plum", "indexing", {"files": 3}, growth=growth)])
    assert 'value="3" max="10"' in view
    assert "being indexed, 3 of 10 files, about 4 s left" in view
    assert "data-live" in view
    begun = source_overview(
        [SourceStatus("project", "project/plum", "indexing", growth=Coverage(0, 0, is_indexing=True))]
    )
    assert "counting files" in begun
    assert "data-live" not in source_overview([SourceStatus("project", "project/plum", "ready", {"files": 3})])
