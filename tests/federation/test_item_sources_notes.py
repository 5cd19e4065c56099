"""A named index as a source: its notes are listed by folders, and a damaged one says what to do."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from dowse.errors import ItemNotFound, SourceNotReady
from dowse.federation.item_sources import NotesSearchSource
from dowse.federation.source_list import SourceList
from dowse.notes.notes_documents import make_note
from dowse.notes.registry import NotesRegistry, index_file
from dowse.page.folder_view import folder_view
from dowse.page.page_texts import PageTexts
from dowse.surfaces.notes.notes_surface import NotesSurface

NOTES = [
    make_note("top", "A note.", {"title": "At the top <b>", "url": " https://example.org/top"}),
    make_note("fruit/apple", "Red."),
    make_note("fruit/pear", "Green.", {"title": "  ", "url": "javascript:alert(1)"}),
]


@pytest.fixture
def surface() -> Iterator[NotesSurface]:
    with contextlib.closing(NotesRegistry()) as library:
        library.create("kitchen", "disk")
        library.use("kitchen", lambda index: index.add(NOTES))
    opened = NotesSurface()
    yield opened
    opened.close()


def test_the_page_lists_notes_by_folders_with_their_titles(surface: NotesSurface) -> None:
    source = NotesSearchSource(surface, "kitchen")
    sources, texts = SourceList(Path(), notes=surface), PageTexts()
    top = str(anyio.run(folder_view, sources, source, "", texts))
    assert 'href="/read?id=index/kitchen/fruit/"' in top
    assert "At the top &lt;b&gt;" in top
    assert "apple" not in top
    inner = str(anyio.run(folder_view, sources, source, "fruit/", texts))
    assert 'href="/read?id=index/kitchen/fruit/apple"' in inner
    assert 'href="/read?id=index/kitchen/fruit/pear"' in inner
    with pytest.raises(ItemNotFound, match="no such folder"):
        anyio.run(folder_view, sources, source, "nothing/", texts)


def test_a_note_has_the_url_of_its_metadata_or_one_of_its_own(surface: NotesSurface) -> None:
    """Only an address of the web is taken: a client may open it."""
    source = NotesSearchSource(surface, "kitchen")
    urls = {name: anyio.run(source.fetch, name).url for name in ("top", "fruit/apple", "fruit/pear")}
    assert urls == {
        "top": "https://example.org/top",
        "fruit/apple": "note://kitchen/fruit/apple",
        "fruit/pear": "note://kitchen/fruit/pear",
    }


def test_a_damaged_index_is_not_ready_and_says_what_to_do(surface: NotesSurface) -> None:
    """Nothing can build it again, unlike an index of files."""
    with contextlib.closing(sqlite3.connect(index_file("kitchen"))) as connection, connection:
        connection.execute("DELETE FROM facts WHERE key = 'tokenizer'")
    with pytest.raises(SourceNotReady, match="Restore the file from a backup, or delete the index"):
        anyio.run(NotesSearchSource(surface, "kitchen").status)
