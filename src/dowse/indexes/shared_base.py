"""The shared index with which an index begins, and from which it takes vectors of content that both have."""

import contextlib
import sqlite3
import tempfile
from pathlib import Path

from dowse.encoding.packing import unpack_vector
from dowse.errors import ModelMissing
from dowse.indexes.encoding_progress import lacks_vectors, wanted_versions
from dowse.settings import Settings
from dowse.sharing.packed_index import fetch_index
from dowse.sharing.place_lookup import open_place
from dowse.sharing.shared_version import require_version
from dowse.store.local import LocalStore
from dowse.store.store_files import CATALOG_FILE, SHARED_PREFIX

PAGE_VECTORS = 1000
_FACT = "shared version"
"""The fact that names the version whose vectors were taken."""
_COMMON_VECTORS = """
    SELECT here.id, there.vector FROM own.chunks AS here
    JOIN main.vectors AS there ON there.encoder = ? AND there.input_hash = here.input_hash AND NOT there.is_borrowed
    WHERE NOT EXISTS (SELECT 1 FROM own.vectors AS known WHERE known.encoder = there.encoder
        AND known.input_hash = here.input_hash AND NOT known.is_borrowed)
"""


def begin_with_shared_index(folder: Path, location: str) -> None:
    """Put the current version of a shared index into the folder of an index that does not exist yet."""
    place = open_place(location)
    fetch_index(place, require_version(place), folder, with_settings=False)


def take_vectors(store: LocalStore, settings: Settings, location: str) -> int:
    """Take the missing vectors of content that a newer version of the shared index has; return how many."""
    versions: tuple[str, ...] = ()
    with contextlib.suppress(ModelMissing):
        versions = wanted_versions(store, settings)
    lacking = [version for version in versions if lacks_vectors(store, version)]
    if not lacking:
        return 0
    place = open_place(location)
    current = require_version(place)
    name = f"{place.name} {current.number} {current.commit}"
    if store.fact(_FACT) == name:
        return 0
    taken = 0
    with tempfile.TemporaryDirectory(prefix=SHARED_PREFIX, dir=store.folder) as temporary:
        fetch_index(place, current, Path(temporary), with_settings=False)
        with contextlib.closing(sqlite3.connect(Path(temporary) / CATALOG_FILE)) as shared:
            shared.execute("ATTACH ? AS own", (str(store.folder / CATALOG_FILE),))
            for version in lacking:
                rows = shared.execute(_COMMON_VECTORS, (version,)).fetchall()
                for start in range(0, len(rows), PAGE_VECTORS):
                    page = [(chunk, unpack_vector(vector)) for chunk, vector in rows[start : start + PAGE_VECTORS]]
                    store.put_vectors(version, page)
                taken += len(rows)
    store.set_fact(_FACT, name)
    return taken
