"""The small project that the tests of the project surface use."""

from tests.surfaces.project.conftest import indexed, root

__all__ = ["indexed", "root"]
