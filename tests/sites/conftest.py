"""Fixtures: a site of a thousand pages and a small one."""

import pytest

from dowse.sites.site import LoadedSite, load_site
from tests.sites.sample_sites import encoded, index, large_site


@pytest.fixture(scope="session")
def large() -> LoadedSite:
    return load_site(encoded(index(*large_site(1000))))


@pytest.fixture
def fruit() -> LoadedSite:
    return load_site(encoded(index()))
