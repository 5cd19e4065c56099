"""Whose vectors an index has, which of them serve, and which are still to be made.

Notes in the store: `encoder`, whose vectors serve; for each encoder the chunk up to which none lacks one; and which
encoder was taken instead of one whose model could not be loaded.
"""

import contextlib

from dowse.encoding.selection import model_version, uses_static
from dowse.encoding.shipped import STATIC_VERSION
from dowse.errors import ModelMissing
from dowse.protocols import IndexFacts
from dowse.settings import Settings
from dowse.store.local import LocalStore

_SERVING_FACT = "encoder"
_ENCODED_FACT = "encoded to:"
_SUBSTITUTE_FACT = "instead of:"


def wanted_versions(store: IndexFacts, settings: Settings) -> tuple[str, ...]:
    """The encoders whose vectors every chunk is to have, in the order in which they are made.

    ModelMissing where the settings name a model that is not there.
    """
    static = (STATIC_VERSION,) if uses_static(settings) else ()
    second = second_phase_version(store, settings)
    return (*static, second) if second else static


def second_phase_version(store: IndexFacts, settings: Settings) -> str | None:
    """The encoder of the second phase, or the one that was taken where its model could not be loaded."""
    version = model_version(settings)
    return (store.fact(f"{_SUBSTITUTE_FACT}{version}") or version) if version else None


def serving_version(store: IndexFacts, settings: Settings) -> str | None:
    """The encoder of the second phase whose vectors answer; None where the settings want none.

    After a change of the settings it is the old one, until the new one has a vector for every chunk: the two are
    never compared. Where the settings want none the vectors are kept, for the next change of mind.
    """
    if settings.encoder == "none":
        return None
    noted = store.fact(_SERVING_FACT)
    if noted is not None:
        return noted
    with contextlib.suppress(ModelMissing):
        return second_phase_version(store, settings)
    return None


def first_incomplete_version(store: LocalStore, settings: Settings) -> str | None:
    """The first encoder of those wanted that some chunk has no vector of; looks only at chunks that are new."""
    return next((version for version in wanted_versions(store, settings) if lacks_vectors(store, version)), None)


def record_complete_versions(store: LocalStore, settings: Settings) -> str | None:
    """The same, for those who write: what was looked at and lacks nothing is not looked at again."""
    for version in wanted_versions(store, settings):
        newest = store.newest_chunk_id()
        if lacks_vectors(store, version):
            return version
        record_encoded_up_to(store, version, newest)
    return None


def lacks_vectors(store: LocalStore, version: str) -> bool:
    """Whether some chunk has no vector of its own of an encoder."""
    return bool(store.chunks_without_vectors(version, 1, after=encoded_up_to(store, version)))


def encoded_up_to(store: IndexFacts, version: str) -> int:
    """The chunk up to which all have a vector of an encoder."""
    return int(store.fact(f"{_ENCODED_FACT}{version}") or 0)


def record_encoded_up_to(store: IndexFacts, version: str, chunk: int) -> None:
    """Remember up to which chunk none lacks a vector, so that they are not looked at again."""
    if chunk > encoded_up_to(store, version):
        store.set_fact(f"{_ENCODED_FACT}{version}", str(chunk))


def record_substitute(store: IndexFacts, version: str, taken: str) -> None:
    """The model of a version could not be loaded, and another one was taken: its vectors are made from now on."""
    store.set_fact(f"{_SUBSTITUTE_FACT}{version}", taken)


def record_encoding_start(store: LocalStore, settings: Settings) -> None:
    """The vectors that are made now serve at once, unless there are some of another encoder that can go on serving."""
    second, serving = second_phase_version(store, settings), store.fact(_SERVING_FACT)
    if second and serving != second and (serving is None or not store.vector_counts(serving)[0]):
        store.set_fact(_SERVING_FACT, second)


def record_encoding_complete(store: LocalStore, settings: Settings) -> None:
    """Every chunk has all its vectors: those serve from now on, and all others go."""
    second, wanted = second_phase_version(store, settings), wanted_versions(store, settings)
    if second and store.fact(_SERVING_FACT) != second:
        store.set_fact(_SERVING_FACT, second)
    for version in store.encoders():
        if second and version not in wanted:
            store.forget_vectors(version)
            store.set_fact(f"{_ENCODED_FACT}{version}", None)
