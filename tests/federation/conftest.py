"""A project that is indexed, with its documents."""

from pathlib import Path

import pytest

from tests.federation.federated_server import make_app, make_indexes


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A small project, indexed."""
    return make_indexes(make_app(tmp_path))
