"""The locations of the unchanged all-MiniLM-L6-v2 on this machine."""

import functools
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import ModelMissing
from dowse.system.small_files import read_small_file

MODEL_FILES = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
"""The model files that a folder may contain, full precision first. The eight-bit versions of others are less accurate
than ours."""
TOKENIZER_FILE = "tokenizer.json"
MAX_REFERENCE_BYTES = 4096
VERSION = "minilm-1"
"""The version of the model in full precision, from any of its files: their numbers differ by a millionth."""
MODEL_HASHES = {
    90_387_606: "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e",  # Xenova, onnx/model.onnx
    90_405_214: "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",  # sentence-transformers, the same
}
"""The hashes of the model's files in full precision, by size."""
TOKENIZER_HASHES = {
    711_661: "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",  # Xenova
    466_247: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",  # sentence-transformers
}
REPOSITORIES = ("Xenova/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")
REVISION = "751bff37182d3f1213fa05d7196b954e230abad9"
"""The revision of the first repository that is downloaded."""


@dataclass(frozen=True, slots=True)
class ModelLocation:
    """A folder with the model, and the version of its vectors."""

    folder: Path
    version: str


def locate_in_folder(folder: str) -> ModelLocation:
    """Return the model in the folder that the settings name, or raise ModelMissing; no other folder is searched."""
    location = _check_folder(Path(folder))
    if location is None:
        raise ModelMissing(
            f"encoderFolder {folder} does not contain the complete model: {MODEL_FILES[0]} and {TOKENIZER_FILE}. Correct config.json."
        )
    return location


def find_locations() -> Iterator[ModelLocation]:
    """Yield the locations of the model in the caches of this machine, best first."""
    for folder in _cached_folders():
        location = _check_folder(folder)
        if location is not None:
            yield location


def hub_cache() -> Path:
    """Return the folder in which the Hugging Face tools keep downloads."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if folder := os.environ.get(name):
            return Path(folder).expanduser()
    return _hf_home() / "hub"


def snapshot_folder() -> Path:
    """Return the folder of dowse's own download, in which the Hugging Face tools look, too."""
    return hub_cache() / f"models--{REPOSITORIES[0].replace('/', '--')}" / "snapshots" / REVISION


def sha256(file: Path) -> str:
    """Return a file's hash, cached until the file changes."""
    seen = file.stat()
    return _sha256(file, seen.st_size, seen.st_mtime_ns, seen.st_ino)


def _hf_home() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("HF_HOME") or Path(cache) / "huggingface").expanduser()


def _cached_folders() -> Iterator[Path]:
    """Yield the folders of the caches. The folder of our own download is first, so that it replaces damaged copies."""
    yield snapshot_folder()
    for repository in REPOSITORIES:
        folder = hub_cache() / f"models--{repository.replace('/', '--')}"
        try:
            newest = read_small_file(folder / "refs" / "main", MAX_REFERENCE_BYTES, follows_links=True).decode().strip()
            revisions = sorted(snapshot.name for snapshot in (folder / "snapshots").iterdir())
        except (OSError, UnicodeDecodeError):
            continue
        for name in sorted(revisions, key=lambda revision: revision != newest):
            yield folder / "snapshots" / name
    for repository in REPOSITORIES:
        yield _hf_home() / repository  # the layout of older transformers.js, without revisions


def _check_folder(folder: Path) -> ModelLocation | None:
    """Return the location of the model if a folder has it complete and undamaged."""
    try:
        file = find_model_file(folder)
        version = _identify_version(file, folder / TOKENIZER_FILE) if file else None
    except OSError:  # no permission, or removed meanwhile
        return None
    return ModelLocation(folder, version) if version else None


def _identify_version(file: Path, tokenizer: Path) -> str | None:
    """Return the version of the vectors; None for a damaged file, which has a known size and another hash."""
    is_known = True
    for path, hashes in ((file, MODEL_HASHES), (tokenizer, TOKENIZER_HASHES)):
        expected = hashes.get(path.stat().st_size)
        if expected and sha256(path) != expected:
            return None
        is_known = is_known and expected is not None
    return (
        VERSION
        if is_known
        else f"minilm-{hashlib.sha256((sha256(file) + sha256(tokenizer)).encode()).hexdigest()[:12]}"
    )


@functools.lru_cache(maxsize=64)
def _sha256(file: Path, size: int, mtime_ns: int, inode: int) -> str:  # noqa: ARG001 - they are the key of the cache
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def find_model_file(folder: Path) -> Path | None:
    """Return the model file of a folder, if the folder has a model and a tokenizer."""
    if not (folder / TOKENIZER_FILE).is_file():
        return None
    return next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
