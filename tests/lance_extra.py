"""LanceDB for tests that need it."""

from typing import Any

import pytest

from dowse.errors import UsageError
from dowse.store.lance_import import import_lancedb


def import_or_skip() -> Any:
    """Return LanceDB as dowse imports it, without what takes two thirds of the time; skip without the extra."""
    try:
        return import_lancedb()
    except UsageError:
        pytest.skip("needs the extra lance", allow_module_level=True)
