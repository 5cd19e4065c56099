"""How long indexing will take: from what the run has done so far."""

import time

import pytest

from dowse.indexes.remaining_time import format_seconds_left, record_start, seconds_left


class Facts:
    """The facts of a store."""

    def __init__(self) -> None:
        self.facts: dict[str, str | None] = {}

    def set_fact(self, key: str, value: str | None) -> None:
        self.facts[key] = value

    def fact(self, key: str) -> str | None:
        return self.facts.get(key)


def test_the_rest_takes_as_long_as_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now, facts = time.time(), Facts()
    monkeypatch.setattr(time, "time", lambda: now)
    assert seconds_left(facts, 10, 100) is None
    record_start(facts, 50)
    assert seconds_left(facts, 50, 100) is None
    now += 10
    assert seconds_left(facts, 50, 100) is None
    assert seconds_left(facts, 60, 100) == 40
    assert seconds_left(facts, 100, 100) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0, ", about 1 s left"), (20, ", about 20 s left"), (600, ", about 10 min left")],
)
def test_a_time_is_shown_as_text(seconds: int | None, text: str) -> None:
    assert format_seconds_left(seconds) == text
