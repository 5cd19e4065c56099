"""Fixtures: a small indexed project, and the library that makes the system behave badly."""

from pathlib import Path

import pytest

from tests.end_to_end.preloaded import compile_library
from tests.mcp.stdio.conftest import indexed, root

__all__ = ["indexed", "root"]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the library, for `LD_PRELOAD`."""
    return str(compile_library(Path(__file__).with_name("conditions.c"), tmp_path_factory.mktemp("conditions")))
