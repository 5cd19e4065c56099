"""Programs that run with an audit hook, which records what they do."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.repository import REPOSITORY

GUARD = Path(__file__).parent / "guard"
SOURCE = REPOSITORY / "src"


class AuditedProcesses:
    """Starts programs and returns the audit events that they recorded."""

    def __init__(self, folder: Path, *names: str, modules: Iterable[str] = ()) -> None:
        self._file = folder / "events"
        self._file.touch()
        self.environment = {
            "PYTHONPATH": os.pathsep.join([str(GUARD), str(SOURCE)]),
            "DOWSE_GUARD": str(self._file),
            "DOWSE_GUARD_NAMES": "|".join(names),
            "DOWSE_GUARD_MODULES": "|".join(modules),
        }

    def run(self, *arguments: object, cwd: Path | None = None) -> str:
        """Run a command and return its output."""
        return self._run(["-m", "dowse", *map(str, arguments)], cwd)

    def run_in_one_process(self, *commands: tuple[object, ...], cwd: Path | None = None) -> str:
        """Run several commands in one process, which is faster; return their output."""
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

    def network_events(self) -> list[tuple[str, str]]:
        """Return the events of network access; Unix sockets are not among them."""
        return [event for event in self.events() if event[0].startswith(("socket", "urllib", "http"))]

    def opened_files(self) -> list[str]:
        """Return the names of the audited files that were opened."""
        return [details for event, details in self.events() if event == "open"]

    def started_programs(self) -> list[str]:
        """Return the programs that were started."""
        return [details for event, details in self.events() if event == "subprocess.Popen"]

    def imports(self) -> list[tuple[str, ...]]:
        """Return the audited modules that were imported, each with the command of the process."""
        return [ast.literal_eval(details) for event, details in self.events() if event == "import"]
