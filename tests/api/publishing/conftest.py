"""A repository to publish, and a place for it."""

from pathlib import Path

import pytest

from tests.api.publishing.shared_places import make_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "animals")


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "place")
