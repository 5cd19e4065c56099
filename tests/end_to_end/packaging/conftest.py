"""The wheel and the source distribution, built once for all tests."""

from pathlib import Path

import pytest
from bench.installing import REPOSITORY, Environment, build, install_alone, make_environment


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", REPOSITORY, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", REPOSITORY, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel in an environment of its own, which uses our dependencies, so nothing is downloaded."""
    environment = make_environment(tmp_path_factory.mktemp("installed") / "environment")
    install_alone(environment, wheel)
    return environment
