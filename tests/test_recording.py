"""The program behaves as recorded in the golden files, which `python -m tests.recording` writes."""

import difflib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.recording.__main__ import AT_ONCE, GOLDEN, record
from tests.recording.projects import shared_folder
from tests.recording.scenarios import SCENARIOS

MOST_LINES = 120
"""The maximum number of lines of a difference that is shown."""


@pytest.fixture(scope="module")
def recordings(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[str]]]:
    """Play the selected scenarios, some of them in parallel."""
    items = [item for item in request.session.items if item.path == request.path]
    names = [item.callspec.params["name"] for item in items if hasattr(item, "callspec")]
    with shared_folder() as shared, ThreadPoolExecutor(AT_ONCE) as pool:
        yield {name: pool.submit(record, name, shared) for name in names}


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_users_see_is_as_it_was_recorded(recordings: dict[str, Future[str]], name: str) -> None:
    expected = (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    try:
        seen = recordings[name].result().splitlines()
    except ImportError as error:
        pytest.fail(str(error), pytrace=False)
    if seen != expected:
        lines = list(difflib.unified_diff(expected, seen, f"golden/{name}", "now", n=6, lineterm=""))
        left = f"\n({len(lines) - MOST_LINES} more lines)" if len(lines) > MOST_LINES else ""
        pytest.fail("\n".join(lines[:MOST_LINES]) + left, pytrace=False)


def test_every_golden_file_has_its_scenario() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(SCENARIOS)
