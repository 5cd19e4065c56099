"""The two encoders that are part of the package. Their files are verified before use."""

import functools
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.encoding.static import StaticEncoder
from dowse.errors import Failed
from dowse.platform import multiplies_eight_bits

if TYPE_CHECKING:
    from dowse.encoding.minilm import MiniLM

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


def open_minilm(threads: int = 1, models: Path = MODELS_FOLDER, *, in_eight_bits: bool | None = None) -> "MiniLM":
    """Open our MiniLM. By default it multiplies in eight bits where that is faster, and else in floats."""
    from dowse.encoding.minilm import MiniLM  # here because it imports onnxruntime

    folder = verify_model(models, "minilm")
    if in_eight_bits is None:
        in_eight_bits = multiplies_eight_bits()
    return MiniLM.from_folder(folder, MINILM_VERSION, threads, in_eight_bits=in_eight_bits)


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
