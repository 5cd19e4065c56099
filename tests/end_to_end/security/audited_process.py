"""Programs started with a hook of the interpreter that writes down what they do."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.repository import REPOSITORY

GUARD = Path(__file__).parent / "guard"
SOURCE = REPOSITORY / "src"


class Watched:
    """Starts programs, and reads what was written down of them."""

    def __init__(self, folder: Path, *names: str) -> None:
        self._file = folder / "events"
        self._file.touch()
        self.environment = {
            "PYTHONPATH": os.pathsep.join([str(GUARD), str(SOURCE)]),
            "DOWSE_GUARD": str(self._file),
            "DOWSE_GUARD_NAMES": "|".join(names),
        }

    def run(self, *arguments: object, cwd: Path | None = None) -> str:
        """What a command prints."""
        return self._run(["-m", "dowse", *map(str, arguments)], cwd)

    def run_each(self, *commands: tuple[object, ...], cwd: Path | None = None) -> str:
        """What commands print that are given in turn in one process, which is quicker."""
        program = "import json, sys; from dowse.cli import main; [main(one) for one in json.loads(sys.argv[1])]"
        return self._run(["-c", program, json.dumps([[str(word) for word in one] for one in commands])], cwd)

    def _run(self, command: list[str], cwd: Path | None) -> str:
        done = subprocess.run(
            [sys.executable, "-P", *command], capture_output=True, text=True, timeout=60,
            check=False, env=os.environ | self.environment, cwd=cwd,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 1, 2, 3)
        return done.stdout + done.stderr

    def events(self) -> list[tuple[str, str]]:
        lines = self._file.read_text(encoding="utf-8").splitlines()
        return [(event, details) for event, details in map(json.loads, lines)]

    def on_network(self) -> list[tuple[str, str]]:
        """What left the process; sockets of the file system do not."""
        return [one for one in self.events() if one[0].startswith(("socket", "urllib", "http"))]

    def opened(self) -> list[str]:
        """The files, of those that are watched for, that were opened."""
        return [details for event, details in self.events() if event == "open"]

    def programs(self) -> list[str]:
        """The programs that were started."""
        return [details for event, details in self.events() if event == "subprocess.Popen"]
