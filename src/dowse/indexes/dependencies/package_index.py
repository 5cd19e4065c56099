"""The index of one package and version, which all projects of this machine share."""

import contextlib
import hashlib
import json
import shutil
from pathlib import Path

from dowse.errors import NotWritable, SettingsError
from dowse.indexes.dependencies.package_files import JarFiles, PackageFiles, package_settings
from dowse.indexes.dependencies.package_types import Package
from dowse.indexes.index import ProjectIndex
from dowse.indexes.user_settings import user_settings
from dowse.settings import read_json, settings_stamp
from dowse.sources.project_files import ProjectFiles
from dowse.store.storage_layout import folder_size, last_used
from dowse.system.platform import Lock, storage_root, write_atomically
from dowse.types import Entry, View
from dowse.visible_text import shown_name

FORMAT = "3"
"""Changes with the files that an index of a package has."""

MAX_COPIES = 5_000
"""Copies of packages whose listings are kept."""
SEPARATOR = " · "
"""Stands between a package and a path in it, where hits are shown."""


def packages_folder() -> Path:
    """Return the folder with the indexes of all packages."""
    return storage_root() / "dependencies"


def package_folder(package: Package, listing: str | None) -> Path:
    """Return the folder of the index of a package whose copy has a listing, whether or not it exists."""
    key = "\0".join((FORMAT, package.ecosystem, package.name, package.version, listing or f"unknown {package.root}"))
    shown = "".join(letter if letter.isalnum() else "-" for letter in package.label)[:60]
    return packages_folder() / f"{shown}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


class PackageCopies:
    """The listings of the copies of packages: a copy with other files than another has an index of its own.

    So a copy that lacks files cannot hide those of others. They are kept in a file, since a walk takes long.
    """

    def __init__(self) -> None:
        self._file = packages_folder() / "copies.json"
        self._known: dict[str, str] = {}
        self._stamp: tuple[int, ...] | None = None

    def listing(self, package: Package) -> str | None:
        """Return the listing of a copy as it was last seen; None if it is new or was installed again since."""
        stamp = settings_stamp([self._file])
        if stamp != self._stamp:
            self._known, self._stamp = {}, stamp
            with contextlib.suppress(SettingsError, OSError):
                found = read_json(self._file)
                self._known = {key: str(value) for key, value in found.items()} if isinstance(found, dict) else {}
        return self._known.get(_copy_key(package))

    def look_at(self, package: Package, source: ProjectFiles) -> None:
        """Record the paths and sizes of the files of a copy."""
        digest = hashlib.sha256()
        for one in source.entries():
            if isinstance(one, Entry):
                digest.update(f"{one.path}\0{one.stat.size}\0".encode("utf-8", "surrogateescape"))
        self.listing(package)
        kept = dict(list(self._known.items())[-MAX_COPIES:])
        write_atomically(self._file, json.dumps({**kept, _copy_key(package): digest.hexdigest()}).encode())


def _copy_key(package: Package) -> str:
    place = package.root / package.metadata
    try:
        return f"{place}\0{place.stat().st_mtime_ns}"
    except OSError:
        return ""


class PackageIndex(ProjectIndex):
    """The index of one package, made from one of its copies and compared with the copy that a project has."""

    def __init__(self, package: Package, listing: str | None) -> None:
        self.package = package
        self._open(package.root, package_folder(package, listing), View.PROJECT)
        self.settings = package_settings(user_settings(package.root))

    def shown_path(self, path: str) -> str:
        """Return a path of the package as hits show it: `httpx 0.28.1 · httpx/_client.py`."""
        return f"{self.package.label}{SEPARATOR}{shown_name(path)}"

    def _make_source(self, views: View) -> ProjectFiles:  # noqa: ARG002 - a package is code, and its documentation
        return (JarFiles if self._is_jar else PackageFiles)(self.package, self.settings)

    @property
    def _is_jar(self) -> bool:
        return self.package.root.suffix == ".jar"

    def shows(self, path: str) -> bool:
        """Return whether the package still has a file; one in a jar is in no folder."""
        return self._is_jar or super().shows(path)

    def _write_settings(self) -> None:
        """Write nothing: a package has no settings of its own."""


def limit_size(max_bytes: int) -> int:
    """Remove the indexes that were not used for longest until all are within a limit; return how many."""
    folders = (
        [folder for folder in packages_folder().iterdir() if folder.is_dir()] if packages_folder().is_dir() else []
    )
    sizes, removed = {folder: folder_size(folder) for folder in folders}, 0
    total = sum(sizes.values())
    for folder in sorted(folders, key=last_used):
        if total <= max_bytes:
            break
        turn = Lock(folder / "index.lock")
        with contextlib.suppress(NotWritable, OSError):
            if turn.try_acquire():
                shutil.rmtree(folder, ignore_errors=True)
                turn.release()
                total, removed = total - sizes[folder], removed + 1
    return removed
