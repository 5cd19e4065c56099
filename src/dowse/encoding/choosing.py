"""Which encoders the settings ask for, and how to get them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from dowse.encoding.shipped import MINILM_VERSION, STATIC_VERSION, open_minilm, static_encoder
from dowse.errors import Failed

if TYPE_CHECKING:
    from dowse.settings import Settings
    from dowse.types import Encoder

Say = Callable[[str], None]
"""Told what a user should know while it takes long: for stderr or a log, never for stdout."""


def uses_static(settings: "Settings") -> bool:
    """Whether the static table is used."""
    return settings.encoder != "none"


def second_version(settings: "Settings") -> str | None:
    """The version of the encoder for the second phase, without loading it; None where there is none."""
    if settings.encoder == "none":
        return None
    return MINILM_VERSION if settings.encoder == "dowse" else "minilm-1"


def open_second(settings: "Settings", say: Say, threads: int = 1) -> "Encoder":
    """The encoder for the second phase."""
    version = second_version(settings)
    if version is None:
        raise Failed('There is no encoder: the settings say "encoder": "none".')
    return open_version(version, settings, say, threads)


def open_version(version: str, settings: "Settings", say: Say, threads: int = 1) -> "Encoder":
    """The encoder of a version, or Failed where it can no longer be had."""
    if version == STATIC_VERSION:
        return static_encoder()
    if version == MINILM_VERSION:
        return open_minilm(threads)
    del settings, say
    raise Failed(f"The encoder {version} is not known to this version of dowse.")
