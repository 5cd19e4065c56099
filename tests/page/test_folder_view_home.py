"""The first view is readable for people, and has every folder once."""

from dowse.federation.federation_types import SourceStatus
from dowse.indexes.root_overview import RootOverview
from dowse.page.folder_view import home_view
from dowse.store.listings import LanguageTotal, ListedFile
from dowse.types import Coverage


def test_a_folder_is_named_as_it_is() -> None:
    view = home_view([SourceStatus("project", "project/a%2Bb", "ready", {"files": 1200, "chunks": 9})], {})
    assert ">a+b</a>" in view
    assert 'href="/read?id=project/a%252Bb/"' in view
    assert "1,200 files" in view
    assert "chunks" not in view


def test_the_files_and_the_documents_of_a_folder_are_counted() -> None:
    counts = {"files": 1, "documents": 1, "chunks": 3}
    assert "1 file, 1 document<" in home_view([SourceStatus("project", "project/plum", "ready", counts)], {})


def test_languages_and_the_files_that_changed_last_are_shown() -> None:
    overview = RootOverview(
        (LanguageTotal("python", 3, 900), LanguageTotal("markdown", 1, 100)),
        (ListedFile("src/<a>.py", "python", "", 9, 1_700_000_000_000_000_000),),
    )
    view = home_view([SourceStatus("project", "project/plum", "ready", {"files": 4})], {"project/plum": overview})
    assert "python <span>90 %</span>" in view
    assert "src/&lt;a&gt;.py" in view
    assert '<time datetime="2023-11-14T22:13:20Z">14 Nov 2023, 22:13 UTC</time>' in view


def test_a_source_without_an_index_is_said_to_have_none() -> None:
    view = home_view([SourceStatus("project", "project/plum", "not_found", problem="Run: dowse index")], {})
    assert "not indexed" in view
    assert "not_found" not in view


def test_a_source_that_is_being_indexed_is_said_to_be_and_asked_again() -> None:
    growth = Coverage(3, 10, is_indexing=True, seconds_left=4)
    view = home_view([SourceStatus("project", "project/plum", "indexing", {"files": 3}, growth=growth)], {})
    assert 'value="3" max="10"' in view
    assert "being indexed, 3 of 10 files, about 4 s left" in view
    assert "data-live" in view
    begun = home_view(
        [SourceStatus("project", "project/plum", "indexing", growth=Coverage(0, 0, is_indexing=True))], {}
    )
    assert "counting files" in begun
    assert "data-live" not in home_view([SourceStatus("project", "project/plum", "ready", {"files": 3})], {})
