"""Every test has a storage root and a home of its own."""

import gc
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hatch_build
import pytest
from hypothesis import settings
from jsonschema import Draft202012Validator

from tests.forking import forking
from tests.grammar_files import unpack_grammars
from tests.s3_server import s3_environment, s3_server

_EXAMPLES = 100 if os.environ.get("SOAK") else 50
settings.register_profile("dowse", deadline=None, max_examples=_EXAMPLES)  # a busy machine is not a failure
settings.load_profile("dowse")

_MEMORY = Path("/dev/shm")
_MIN_FREE_BYTES = 2_000_000_000


def pytest_configure() -> None:
    """Make test runs alike on every machine.

    Temporary files are kept in memory where there is room, because the fsyncs of a commit cost nothing there.
    Compiled modules are kept: without them every process that a test starts needs 0.2 s more.
    So are the compiled modules of Node's programs.
    Ctrl-C is not ignored, as it is in a shell's background jobs: children that tests interrupt
    would inherit that.
    """
    gc.disable()  # until all tests are collected: nothing of them is garbage
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["NODE_COMPILE_CACHE"] = str(Path(sys.prefix, "node", "compiled"))
    sys.dont_write_bytecode = False
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _MIN_FREE_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


_LONGEST_FIRST = ("test_recording.py", "end_to_end", "encoding_worker", "federation", "bench", "mcp", "cli", "http")
"""Files and folders of tests that take long; `--no-loadscope-reorder` keeps their order."""

_LONGEST_FIRST_IN_THE_SOAK = (
    "test_server_life.py", "test_judged.py", "test_damage.py", "test_storm.py", "test_large_files.py", "storm", "fuzzing", "bench",
    "crash",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files: a worker that begins one late is waited for by the others at the end."""
    first = _LONGEST_FIRST_IN_THE_SOAK if os.environ.get("SOAK") else _LONGEST_FIRST

    def rank(item: pytest.Item) -> int:
        parts = item.path.relative_to(Path(__file__).parent).parts
        known = parts if os.environ.get("SOAK") else parts[:1]
        return min((first.index(part) for part in known if part in first), default=len(first))

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking at thousands of tests again and again: 7 % of the processor time."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _grammars(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Unpack all grammars at once for all tests and the processes they start.

    All of them together take 0.3 s, as long as one alone.
    """
    folder = tmp_path_factory.mktemp("grammars")
    os.environ["SEMBLE_GRAMMARS_CACHE_DIR"] = str(folder)
    unpack_grammars(folder)


@pytest.fixture(scope="session", autouse=True)
def _secret_rules() -> None:
    """Generate the rules for secrets where the checkout was installed before they were generated."""
    if not hatch_build.OUTPUT.exists():
        hatch_build.write_rules()


@pytest.fixture(scope="session", autouse=True)
def _schemas() -> Iterator[None]:
    """Check a schema once: each client of the SDK checks those of the tools that it calls, which takes 20 ms each."""
    checked = set[str]()
    check = Draft202012Validator.check_schema

    def check_once(schema: Any, **options: Any) -> None:
        text = json.dumps(schema, sort_keys=True)
        if text not in checked:
            check(schema, **options)
            checked.add(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Draft202012Validator, "check_schema", check_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _forking() -> Iterator[None]:
    """Stop the process that forks for commands after the last test."""
    with forking():
        yield


@pytest.fixture(autouse=True)
def storage(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The storage root of this test; the user's own settings and git rules do not apply."""
    root = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(root / ".config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(root / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("DOWSE_HOME", str(root / "dowse"))
    monkeypatch.delenv("COLUMNS", raising=False)  # tests set the terminal width; pytest's workers set 80
    return root / "dowse"


@pytest.fixture(params=["legacy", "auto"], ids=["2025-11-25", "2026-07-28"])
def mode(request: pytest.FixtureRequest) -> str:
    """The client mode of the SDK for the older protocol and the newer one."""
    return str(request.param)


@pytest.fixture(scope="module")
def _s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3_server(tmp_path_factory.mktemp("store")) as url:
        yield url


@pytest.fixture
def s3_url(_s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an S3 server with one user, whose credentials are in the environment."""
    for name, value in s3_environment(_s3_server).items():
        monkeypatch.setenv(name, value)
    return _s3_server
