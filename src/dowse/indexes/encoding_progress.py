"""Which encoders an index has vectors of, which one answers searches, and how far the encoding is.

The store records these facts: the encoder whose vectors answer searches; and for each encoder, the chunk up to which every
chunk has a vector.
"""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dowse.encoding.selection import STATIC_VERSION, model_version, uses_model, uses_static
from dowse.errors import CatalogError, DowseError, ModelMissing
from dowse.indexes.sidecar_files import write_tables
from dowse.settings import Settings
from dowse.store.local import ENCODED_FACT, LocalStore
from dowse.system.platform import Lock
from dowse.types import KINDS

_SERVING_FACT = "encoder"


def wanted_versions(settings: Settings) -> tuple[str, ...]:
    """Return the encoders that every chunk needs a vector of, in the order in which the vectors are made.

    Raise ModelMissing if the settings name a model that is not installed.
    """
    static = (STATIC_VERSION,) if uses_static(settings) else ()
    second = model_version(settings)
    return (*static, second) if second else static


def serving_version(store: LocalStore, settings: Settings) -> str | None:
    """Return the encoder of the second phase whose vectors answer searches; None if no model is used.

    After a change of the settings this is the old encoder until the new one has a vector of every chunk: vectors of
    two encoders are never compared. If no model is used, its vectors are kept for later.
    """
    if not uses_model(settings):
        return None
    recorded = store.fact(_SERVING_FACT)
    if recorded is not None:
        return recorded
    with contextlib.suppress(ModelMissing):
        return model_version(settings)
    return None


def first_incomplete_version(store: LocalStore, settings: Settings) -> str | None:
    """Return the first wanted encoder that lacks a vector of some chunk. Only new chunks are examined."""
    return next((version for version in wanted_versions(settings) if lacks_vectors(store, version)), None)


def version_to_encode(store: LocalStore, settings: Settings) -> str | None:
    """Return the same as `first_incomplete_version`, and record what is complete so that chunks are examined once."""
    for version in wanted_versions(settings):
        newest = store.catalog.newest_chunk_id()
        if lacks_vectors(store, version):
            return version
        record_encoded_up_to(store, version, newest)
    record_encoding_complete(store, settings)
    return None


def lacks_vectors(store: LocalStore, version: str) -> bool:
    """Return whether some chunk has no vector of an encoder."""
    return bool(store.catalog.chunks_without_vectors(version, 1, after=encoded_up_to(store, version)))


def encoded_up_to(store: LocalStore, version: str) -> int:
    """Return the id of the chunk up to which every chunk has a vector of an encoder."""
    return int(store.fact(f"{ENCODED_FACT}{version}") or 0)


def record_encoded_up_to(store: LocalStore, version: str, chunk: int) -> None:
    """Record the chunk up to which every chunk has a vector, so that they are not examined again."""
    if chunk > encoded_up_to(store, version):
        store.set_fact(f"{ENCODED_FACT}{version}", str(chunk))


def forget_encoded_chunks(store: LocalStore) -> None:
    """Have all chunks examined again for missing vectors."""
    for version in store.catalog.encoders():
        store.set_fact(f"{ENCODED_FACT}{version}", None)


def record_encoding_start(store: LocalStore, settings: Settings) -> None:
    """Let the new vectors answer searches at once, unless another encoder has vectors that can go on doing so."""
    second, serving = model_version(settings), store.fact(_SERVING_FACT)
    if second and serving != second and not (serving and store.vector_counts(serving)[0]):
        store.set_fact(_SERVING_FACT, second)


def record_encoding_complete(store: LocalStore, settings: Settings) -> None:
    """Let the complete vectors answer searches from now on, delete those of all other encoders, and show them to others."""
    second, wanted = model_version(settings), wanted_versions(settings)
    if second and store.fact(_SERVING_FACT) != second:
        store.set_fact(_SERVING_FACT, second)
    for version in store.catalog.encoders():
        if second and version not in wanted:
            store.set_fact(f"{ENCODED_FACT}{version}", None)  # first: it says that the vectors are there
            store.forget_vectors(version)
    write_tables(store)


EncodingPhase = Literal["complete", "working", "waiting", "off", "failed"]

_PROBLEM_FACT = "encoding problem"


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
        wanted = wanted_versions(settings)
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
    problem = store.fact(_PROBLEM_FACT)
    return ("failed", problem) if problem else ("waiting", None)


def describe_problem(error: BaseException) -> str:
    """Return an error as a status shows it; a missing model is described in the words of the error catalog."""
    if isinstance(error, ModelMissing):
        return f"{CatalogError(error.code)} ({error})"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def encoding_lease(folder: Path) -> Lock:
    """Return the lock that the process holds that encodes an index."""
    return Lock(folder / "encode.lock")


def record_problem(store: LocalStore, problem: str | None) -> None:
    """Record for all processes why the vectors cannot be made; None removes the record."""
    if store.fact(_PROBLEM_FACT) != problem:
        with contextlib.suppress(DowseError, OSError):
            store.set_fact(_PROBLEM_FACT, problem)
