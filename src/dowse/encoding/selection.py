"""The encoders that the settings select, and how to open them."""

import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dowse.encoding import model_locations
from dowse.encoding.static import StaticEncoder
from dowse.errors import Failed
from dowse.memory_plan import is_memory_small
from dowse.system.platform import multiplies_eight_bits

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


class OpenFolder(Protocol):
    """Loads the model of a folder: into this process, or into one of its own. Raises Failed when it cannot be used."""

    def __call__(self, folder: Path, version: str, threads: int = 1, *, in_eight_bits: bool = True) -> "Encoder":
        """Load a model that encodes as many batches at a time as there are threads."""
        ...


def open_here(folder: Path, version: str, threads: int = 1, *, in_eight_bits: bool = True) -> "MiniLM":
    """Load the model of a folder into this process."""
    from dowse.encoding.minilm import MiniLM  # here because it imports onnxruntime

    return MiniLM.from_folder(folder, version, threads, in_eight_bits=in_eight_bits)


def open_minilm(threads: int = 1, models: Path = MODELS_FOLDER, *, in_eight_bits: bool | None = None) -> "MiniLM":
    """Open our MiniLM in this process. By default it multiplies in eight bits where that is faster, and else in floats."""
    if in_eight_bits is None:
        in_eight_bits = multiplies_eight_bits()
    return open_here(verify_model(models, "minilm"), MINILM_VERSION, threads, in_eight_bits=in_eight_bits)


def _open_ours(threads: int, open_folder: OpenFolder) -> "Encoder":
    folder = verify_model(MODELS_FOLDER, "minilm")
    return open_folder(folder, MINILM_VERSION, threads, in_eight_bits=multiplies_eight_bits())


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


def open_model(settings: "Settings", say: Say, threads: int = 1, open_folder: OpenFolder = open_here) -> "Encoder":
    """Open the model for the second phase, and download it if necessary. Raise ModelMissing when that fails."""
    if settings.encoder == "none":
        raise Failed('There is no encoder: "encoder" is "none" in the settings.')
    if settings.encoder == "dowse":
        return _open_ours(threads, open_folder)
    from dowse.encoding.model_download import download_model

    folder = model_locations.find_model(settings.encoder_folder) or download_model(say)
    return open_folder(folder, model_locations.VERSION, threads)


def open_version(
    version: str, settings: "Settings", say: Say, threads: int = 1, open_folder: OpenFolder = open_here
) -> "Encoder":
    """Open the encoder of a version. Raise Failed when it is no longer on this machine.

    Only the model that the settings select is downloaded.
    """
    if version == STATIC_VERSION:
        return static_encoder()
    if version == MINILM_VERSION:
        return _open_ours(threads, open_folder)
    if version == model_version(settings):
        return open_model(settings, say, threads, open_folder)
    folder = model_locations.find_model(settings.encoder_folder) if version == model_locations.VERSION else None
    if folder is None:
        raise Failed(f"The encoder {version} is not on this machine.")
    return open_folder(folder, version, threads)
