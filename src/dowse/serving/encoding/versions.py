"""Whose vectors an index has, which of them serve, and which are still to be made.

Notes in the store: `encoder`, whose vectors serve; for each encoder the chunk up to which none lacks one.
"""

from dowse.encoding.choosing import second_version, uses_static
from dowse.encoding.shipped import STATIC_VERSION
from dowse.settings import Settings
from dowse.store.local import LocalStore
from dowse.types import Store

_SERVES = "encoder"
_ENCODED = "encoded to:"


def wanted_versions(settings: Settings) -> tuple[str, ...]:
    """The encoders whose vectors every chunk is to have, in the order in which they are made."""
    static = (STATIC_VERSION,) if uses_static(settings) else ()
    second = second_version(settings)
    return (*static, second) if second else static


def serving_version(store: Store, settings: Settings) -> str | None:
    """The encoder of the second phase whose vectors answer; None where the settings want none.

    After a change of the settings it is the old one, until the new one has a vector for every chunk: the two are
    never compared. Where the settings want none the vectors are kept, for the next change of mind.
    """
    second = second_version(settings)
    return (store.noted(_SERVES) or second) if second else None


def lacking_version(store: LocalStore, settings: Settings) -> str | None:
    """The first encoder of those wanted that some chunk has no vector of; looks only at chunks that are new."""
    return next((version for version in wanted_versions(settings) if lacks(store, version)), None)


def lacks(store: LocalStore, version: str) -> bool:
    """Whether some chunk has no vector of its own of an encoder."""
    return bool(store.without_vectors(version, 1, after=encoded_to(store, version)))


def encoded_to(store: Store, version: str) -> int:
    """The chunk up to which all have a vector of an encoder."""
    return int(store.noted(f"{_ENCODED}{version}") or 0)


def note_encoded_to(store: Store, version: str, chunk: int) -> None:
    """Remember up to which chunk none lacks a vector, so that they are not looked at again."""
    if chunk > encoded_to(store, version):
        store.note(f"{_ENCODED}{version}", str(chunk))


def note_begin(store: LocalStore, settings: Settings) -> None:
    """The vectors that are made now serve at once, unless there are some of another encoder that can go on serving."""
    second, serving = second_version(settings), store.noted(_SERVES)
    if second and serving != second and (serving is None or not store.vector_counts(serving)[0]):
        store.note(_SERVES, second)


def note_complete(store: LocalStore, settings: Settings) -> None:
    """Every chunk has all its vectors: those serve from now on, and all others go."""
    second, wanted = second_version(settings), wanted_versions(settings)
    if second and store.noted(_SERVES) != second:
        store.note(_SERVES, second)
    for version in store.encoders():
        if second and version not in wanted:
            store.forget_vectors(version)
            store.note(f"{_ENCODED}{version}", None)
