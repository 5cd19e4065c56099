"""The encoders that the settings select, and how to open them."""

import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.encoding import model_locations
from dowse.encoding.static import StaticEncoder
from dowse.errors import Failed
from dowse.memory_plan import is_memory_small

if TYPE_CHECKING:
    from dowse.encoding.minilm import MiniLM
    from dowse.protocols import Encoder
    from dowse.settings import Settings

STATIC_VERSION = "dowse-static-2"
MINILM_VERSION = "dowse-minilm-2"

MODELS_FOLDER = Path(__file__).with_name("models")
HASHES_FILE = MODELS_FOLDER / "sha256.json"
"""The SHA-256 of each file, written by `training/ship.py`."""


@functools.cache
def static_encoder() -> StaticEncoder:
    """Return the static encoder, which is shared in the process."""
    return open_static(MODELS_FOLDER)


def open_static(models: Path) -> StaticEncoder:
    """Open the static encoder in a folder of models and verify its files."""
    return StaticEncoder(verify_model(models, "static"), STATIC_VERSION)


OpenFolder = Callable[[Path, str, int], "Encoder"]
"""Loads the model of a folder, for a version and a number of threads: into this process, or into one of its own."""


def open_here(folder: Path, version: str, threads: int = 1) -> "MiniLM":
    """Load the model of a folder into this process."""
    from dowse.encoding.minilm import MiniLM  # here because it imports onnxruntime

    return MiniLM.from_folder(folder, version, threads)


def open_minilm(threads: int = 1, models: Path = MODELS_FOLDER) -> "MiniLM":
    """Open our MiniLM in this process."""
    return open_here(verify_model(models, "minilm"), MINILM_VERSION, threads)


def verify_model(models: Path, name: str) -> Path:
    """Return the folder of a model, or raise Failed if a file differs from the SHA-256 that it was shipped with."""
    try:
        hashes = dict(json.loads(HASHES_FILE.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise Failed(f"{HASHES_FILE} cannot be read ({error}). Reinstall dowse.") from error
    for file, expected in hashes.items():
        if file.startswith(f"{name}/"):
            try:
                with (models / file).open("rb") as stream:
                    found = hashlib.file_digest(stream, "sha256").hexdigest()
            except OSError as error:
                raise Failed(f"{models / file} cannot be read ({error.strerror}). Reinstall dowse.") from error
            if found != expected:
                raise Failed(f"{models / file} differs from the shipped file. Reinstall dowse.")
    return models / name


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
    if settings.encoder_folder:
        model_locations.find_model(settings.encoder_folder)
    return model_locations.VERSION


def open_version(
    version: str, settings: "Settings", say: Say, threads: int = 1, open_folder: OpenFolder = open_here
) -> "Encoder":
    """Open the encoder of a version. Raise Failed when it is no longer on this machine.

    Only the model that the settings select is downloaded; raise ModelMissing when that fails.
    """
    if version == STATIC_VERSION:
        return static_encoder()
    if version == MINILM_VERSION:
        return open_folder(verify_model(MODELS_FOLDER, "minilm"), version, threads)
    folder = model_locations.find_model(settings.encoder_folder) if version == model_locations.VERSION else None
    if folder is None and version == model_version(settings):
        from dowse.encoding.model_download import download_model

        folder = download_model(say)
    if folder is None:
        raise Failed(f"The encoder {version} is not on this machine.")
    return open_folder(folder, version, threads)
