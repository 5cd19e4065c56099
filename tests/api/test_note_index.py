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


def test_the_name_of_the_function_is_also_that_of_a_package() -> None:
    """A program may have imported the package before: `dowse.notes` is then the package, which can be called too."""
    import dowse.notes.registry

    assert "dowse.notes" in sys.modules
    assert isinstance(dowse.notes("decisions"), dowse.Notes)
