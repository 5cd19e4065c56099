"""Named indexes of notes, from a program."""

import sys

import pytest

import dowse
from dowse.errors import NotFound


def test_the_first_note_makes_an_index_that_is_on_disk() -> None:
    with dowse.notes("decisions") as notes:
        with pytest.raises(NotFound):
            notes.search("prices")
        notes.add("prices", "Prices are in cents.", {"by": "Ada"})
        notes.add("colours", "Buttons are green.")
    with dowse.notes("decisions") as notes:
        found = notes.search("cents")
        assert [(hit.id, hit.text, found.total) for hit in found] == [("prices", "Prices are in cents.", 1)]
        assert notes.read("prices").metadata == {"by": "Ada"}
        notes.remove("prices")
        assert len(notes) == 1
        notes.add_all([("sizes", "Sizes are in cm.", None), ("colours", "Buttons are blue.", None)])
        assert next((note.doc_id, note.content) for note in notes) == ("colours", "Buttons are blue.")
        assert dowse.Notes.names() == ["decisions"]
        notes.delete()
        assert dowse.Notes.names() == []


def test_an_index_may_tell_capitals_apart() -> None:
    with dowse.notes("names", keep_case=True) as notes:
        notes.add("a", "The Sun is a newspaper.")
        assert len(notes.search("Sun")) == 1
        assert not notes.search("sun")


def test_the_name_of_the_function_is_also_that_of_a_package() -> None:
    """A program may have imported the package before: `dowse.notes` is then the package, which can be called too."""
    import dowse.notes.registry

    assert "dowse.notes" in sys.modules
    assert isinstance(dowse.notes("decisions"), dowse.Notes)
