"""The libraries of the compiled grammars, unpacked from their bundle below the storage root.

The bundle is one compressed archive, so unpacking one library takes as long as unpacking all (0.25 s). Therefore the
libraries of all languages of a project are unpacked in one pass.
"""

import contextlib
import hashlib
import json
import tarfile
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

from dowse.errors import DowseError
from dowse.platform import Lock, make_private_folder, storage_root, write_atomically

UNPACK_WAIT_SECONDS = 10.0
"""How long a process waits for another one that unpacks."""


def library_folder(version: str) -> Path:
    """Return the folder of the unpacked libraries; it is private because native code is loaded from there."""
    folder = storage_root() / "grammars" / version
    make_private_folder(folder)
    return folder


def unpack_libraries(bundle: Any, names: Iterable[str]) -> None:
    """Unpack the libraries of these grammars that are missing, and those that are damaged.

    Where this fails, the bundle unpacks each library by itself when it is loaded.
    """
    with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError, OSError, tarfile.TarError, DowseError):
        manifest, archive = _read_manifest(bundle)
        folder = library_folder(bundle.__version__) / manifest["platform"]
        known = manifest["languages"]
        wanted = {known[name]["file"]: known[name]["sha256"] for name in names if name in known}
        if all(_is_whole(folder / file, digest) for file, digest in wanted.items()):
            return
        make_private_folder(folder)
        with Lock(folder / "unpack.lock").held(UNPACK_WAIT_SECONDS):
            missing = {file: digest for file, digest in wanted.items() if not _is_whole(folder / file, digest)}
            _unpack(archive, folder, missing)


def _unpack(archive: Path, folder: Path, missing: dict[str, str]) -> None:
    with tarfile.open(archive, "r|gz") as tar:
        for member in tar:
            if not missing:
                return
            digest = missing.pop(member.name, None)
            content = tar.extractfile(member) if digest else None
            if content is not None and hashlib.sha256(data := content.read()).hexdigest() == digest:
                write_atomically(folder / member.name, data)


def _is_whole(file: Path, digest: str) -> bool:
    """Return whether a library is there and undamaged; comparing takes 1 ms for each megabyte."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() == digest
    except OSError:
        return False


def _read_manifest(bundle: Any) -> tuple[dict[str, Any], Path]:
    folder = resources.files(bundle) / "grammars" / bundle.loader._platform_tag()
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return manifest, Path(str(folder / manifest["archive"]))
