"""A project that is indexed, with its documents."""

from pathlib import Path

import pytest

from dowse.cli.composition import ComposedServer
from tests.federation.federated_server import make_app, make_federated_server, make_indexes


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A small project, indexed."""
    return make_indexes(make_app(tmp_path))


@pytest.fixture
def server(tmp_path: Path, app: Path) -> ComposedServer:
    """A server of all kinds of sources."""
    return make_federated_server(tmp_path, app)
