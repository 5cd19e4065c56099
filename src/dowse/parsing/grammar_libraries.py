"""The compiled grammars of the package `semble_grammars`: native libraries, unpacked below the storage root.

Its bundle is one compressed archive, so unpacking one library takes as long as unpacking all (0.25 s). Therefore the
libraries of all languages of a project are unpacked in one pass. Its own loader would do so one by one, does not
notice a damaged library, and takes 60 ms to import.
"""

import ctypes
import hashlib
import json
import os
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.errors import DowseError
from dowse.system.platform import Lock, make_private_folder, storage_root, write_atomically

if TYPE_CHECKING:
    from tree_sitter import Language

UNPACK_WAIT_SECONDS = 10.0
"""How long a process waits for another one that unpacks."""


class GrammarBundle(NamedTuple):
    """The bundle of this platform."""

    archive: Path
    folder: Path
    """Where its libraries are unpacked; private because native code is loaded from there."""
    libraries: dict[str, Any]
    """The file, its checksum and the symbol of each grammar."""


def grammar_folder() -> Path:
    """Return the folder that the grammars are unpacked below."""
    return Path(os.environ.get("SEMBLE_GRAMMARS_CACHE_DIR") or storage_root() / "grammars")


@cache
def find_bundle() -> GrammarBundle | None:
    """Return the bundle, or None if there is none for this platform."""
    spec = find_spec("semble_grammars")
    for folder in spec.submodule_search_locations or () if spec else ():
        for file in Path(folder).glob("grammars/*/manifest.json"):
            manifest = json.loads(file.read_text(encoding="utf-8"))
            is_chosen = "SEMBLE_GRAMMARS_CACHE_DIR" in os.environ
            place = grammar_folder() if is_chosen else grammar_folder() / _version_of(manifest)
            return GrammarBundle(file.parent / manifest["archive"], place / manifest["platform"], manifest["languages"])
    return None


def _version_of(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest["languages"], sort_keys=True).encode()).hexdigest()[:12]


def load_language(name: str) -> "Language | None":
    """Return a grammar, unpacked if it must be; None if the bundle has none of this name or it cannot be loaded."""
    bundle = find_bundle()
    if bundle is None or name not in bundle.libraries:
        return None
    from tree_sitter import Language

    entry = bundle.libraries[name]
    try:
        unpack_libraries([name])
        entry_point = getattr(ctypes.CDLL(str(bundle.folder / entry["file"])), entry["symbol"])
    except (OSError, AttributeError, DowseError):
        return None
    entry_point.restype = ctypes.c_void_p
    make_capsule = ctypes.pythonapi.PyCapsule_New
    make_capsule.restype, make_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return Language(make_capsule(entry_point(), b"tree_sitter.Language", None))


def unpack_libraries(names: Iterable[str]) -> None:
    """Unpack the libraries of these grammars that are missing, and those that are damaged."""
    bundle = find_bundle()
    if bundle is None:
        return
    known = [bundle.libraries[name] for name in names if name in bundle.libraries]
    wanted = {entry["file"]: entry["sha256"] for entry in known}
    if all(_is_whole(bundle.folder / file, digest) for file, digest in wanted.items()):
        return
    make_private_folder(bundle.folder)
    with Lock(bundle.folder / "unpack.lock").held(UNPACK_WAIT_SECONDS):
        missing = {file: digest for file, digest in wanted.items() if not _is_whole(bundle.folder / file, digest)}
        _unpack(bundle, missing)


def _unpack(bundle: GrammarBundle, missing: dict[str, str]) -> None:
    import tarfile  # here because it takes 15 ms, and unpacking is rare

    with tarfile.open(bundle.archive, "r|gz") as tar:
        for member in tar:
            if not missing:
                return
            digest = missing.pop(member.name, None)
            content = tar.extractfile(member) if digest else None
            if content is not None and hashlib.sha256(data := content.read()).hexdigest() == digest:
                write_atomically(bundle.folder / member.name, data, is_durable=False)


def _is_whole(file: Path, digest: str) -> bool:
    """Return whether a library is there and undamaged; comparing takes 1 ms for each megabyte."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() == digest
    except OSError:
        return False
