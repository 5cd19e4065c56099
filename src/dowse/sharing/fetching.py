"""Getting a version of a shared index onto this machine."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dowse.platform import disk_errors, make_private_folder
from dowse.sharing.bounded_zip import MAX_BYTES
from dowse.sharing.object_place import ObjectPlace
from dowse.sharing.packed_index import unpack_files, unpack_index
from dowse.sharing.shared_version import SharedVersion
from dowse.store.replacement import FETCHED_PREFIX
from dowse.types import Stat


def fetch_index(place: ObjectPlace, version: SharedVersion, folder: Path, *, with_settings: bool) -> None:
    """Put the index of a version into a folder, in place of the index there."""
    make_private_folder(folder)
    with _fetched(place, version.packed_index, folder) as packed:
        unpack_index(packed, folder, with_settings=with_settings)


def fetch_files(place: ObjectPlace, version: SharedVersion, root: Path) -> list[tuple[str, Stat]]:
    """Write the files of a version below an empty folder; return their paths and stats."""
    with _fetched(place, version.packed_files, root.parent) as packed:
        return unpack_files(packed, root)


@contextlib.contextmanager
def _fetched(place: ObjectPlace, key: str, folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=FETCHED_PREFIX, dir=folder) as temporary:
        packed = Path(temporary) / "packed.zip"
        with disk_errors(packed):
            place.download(key, packed, MAX_BYTES)
        yield packed
