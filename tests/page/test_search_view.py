"""The view of a search is readable for people."""

from dowse.federation.federation_types import SourceStatus
from dowse.page.search_view import source_overview


def test_a_source_is_named_as_its_folder_is() -> None:
    view = source_overview([SourceStatus("project", "project/a%2Bb", "ready", {"files": 1200})])
    assert ">project/a+b</a>" in view
    assert 'href="/read?id=project/a%252Bb/"' in view
    assert "1,200 files" in view
