"""How much is tried: some examples of a property in the suite, many in `make soak`, which also kills."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import settings

KILLS = int(os.environ.get("KILLS", "200"))
"""Each test of the soak that kills processes kills about this many; those of writers together four times as many."""

Test = TypeVar("Test", bound=Callable[..., object])


def examples(some: int, *, many: int, **options: Any) -> Callable[[Test], Test]:
    """Try a property with some examples, or with many where SOAK is set, and with other settings of hypothesis."""
    limited = settings(max_examples=many if os.environ.get("SOAK") else some, **options)

    def decorate(test: Test) -> Test:
        marked: Test = pytest.mark.property(limited(test))
        return marked

    return decorate
