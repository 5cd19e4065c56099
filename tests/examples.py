"""How much is tried: some examples of a property in the suite, many in `make soak`, which also kills."""

import os
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import settings

KILLS = int(os.environ.get("KILLS", "200"))
"""Each test of the soak that kills processes kills about this many; those of writers together four times as many."""

BOMBS = int(os.environ.get("BOMBS", "12"))
"""Each test of the soak that makes bombs of one language or format makes this many, chosen by `BOMB_SEED`."""
BOMB_SEED = os.environ.get("BOMB_SEED", "1")

One = TypeVar("One")
Test = TypeVar("Test", bound=Callable[..., object])


def choose_bombs(every: Sequence[One], name: str) -> set[One]:
    """Return some of the bombs of a language or format."""
    return set(random.Random(f"{BOMB_SEED} {name}").sample(every, min(BOMBS, len(every))))


def examples(some: int, *, many: int, **options: Any) -> Callable[[Test], Test]:
    """Try a property with some examples, or with many where SOAK is set, and with other settings of hypothesis."""
    limited = settings(max_examples=many if os.environ.get("SOAK") else some, **options)

    def decorate(test: Test) -> Test:
        marked: Test = pytest.mark.property(limited(test))
        return marked

    return decorate
