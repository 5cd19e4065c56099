"""The encoders that the settings select, and how to open them."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dowse.encoding import model_locations
from dowse.encoding.shipped import MINILM_VERSION, STATIC_VERSION, open_minilm, static_encoder
from dowse.errors import Failed
from dowse.memory_plan import is_memory_small

if TYPE_CHECKING:
    from dowse.protocols import Encoder
    from dowse.settings import Settings

Say = Callable[[str], object]
"""A function that shows a progress message to the user: on stderr or in a log, never on stdout."""


def uses_static(settings: "Settings") -> bool:
    """Return whether the static table is used."""
    return settings.encoder != "none"


def uses_model(settings: "Settings") -> bool:
    """Return whether a model is used: not where memory is short, since its process alone takes 130 MB."""
    return settings.encoder != "none" and not is_memory_small()


def model_version(settings: "Settings") -> str | None:
    """Return the version of the model for the second phase without loading it; None when no model is used.

    Raise ModelMissing when the folder that the settings name does not contain the model.
    """
    if not uses_model(settings):
        return None
    if settings.encoder == "dowse":
        return MINILM_VERSION
    return next((location.version for location in _find_locations(settings)), model_locations.VERSION)


def open_model(settings: "Settings", say: Say, threads: int = 1) -> "Encoder":
    """Open the model for the second phase, and download it if necessary. Raise ModelMissing when that fails.

    Use the version of the result: when a model cannot be loaded, one from another location is opened.
    """
    if settings.encoder == "none":
        raise Failed('There is no encoder: "encoder" is "none" in the settings.')
    return open_minilm(threads) if settings.encoder == "dowse" else _open_unchanged_minilm(settings, say, threads)


def open_version(version: str, settings: "Settings", say: Say, threads: int = 1) -> "Encoder":
    """Open the encoder of a version. Raise Failed when it is no longer on this machine.

    Only the model that the settings select is downloaded.
    """
    from dowse.encoding.minilm import MiniLM

    if version == STATIC_VERSION:
        return static_encoder()
    if version == MINILM_VERSION:
        return open_minilm(threads)
    if version == model_version(settings):
        return open_model(settings, say, threads)
    for location in _find_locations(settings):
        if location.version == version:
            return MiniLM.from_folder(location.folder, version, threads)
    raise Failed(f"The encoder {version} is not on this machine.")


def _find_locations(settings: "Settings") -> Iterator[model_locations.ModelLocation]:
    """Return the locations of the unchanged model: the folder in the settings, or else all that are found."""
    return (
        iter([model_locations.locate_in_folder(settings.encoder_folder)])
        if settings.encoder_folder
        else model_locations.find_locations()
    )


def _open_unchanged_minilm(settings: "Settings", say: Say, threads: int) -> "Encoder":
    from dowse.encoding.minilm import MiniLM
    from dowse.encoding.model_download import download_model

    for location in _find_locations(settings):
        try:
            return MiniLM.from_folder(location.folder, location.version, threads)
        except Failed as error:
            if settings.encoder_folder:
                raise
            say(f"{error} Trying another location.")
    return MiniLM.from_folder(download_model(say), model_locations.VERSION, threads)
