"""dowse installed from a wheel into an environment of its own, and run outside of the repository."""

import subprocess
import sys
import sysconfig
from importlib.metadata import files, requires
from pathlib import Path

import anyio
import pytest
from bench.installing import Environment, clean_environment, install, make_environment
from mcp.client.stdio import StdioServerParameters
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dowse
from mcp import Client
from tests.sample_data import write_tree

TYPED = '''\
"""A program that uses dowse as a library."""

from pathlib import Path

from dowse import __version__
from dowse.errors import DowseError
from dowse.reading.ipynb import read_ipynb
from dowse.types import Reading


def read(file: Path) -> Reading | None:
    try:
        return read_ipynb(file.read_bytes(), file.name)
    except DowseError:
        return None


reveal_type(__version__)
reveal_type(read(Path()))
'''


@pytest.fixture
def fruit(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path / "fruit", {"pyproject.toml": "", "src/apple.py": "def peel_apple():\n    return 'red'\n"}
    )


def run(environment: Environment, *words: object, at: Path) -> str:
    """Run the installed program outside of the repository; return its output."""
    command = [str(environment.dowse), *map(str, words)]
    done = subprocess.run(command, cwd=at, env=clean_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def search_served(environment: Environment, root: Path) -> list[str]:
    """Search through a server; return the paths of the hits."""
    server = StdioServerParameters(
        command=str(environment.dowse), args=["serve", str(root)], env=clean_environment(), cwd=root.parent
    )

    async def ask() -> list[str]:
        async with Client(server) as client:
            found = await client.call_tool("search_code", {"query": "peel_apple"})
            return [hit["path"] for hit in dict(found.structured_content or {})["results"]]

    return anyio.run(ask)


def assert_works(environment: Environment, root: Path) -> None:
    assert run(environment, "--version", at=root.parent).splitlines()[0] == f"dowse, version {dowse.__version__}"
    run(environment, "index", root, at=root.parent)
    assert "src/apple.py" in run(environment, "search", "peel_apple", root, at=root.parent)
    assert search_served(environment, root) == ["src/apple.py"]


def test_it_is_the_wheel_that_runs(installed: Environment, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(installed.python), "-c", "import dowse; print(dowse.__file__)"],
        cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(done.stdout.strip()).parent == installed.packages / "dowse"


@pytest.mark.soak  # a strict checker reads every dependency
def test_its_types_are_seen_by_a_strict_checker(installed: Environment, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(TYPED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(installed.python), "--config-file=",
         "--cache-dir", str(tmp_path / "cache"), str(program)],
        cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'Revealed type is "str"' in done.stdout.replace("builtins.", "")
    assert "Reading | None" in done.stdout


def declared(name: str) -> set[str]:
    """Return the distributions that an installed one declares to need, and those that they need in turn."""
    found: set[str] = set()
    waiting: set[tuple[str, frozenset[str]]] = {(name, frozenset())}
    seen = set(waiting)
    while waiting:
        asked, chosen = waiting.pop()
        for requirement in map(Requirement, requires(asked) or []):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *chosen)):
                needed = canonicalize_name(requirement.name), frozenset(requirement.extras)
                found.add(needed[0])
                waiting |= {needed} - seen
                seen.add(needed)
    return found


def test_an_empty_environment_is_enough(wheel: Path, fruit: Path, tmp_path: Path) -> None:
    """The environment has only the declared dependencies of the wheel, each as it is installed here."""
    environment = make_environment(tmp_path / "empty")
    install(environment, wheel)
    needed = declared("dowse")
    for name in needed:
        for part in {file.parts[0] for file in files(name) or [] if file.parts[0] not in ("..", "__pycache__")}:
            if not (environment.packages / part).exists():
                (environment.packages / part).symlink_to(Path(sysconfig.get_path("purelib"), part))
    assert_works(environment, fruit)
    assert len(needed) > len(requires("mcp") or [])
    assert not needed & {"pytest", "mypy", "ruff", "boto3", "lancedb", "pip"}
