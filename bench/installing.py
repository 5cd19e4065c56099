"""Building the package, and installing it into an environment of its own."""

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Literal

REPOSITORY = Path(__file__).parents[1]
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
PIP_TIMEOUT_SECONDS = 300
"""How long to wait for a package registry."""


class NotInstalled(Exception):
    """The dependencies of the package could not be installed."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / SCRIPTS / ("python.exe" if os.name == "nt" else "python")

    @property
    def dowse(self) -> Path:
        """The installed `dowse` program."""
        return self.folder / SCRIPTS / ("dowse.exe" if os.name == "nt" else "dowse")

    @property
    def packages(self) -> Path:
        """The folder of its packages."""
        return Path(sysconfig.get_path("purelib", vars={"base": str(self.folder)}))


def build(target: Literal["wheel", "sdist"], tree: Path, folder: Path) -> Path:
    """Build a package of a source tree into a folder, without network access."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=tree, check=True, capture_output=True, env=clean_environment())
    (built,) = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return built


def make_environment(folder: Path) -> Environment:
    """Create an environment without any packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return Environment(folder)


def install(environment: Environment, wheel: Path) -> None:
    """Install the wheel without its dependencies."""
    _pip(environment, "--no-deps", "--no-index", str(wheel))


def install_alone(environment: Environment, wheel: Path) -> None:
    """Install the wheel alone; its dependencies come from the current environment."""
    install(environment, wheel)
    lent = environment.packages / "lent.pth"
    lent.write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")


def install_whole(environment: Environment, wheel: Path, *more: str, compiles: bool = True) -> None:
    """Install the wheel and its dependencies from the configured registry, in the tested versions."""
    versions = environment.folder / "versions.txt"
    known = (f"{one.name}=={one.version}\n" for one in distributions() if one.name != "dowse")
    versions.write_text("".join(sorted(known)), encoding="utf-8")
    how = ("--compile" if compiles else "--no-compile", "--retries", "1", "--timeout", "15", "-c", str(versions))
    _pip(environment, *how, str(wheel), *more)


def clean_environment() -> dict[str, str]:
    """Return the environment variables without those of our own interpreter, which lead back to the source tree."""
    ours = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if name not in ours}


def _pip(environment: Environment, *arguments: str) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(environment.python), "install"]
    command = [*pip, "--quiet", "--disable-pip-version-check", "--no-input", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PIP_TIMEOUT_SECONDS, env=clean_environment()
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"no registry answered within {PIP_TIMEOUT_SECONDS} s") from None
    if done.returncode:
        raise NotInstalled(done.stderr.strip())
