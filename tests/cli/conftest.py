"""A small project, and a command run as if it had been typed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dowse.cli import main
from tests import forking
from tests.sample_data import write_tree
from tests.surfaces.documents.conftest import unindexed

__all__ = ["Ran", "Run", "root", "run", "start", "unindexed"]


class Ran:
    """The exit code and output of a command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """Parse the output as one JSON object."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path / "my project",
        {
            "pyproject.toml": "[project]\nname = 'fruit'\n",
            "src/apple.py": "def apple():\n    return 'red'\n",
            "docs/guide.md": "# Guide\n\nHow to eat an apple.\n",
            ".env": "TOKEN=secret\n",
            ".gitignore": "# generated\n*.gen.py\n",
            "src/x.gen.py": "generated = 1\n",
        },
    )


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def run(*arguments: object) -> Ran:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def start() -> Run:
    """Run the program itself; its output may be in any encoding."""

    def start(*arguments: object, shell: str = "", **environment: str) -> Ran:
        if not shell:
            code, out, err = forking.run(*arguments, env=os.environ | environment)
            return Ran(code, out.decode("latin-1"), err.decode("latin-1"))
        command = ["bash", "-c", f'"$@" {shell}; exit ${{PIPESTATUS[0]}}', "bash", sys.executable, "-m", "dowse"]
        command += map(str, arguments)
        done = subprocess.run(command, capture_output=True, env=os.environ | environment, check=False, timeout=60)
        return Ran(done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1"))

    return start
