"""Which encoders the settings ask for, and how to get them."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dowse.encoding import model_locations
from dowse.encoding.shipped import MINILM_VERSION, STATIC_VERSION, open_minilm, static_encoder
from dowse.errors import Failed

if TYPE_CHECKING:
    from dowse.protocols import Encoder
    from dowse.settings import Settings

Say = Callable[[str], object]
"""Told what a user should know while it takes long: for stderr or a log, never for stdout."""


def uses_static(settings: "Settings") -> bool:
    """Whether the static table is used."""
    return settings.encoder != "none"


def model_version(settings: "Settings") -> str | None:
    """The version of the encoder for the second phase, without loading it; None where there is none.

    ModelMissing where the folder that the settings name does not hold the model.
    """
    if settings.encoder == "none":
        return None
    if settings.encoder == "dowse":
        return MINILM_VERSION
    return next((place.version for place in _find_locations(settings)), model_locations.VERSION)


def open_model(settings: "Settings", say: Say, threads: int = 1) -> "Encoder":
    """The encoder for the second phase, downloaded where it has to be; ModelMissing where it cannot be had.

    Its version is the one to go by: where a model cannot be loaded, another place's is taken.
    """
    if settings.encoder == "none":
        raise Failed('There is no encoder: the settings say "encoder": "none".')
    return open_minilm(threads) if settings.encoder == "dowse" else _open_unchanged_minilm(settings, say, threads)


def open_version(version: str, settings: "Settings", say: Say, threads: int = 1) -> "Encoder":
    """The encoder of a version that vectors are kept of; Failed where it is no longer on this machine.

    Downloads only what the settings ask for.
    """
    from dowse.encoding.minilm import MiniLM

    if version == STATIC_VERSION:
        return static_encoder()
    if version == MINILM_VERSION:
        return open_minilm(threads)
    if version == model_version(settings):
        return open_model(settings, say, threads)
    for place in _find_locations(settings):
        if place.version == version:
            return MiniLM.from_folder(place.folder, version, threads)
    raise Failed(f"The encoder {version} is not on this machine.")


def _find_locations(settings: "Settings") -> Iterator[model_locations.ModelLocation]:
    """Where the unchanged model is: in the folder that is named, or else wherever it is found."""
    return (
        iter([model_locations.locate_in_folder(settings.encoder_folder)])
        if settings.encoder_folder
        else model_locations.find_locations()
    )


def _open_unchanged_minilm(settings: "Settings", say: Say, threads: int) -> "Encoder":
    from dowse.encoding.minilm import MiniLM
    from dowse.encoding.model_download import download_model

    for place in _find_locations(settings):
        try:
            return MiniLM.from_folder(place.folder, place.version, threads)
        except Failed as error:
            if settings.encoder_folder:
                raise
            say(f"{error} It is looked for elsewhere.")
    return MiniLM.from_folder(download_model(say), model_locations.VERSION, threads)
