"""The two encoders that travel in the package, their files checked before they are believed."""

import functools
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.encoding.static import StaticEncoder
from dowse.errors import Failed
from dowse.platform import is_arm

if TYPE_CHECKING:
    from dowse.encoding.minilm import MiniLM

STATIC_VERSION = "dowse-static-1"
MINILM_VERSION = "dowse-minilm-1"

MODELS_FOLDER = Path(__file__).with_name("models")
HASHES_FILE = MODELS_FOLDER / "sha256.json"
"""The SHA-256 of each file, written by `training/ship.py`."""


@functools.cache
def static_encoder() -> StaticEncoder:
    """The static encoder, one for the whole process."""
    return open_static(MODELS_FOLDER)


def open_static(models: Path) -> StaticEncoder:
    """The static encoder out of a folder of models that are whole."""
    return StaticEncoder(verify_model(models, "static"), STATIC_VERSION)


def open_minilm(threads: int = 1, models: Path = MODELS_FOLDER, *, in_eight_bits: bool | None = None) -> "MiniLM":
    """Load our MiniLM; unless told otherwise it multiplies in eight bits on ARM, where that is faster, and else in floats."""
    from dowse.encoding.minilm import MiniLM  # brings onnxruntime, which only those pay who encode with it

    folder = verify_model(models, "minilm")
    return MiniLM.from_folder(
        folder, MINILM_VERSION, threads, in_eight_bits=is_arm() if in_eight_bits is None else in_eight_bits
    )


def verify_model(models: Path, name: str) -> Path:
    """The folder of a model whose files all have the SHA-256 they were shipped with."""
    for file, wanted in json.loads(HASHES_FILE.read_text(encoding="utf-8")).items():
        if file.startswith(f"{name}/"):
            try:
                with (models / file).open("rb") as stream:
                    found = hashlib.file_digest(stream, "sha256").hexdigest()
            except OSError as error:
                raise Failed(f"{models / file} cannot be read ({error.strerror}). Reinstall dowse.") from error
            if found != wanted:
                raise Failed(f"{models / file} is not as it was shipped. Reinstall dowse.")
    return models / name
