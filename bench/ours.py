"""dowse as a contestant: its own command, each time in a new process."""

import json
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from bench.corpora import Corpus
from bench.figures import Figures
from bench.meter import Run, measure_command
from dowse import __version__

_REPOSITORY = Path(__file__).parents[1]


@dataclass(slots=True)
class Dowse:
    """`dowse index` with a new storage root and home in each round."""

    work: Path
    name: str = field(default=f"dowse {__version__}", init=False)

    def round(self, corpus: Corpus) -> Figures:
        """Index from scratch, again without a change, and with one changed file."""
        shutil.rmtree(self._home, ignore_errors=True)
        self._home.mkdir(parents=True)
        full = self.index(corpus.folder)
        report, index_bytes = json.loads(full.output), folder_bytes(self._home / "index")
        unchanged = self.index(corpus.folder)
        change(corpus.median_file())
        changed = self.index(corpus.folder)
        alone = json.loads(self._run("-m", "bench.onefile", str(corpus.folder)).output)
        return Figures(
            files=report["filesIndexed"],
            chunks=report["chunksCreated"],
            full_seconds=full.seconds,
            full_cpu_seconds=full.cpu_seconds,
            unchanged_seconds=unchanged.seconds,
            changed_seconds=changed.seconds,
            change_seconds=alone["seconds"],
            change_worst_seconds=alone["worst"],
            own_bytes=full.own_bytes,
            rss_bytes=full.rss_bytes,
            index_bytes=index_bytes,
        )

    def index(self, folder: Path) -> Run:
        """Run the command of a user; `--yes` confirms projects of more than 50,000 files."""
        return self._run("-m", "dowse", "index", str(folder), "--json", "--yes")

    @property
    def _home(self) -> Path:
        return self.work / "dowse"

    def _run(self, *arguments: str) -> Run:
        environment = {
            **os.environ,
            "HOME": str(self._home),
            "DOWSE_HOME": str(self._home / "index"),
            "SEMBLE_GRAMMARS_CACHE_DIR": str(self.work / "grammars-of-dowse"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
        return measure_command([sys.executable, *arguments], environment, cwd=_REPOSITORY)


def change(file: Path) -> None:
    """Append a line to a file, a different one each time."""
    with file.open("a", encoding="utf-8") as opened:
        opened.write(f"\nchanged by the benchmark at {file.stat().st_size} bytes\n")


def folder_bytes(folder: Path) -> int:
    """Return the size of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
