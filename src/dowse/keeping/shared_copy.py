"""A copy of a shared index on this machine, for a server without a checkout.

Each version is a folder of its own with the files of its commit, so that a request is about one version from its
beginning to its end. The folders are a cache: whatever is removed is fetched again.
"""

import contextlib
import hashlib
import shutil
import threading
from pathlib import Path

from dowse.errors import DowseError
from dowse.indexes.index import ProjectIndex
from dowse.keeping.service import Service
from dowse.platform import Lock, make_private_folder, storage_root
from dowse.sharing.object_place import ObjectPlace
from dowse.sharing.origin import record_origin
from dowse.sharing.packed_index import fetch_files, fetch_index
from dowse.sharing.place_lookup import open_place
from dowse.sharing.shared_version import SharedVersion, require_version
from dowse.store.storage_layout import index_folder
from dowse.types import Batch

FETCH_WAIT_SECONDS = 600.0
CHECK_SECONDS = 30.0
"""Time between two looks at the place for a newer version."""
OLD_SECONDS = 120.0
"""How long requests may go on with the version before."""
_COMPLETE = "complete"


class SharedCopy:
    """The current version of a shared index, as a folder with files and an index of it."""

    def __init__(self, location: str) -> None:
        self._place = open_place(location)
        self._version = require_version(self._place)
        self.root = prepare_version(self._place, self._version)
        self._ended = threading.Event()

    def follow(self, service: Service) -> None:
        """Serve each newer version once it is here."""

        def run() -> None:
            while not self._ended.wait(CHECK_SECONDS):
                self.refresh(service)

        threading.Thread(target=run, daemon=True, name="shared index").start()

    def refresh(self, service: Service) -> None:
        """Serve the current version. If the place cannot be reached, the version that is here goes on serving."""
        try:
            version = require_version(self._place)
            if version.number != self._version.number or version.commit != self._version.commit:
                root = prepare_version(self._place, version)
                service.replace(self.root, root, OLD_SECONDS)
                self._version, self.root = version, root
            service.warnings[:] = [warning for warning in service.warnings if self._place.name not in warning]
        except DowseError as error:
            problem = f"The version of {self._version.published} is served: {error}"
            if problem not in service.warnings:
                service.warnings.append(problem)

    def close(self) -> None:
        """End following."""
        self._ended.set()


def prepare_version(place: ObjectPlace, version: SharedVersion) -> Path:
    """Return the folder with the files of a version; fetch them and their index if they are not here."""
    storage = storage_root()  # which is never a project: the files lie beside it
    base = storage.with_name(f"{storage.name}-shared") / hashlib.sha256(place.name.encode()).hexdigest()[:16]
    make_private_folder(base)
    home = base / f"{version.number:06d}-{version.commit[:12]}"
    root = home / (Path(version.project).name or "project")
    with Lock(base / "fetch.lock").held(FETCH_WAIT_SECONDS):
        if (home / _COMPLETE).exists() and (index_folder(root) / "catalog.sqlite").exists():
            return root
        _remove_version(home)
        make_private_folder(root)
        try:
            _fetch_version(place, version, root)
        except BaseException:
            _remove_version(home)
            raise
        (home / _COMPLETE).touch()
        _remove_older(base, home)
    return root


def _fetch_version(place: ObjectPlace, version: SharedVersion, root: Path) -> None:
    """Put the files of a version into an empty folder, and its index into the storage."""
    touches = fetch_files(place, version, root)
    folder = index_folder(root.resolve())
    fetch_index(place, version, folder, with_settings=True)
    record_origin(folder, place, version)
    with contextlib.closing(ProjectIndex(root)) as index:
        index.whole.apply(Batch(touches=touches))
        index.settle()


def _remove_older(base: Path, current: Path) -> None:
    """Remove all versions but the current one and the one before it."""
    versions = sorted((home for home in base.iterdir() if home.is_dir() and home != current), reverse=True)
    for home in versions[1:]:
        _remove_version(home)


def _remove_version(home: Path) -> None:
    """Remove the files of a version and their index."""
    for root in home.glob("*"):
        shutil.rmtree(index_folder(root), ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)
