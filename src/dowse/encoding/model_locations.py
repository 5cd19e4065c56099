"""The files of the unchanged all-MiniLM-L6-v2, and where they are on this machine."""

import functools
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import ModelMissing

VERSION = "minilm-1"
REPOSITORY = "Xenova/all-MiniLM-L6-v2"
REVISION = "751bff37182d3f1213fa05d7196b954e230abad9"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of the repository, with its expected size and hash."""

    path: str
    size: int
    sha256: str

    def is_at(self, file: Path) -> bool:
        """Return whether a file is there and undamaged."""
        try:
            seen = file.stat()
            return seen.st_size == self.size and _sha256(file, seen.st_mtime_ns, seen.st_ino) == self.sha256
        except OSError:
            return False


FILES = (
    ModelFile("tokenizer.json", 711_661, "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"),
    ModelFile("onnx/model.onnx", 90_387_606, "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e"),
)
"""The pinned files; any other content is refused, wherever it comes from."""


def find_model(folder: str | None) -> Path | None:
    """Return the folder with the model: the one that the settings name, or else that of the Hugging Face cache if it is there.

    Raise ModelMissing if the settings name a folder without the model; no other folder is searched then.
    """
    place = Path(folder) if folder else snapshot_folder()
    if all(one.is_at(place / one.path) for one in FILES):
        return place
    if folder:
        raise ModelMissing(
            f"encoderFolder {folder} does not contain {' and '.join(one.path for one in FILES)} of {REPOSITORY}. "
            "Correct config.json."
        )
    return None


def snapshot_folder() -> Path:
    """Return the folder of the model in the cache of the Hugging Face tools."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or Path(home, "hub")).expanduser()
    return cache / f"models--{REPOSITORY.replace('/', '--')}" / "snapshots" / REVISION


@functools.lru_cache(maxsize=64)
def _sha256(file: Path, mtime_ns: int, inode: int) -> str:  # noqa: ARG001 - they are the key of the cache
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
