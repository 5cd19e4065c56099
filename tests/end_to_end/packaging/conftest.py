"""The wheel and the source distribution, built once for all tests of all workers."""

import os
from pathlib import Path
from typing import Literal

import pytest
from bench.installing import REPOSITORY, Environment, build, install_alone, make_environment

from dowse.system.platform import Lock

BUILD_SECONDS = 110.0


def built_once(kind: Literal["wheel", "sdist"], factory: pytest.TempPathFactory) -> Path:
    """Return what the first worker that asks has built; each build takes 3 s."""
    own = factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with Lock(shared / f"{kind}.lock").held(BUILD_SECONDS):
        if not (shared / kind).exists():
            build(kind, REPOSITORY, own / kind).parent.rename(shared / kind)
        (found,) = (shared / kind).iterdir()
    return found


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once("wheel", tmp_path_factory)


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once("sdist", tmp_path_factory)


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel in an environment of its own, which uses our dependencies, so nothing is downloaded."""
    environment = make_environment(tmp_path_factory.mktemp("installed") / "environment")
    install_alone(environment, wheel)
    return environment
