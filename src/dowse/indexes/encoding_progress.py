"""Progress of the encoding of an index, whichever process does it."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dowse.errors import CatalogError, DowseError, ModelMissing
from dowse.indexes.encoder_state import first_incomplete_version, serving_version, wanted_versions
from dowse.platform import Lock, write_atomically
from dowse.settings import Settings, read_json
from dowse.store.local import LocalStore
from dowse.types import KINDS

EncodingPhase = Literal["complete", "working", "waiting", "off", "failed"]

_PROBLEM_FILE = "encoding.json"


@dataclass(frozen=True, slots=True)
class EncodingProgress:
    """Progress of the slowest encoder of an index."""

    state: EncodingPhase
    encoder: str | None = None
    done: int = 0
    total: int = 0
    problem: str | None = None
    """Why the encoding does not continue."""
    serving: str | None = None
    """The encoder whose vectors answer searches meanwhile, if it is another one."""

    @property
    def as_json(self) -> dict[str, Any]:
        """The progress as replies show it."""
        fields = {"encoder": self.encoder, "state": self.state, "done": self.done, "total": self.total}
        optional = {"serving": self.serving, "problem": self.problem}
        return fields | {key: value for key, value in optional.items() if value}


def read_encoding_progress(store: LocalStore, settings: Settings) -> EncodingProgress:
    """Return the progress of an index; the cost does not grow with its size."""
    serving = serving_version(store, settings)
    try:
        wanted = wanted_versions(store, settings)
    except ModelMissing as error:
        chunks = sum(store.totals(kind).chunks for kind in KINDS)
        return EncodingProgress("failed", settings.encoder, 0, chunks, describe_problem(error), serving)
    if not wanted:
        return EncodingProgress("off")
    encoder = wanted[-1]
    done, total = store.vector_counts(encoder)
    state, problem = _state(store, settings)
    other = serving if serving != encoder else None
    return EncodingProgress(state, encoder, total if state == "complete" else done, total, problem, other)


def _state(store: LocalStore, settings: Settings) -> tuple[EncodingPhase, str | None]:
    if first_incomplete_version(store, settings) is None:
        return "complete", None
    lease = encoding_lease(store.folder)
    if lease.path.exists() and lease.is_taken():
        return "working", None
    if problem := _recorded_problem(store.folder):
        return "failed", problem
    return "waiting", None


def describe_problem(error: BaseException) -> str:
    """Return an error as a status shows it; a missing model is described in the words of the error catalog."""
    if isinstance(error, ModelMissing):
        return f"{CatalogError(error.code)} ({error})"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def encoding_lease(folder: Path) -> Lock:
    """Return the lock that the process holds that encodes an index."""
    return Lock(folder / "encode.lock")


def record_problem(folder: Path, problem: str | None) -> None:
    """Record for all processes why the vectors cannot be made; None removes the record."""
    with contextlib.suppress(DowseError, OSError):
        if problem is None:
            (folder / _PROBLEM_FILE).unlink(missing_ok=True)
        elif problem != _recorded_problem(folder):
            write_atomically(folder / _PROBLEM_FILE, json.dumps({"problem": problem}).encode())


def _recorded_problem(folder: Path) -> str | None:
    if not (folder / _PROBLEM_FILE).exists():
        return None
    with contextlib.suppress(DowseError, KeyError, TypeError):
        return str(read_json(folder / _PROBLEM_FILE)["problem"])
    return None
