"""No input of any parser raises, hangs or takes much memory: seeds that once did, and a campaign of many more.

`FUZZ_INPUTS` is the number of inputs over all targets, `FUZZ_SECONDS` the longest time for one target, and `FUZZ_SEED`
another sequence of inputs. The shortest inputs that fail are written to `seeds/`.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzzing.campaign import Failure, keep, minimise, run_campaign, seeds, try_data
from tests.fuzzing.mutation import make_input
from tests.fuzzing.targets import TARGETS

INPUTS = int(os.environ.get("FUZZ_INPUTS", "50000"))
SECONDS = float(os.environ.get("FUZZ_SECONDS", "30"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
FEW = 40
"""Inputs for a target in the suite; they run in the process of the tests, where a failure shows its traceback."""
SLOW = {"pdf", "parser_pool", "sites", "storage", "archive_database", "http"}
_SHARES = sum(target.share for target in TARGETS.values())


@pytest.fixture
def _environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Targets that run commands set variables."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def all_seeds() -> list[tuple[str, Path]]:
    return [(name, file) for name in TARGETS for file in seeds(name)]


@pytest.mark.usefixtures("_environment")
@pytest.mark.parametrize(
    ("name", "file"), all_seeds(), ids=lambda value: value.name if isinstance(value, Path) else value
)
def test_a_seed_does_no_harm_any_more(name: str, file: Path) -> None:
    target = TARGETS[name]
    with contextlib.suppress(*target.expected):
        target.run(file.read_bytes())


@pytest.mark.usefixtures("_environment")
@pytest.mark.parametrize("name", [name for name in TARGETS if name not in SLOW])
def test_a_few_damaged_inputs_do_no_harm(name: str) -> None:
    target = TARGETS[name]
    for number in range(FEW):
        with contextlib.suppress(*target.expected):
            target.run(target.input(f"{SEED} {name} {number}"))


@pytest.mark.soak
@pytest.mark.timeout(4 * SECONDS + 600)
@pytest.mark.parametrize("name", TARGETS)
def test_many_damaged_inputs_do_no_harm(name: str) -> None:
    inputs = max(200, round(INPUTS * TARGETS[name].share / _SHARES))
    result = run_campaign(name, inputs, SECONDS, SEED)
    print(f"{name}: {result.inputs:,} inputs")
    assert [f"{failure.problem}: kept as {keep(minimise(failure))}" for failure in result.failures] == []


# The campaign itself


def test_an_input_is_the_same_for_the_same_seed() -> None:
    samples = (b"one two three", b"four")
    assert make_input("7", samples) == make_input("7", samples)
    assert len({make_input(number, samples) for number in range(50)}) > 30


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"fine", ""),
        (b"raise", "ValueError"),
        pytest.param(b"hang", "took over 5 s", marks=pytest.mark.soak),
        (b"swell", "took"),
        (b"crash", "ended the process: SIGSEGV"),
    ],
)
def test_a_child_tells_how_an_input_failed(data: bytes, kind: str) -> None:
    problem = try_data("broken on purpose", data)
    assert problem.startswith(kind)
    assert bool(problem) == bool(kind)


def test_a_failing_input_is_made_short() -> None:
    found = minimise(Failure("broken on purpose", b"some words and raise and more words", "ValueError in ?: x"))
    assert found.data == b"raise"
