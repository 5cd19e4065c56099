"""An empty named index, for the examples of its documentation."""

from tests.notes.conftest import backend, library, make

__all__ = ["backend", "library", "make"]
