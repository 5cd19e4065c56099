"""A project that is indexed, with its documents."""

from pathlib import Path

import pytest

from tests.federation.federated_server import indexed, make_app


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A small project, indexed."""
    return indexed(make_app(tmp_path))
