"""semble as a contestant, in an environment of its own, on the same files.

Only packages are downloaded. For its speed, a model of the same shape with random numbers is enough. For the quality of its
results, which is not its published quality, it gets the word vectors that dowse ships.
"""

import json
import os
import shutil
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import Corpus, indexable
from bench.figures import Figures
from bench.meter import Run, measure_command
from bench.ours import change, folder_bytes
from dowse.encoding.selection import MODELS_FOLDER, STATIC_VERSION

REQUIREMENTS = Path(__file__).with_name("requirements-semble.txt")
_INSIDE = Path(__file__).with_name("inside")
_MODEL_FILES = 2_000
"""Number of files for a vocabulary of the real size, which takes about ten seconds."""


@dataclass(slots=True)
class Semble:
    """`SembleIndex.from_path` and the save that semble's command does, each time in a new process."""

    python: Path
    model: Path
    work: Path
    name: str

    def round(self, corpus: Corpus) -> Figures:
        """Index from scratch without a cache, again without a change, and with one changed file."""
        shutil.rmtree(self._home, ignore_errors=True)
        self._home.mkdir(parents=True)
        full = self.index(corpus.folder)
        report, index_bytes = json.loads(full.output), folder_bytes(self._home / "cache")
        unchanged = self.index(corpus.folder)
        change(corpus.median_file())
        changed = self.index(corpus.folder)
        return Figures(
            files=report["files"],
            chunks=report["chunks"],
            full_seconds=full.seconds,
            full_cpu_seconds=full.cpu_seconds,
            unchanged_seconds=unchanged.seconds,
            changed_seconds=changed.seconds,
            change_seconds=None,
            change_worst_seconds=None,
            own_bytes=full.own_bytes,
            rss_bytes=full.rss_bytes,
            index_bytes=index_bytes,
        )

    def index(self, folder: Path) -> Run:
        """Index code, documentation and configuration, with the worker processes of semble's command."""
        environment = {
            **os.environ,
            "HOME": str(self._home),
            "XDG_CACHE_HOME": str(self._home / "xdg"),
            "SEMBLE_CACHE_LOCATION": str(self._home / "cache"),
            "SEMBLE_GRAMMARS_CACHE_DIR": str(self.work / "grammars-of-semble"),
            "SEMBLE_MODEL_NAME": str(self.model),
            "HF_HUB_OFFLINE": "1",
        }
        return measure_command([str(self.python), str(_INSIDE / "index_with_semble.py"), str(folder)], environment)

    @property
    def _home(self) -> Path:
        return self.work / "semble"


def prepare(kept: Path, work: Path, roots: list[Path]) -> Semble:
    """Install semble and make its model below `kept`, unless they exist; raise CommandFailed or OSError."""
    python = _environment(kept / "semble-venv")
    model = _model(kept / "model", python, roots)
    version = _run(python, "-c", "import importlib.metadata as metadata; print(metadata.version('semble'))")
    return Semble(python, model, work, f"semble {version.strip()}")


def prepare_with_table(kept: Path) -> tuple[Path, Path]:
    """Install semble, and make a model for it of the word vectors that dowse ships; return its Python and the model."""
    python, model = _environment(kept / "semble-venv"), kept / STATIC_VERSION
    if not (model / "tokenizer.json").exists():
        _run(python, str(_INSIDE / "make_table_model.py"), str(model), str(MODELS_FOLDER / "static"))
    return python, model


def _environment(folder: Path) -> Path:
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    installed = folder / "installed.txt"
    if not installed.exists() or installed.read_bytes() != REQUIREMENTS.read_bytes():
        venv.create(folder, clear=True, with_pip=True)
        _run(python, "-m", "pip", "install", "--quiet", "--require-hashes", "--requirement", str(REQUIREMENTS))
        shutil.copy(REQUIREMENTS, installed)
    return python


def _model(folder: Path, python: Path, roots: list[Path]) -> Path:
    """Return a model with the vocabulary of the corpora; it is made again for other corpora."""
    files = [root / path for root in roots for path in indexable(root)]
    files = files[:: max(1, len(files) // _MODEL_FILES)]
    made_from = folder / "made-from.txt"
    origin = f"{len(files)} files of {', '.join(root.name for root in roots)}\n"
    if not made_from.exists() or made_from.read_text(encoding="utf-8") != origin:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        names = folder / "files.txt"
        names.write_text("\n".join(map(str, files)), encoding="utf-8")
        _run(python, str(_INSIDE / "make_model.py"), str(folder), str(names))
        made_from.write_text(origin, encoding="utf-8")
    return folder


def _run(python: Path, *arguments: str) -> str:
    return measure_command([str(python), *arguments], os.environ).output
