"""Publishing: the index of a commit, made from the version before and the files that differ from it.

One process at a time publishes to a place. The place itself decides, by writing a lease only if there is none. Its owner
renews it while it works; the lease of a process that was killed expires, and another one takes it over.
"""

import contextlib
import json
import os
import platform
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from dowse.encoding_worker.encode_now import encode_now
from dowse.errors import DowseError, Failed, StoreBusy
from dowse.freshness.indexer import text_reader
from dowse.freshness.scan import RECIPE
from dowse.history.git_objects import find_repository, open_objects
from dowse.indexes.encoding_progress import wanted_versions
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import close_log
from dowse.indexes.reference_lookup import read_missing_references
from dowse.platform import Lock, disk_errors, make_private_folder, storage_root
from dowse.publishing.commit_files import write_commit_files
from dowse.sharing.object_place import ObjectPlace
from dowse.sharing.packed_index import fetch_index, pack_files, pack_index
from dowse.sharing.shared_version import PACKED_FOLDER, SharedVersion, read_version, write_version
from dowse.store.lance_tables import SHARED_RECORD_FILE, write_tables_to
from dowse.store.storage_layout import index_folder
from dowse.types import KINDS, Progress

LEASE_OBJECT = "writer.json"
LEASE_SECONDS = 60.0
RENEWAL_SECONDS = 15.0
POLL_SECONDS = 1.0


class Owner(NamedTuple):
    """The process that publishes, and the commit that it publishes."""

    name: str
    commit: str
    until: float


def require_conditions(place: ObjectPlace) -> None:
    """Raise Failed if the place does not honour conditions: two writers would overwrite each other there."""
    key = f"probe-{os.urandom(8).hex()}"
    try:
        is_written = place.write(key, b"1", replaces=None) is not None
        is_overwritten = place.write(key, b"2", replaces=None) is not None
    finally:
        with contextlib.suppress(DowseError):
            place.remove(key)
    if not is_written or is_overwritten:
        raise Failed(
            f"{place.name} cannot be published to: it ignores the condition If-None-Match of a write, "
            "so that two writers would overwrite each other. Use a store with conditional writes."
        )


@contextlib.contextmanager
def writer_lease(
    place: ObjectPlace, commit: str, wait_seconds: float, say: Callable[[str], None]
) -> Iterator[Callable[[], None]]:
    """Hold the lease for a block, which gets a function that raises StoreBusy once the lease is lost."""
    tag = _acquire(place, commit, wait_seconds, say)
    held = [tag]
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(RENEWAL_SECONDS):
            with contextlib.suppress(DowseError):  # the store may be away for a moment; the lease may be lost then
                held[0] = place.write(LEASE_OBJECT, _lease(commit), replaces=held[0] or "") or ""

    def require() -> None:
        if not held[0]:
            raise StoreBusy(f"Another process has begun to publish to {place.name}. Nothing was changed; try again.")

    renewing = threading.Thread(target=renew, daemon=True, name="lease")
    renewing.start()
    try:
        yield require
    finally:
        ended.set()
        renewing.join()
        if held[0]:
            with contextlib.suppress(DowseError):
                place.remove(LEASE_OBJECT)


def _acquire(place: ObjectPlace, commit: str, wait_seconds: float, say: Callable[[str], None]) -> str:
    deadline, is_said = time.monotonic() + wait_seconds, False
    while True:
        found = place.read(LEASE_OBJECT)
        owner = _owner(found.data) if found else None
        if owner is None or owner.until < time.time():
            if tag := place.write(LEASE_OBJECT, _lease(commit), replaces=found.tag if found else None):
                return tag
            continue  # another process was faster
        message = f"{owner.name} publishes commit {owner.commit[:12]} to {place.name}"
        if time.monotonic() >= deadline:
            raise StoreBusy(f"{message}. Wait until it has ended, then try again.")
        if not is_said:
            say(f"dowse: {message}; waiting for it.")
            is_said = True
        time.sleep(POLL_SECONDS)


def _lease(commit: str) -> bytes:
    owner = Owner(f"{platform.node()}, process {os.getpid()}", commit, time.time() + LEASE_SECONDS)
    return json.dumps({**owner._asdict(), "unique": os.urandom(8).hex()}).encode()


def _owner(data: bytes) -> Owner | None:
    try:
        content = json.loads(data)
        return Owner(str(content["name"]), str(content["commit"]), float(content["until"]))
    except (ValueError, KeyError, TypeError):
        return None


KEPT_OBJECTS = 6
"""Packed objects that are kept, two for each version, for readers that have just read an older `index.json`."""
WAIT_SECONDS = 1800.0
"""How long a writer waits for another one."""


@dataclass(frozen=True, slots=True)
class PublishReport:
    """A version that was published, or was there already."""

    version: SharedVersion
    is_new: bool
    added: int = 0
    updated: int = 0
    removed: int = 0
    seconds: float = 0.0


def publish(
    root: Path,
    place: ObjectPlace,
    progress: Progress,
    say: Callable[[str], None],
    *,
    with_model: bool = True,
    wait_seconds: float = WAIT_SECONDS,
) -> PublishReport:
    """Publish the commit that is checked out in a repository, from the tracked files of the commit alone."""
    started = time.monotonic()
    repository = find_repository(root)
    read_version(place)  # refuses a place that cannot be read, or was written by a newer dowse
    require_conditions(place)
    with writer_lease(place, repository.head, wait_seconds, say) as require_lease:
        found = read_version(place)
        before = found[0] if found else None
        with _working_index(root, before, place) as (index, tree):
            if before and _is_published(before, repository.head, index, with_model=with_model):
                return PublishReport(before, is_new=False)
            with open_objects(repository) as objects:
                write_commit_files(objects, tree, index.settings.max_file_bytes)
            report = index.update(progress)
            if not report.is_complete:
                raise KeyboardInterrupt
            read_missing_references(index, progress=progress)
            if with_model:
                encode_now(index, progress, say)
            require_lease()
            version = _upload(index, tree, place, before, repository.head)
            require_lease()
            if not write_version(place, version, found[1] if found else None):
                raise StoreBusy(f"Another process has published to {place.name} meanwhile. Try again.")
            _remove_old_objects(place, version)
    return PublishReport(
        version, is_new=True, added=report.added, updated=report.updated, removed=report.removed,
        seconds=time.monotonic() - started,
    )  # fmt: skip


def _is_published(version: SharedVersion, commit: str, index: ProjectIndex, *, with_model: bool) -> bool:
    """Return whether a version is what this publisher would make."""
    wanted = wanted_versions(index.whole, index.settings) if with_model else ()
    return (version.commit, version.recipe) == (commit, RECIPE) and set(wanted) <= set(version.encoders)


@contextlib.contextmanager
def _working_index(root: Path, before: SharedVersion | None, place: ObjectPlace) -> Iterator[tuple[ProjectIndex, Path]]:
    """Give a block an index of an empty folder, which begins with the version before; both are removed at the end."""
    settings = index_folder(root.resolve()) / "config.json"
    with working_folder() as around:
        tree = around / (root.resolve().name or "project")
        make_private_folder(tree)
        folder = index_folder(tree)
        make_private_folder(folder)
        if settings.exists():
            shutil.copyfile(settings, folder / "config.json")
        if before:
            fetch_index(place, before, folder, with_settings=False)
            (folder / SHARED_RECORD_FILE).write_text(json.dumps(dict(before.tables)), encoding="utf-8")
        index = ProjectIndex(tree)
        try:
            yield index, tree
        finally:
            index.close()
            close_log(folder)


def _upload(
    index: ProjectIndex, tree: Path, place: ObjectPlace, before: SharedVersion | None, commit: str
) -> SharedVersion:
    """Write everything of a new version but the object that makes it the current one."""
    store = index.whole
    tables = write_tables_to(store.folder, store.catalog, text_reader(index.kept_source), place.name, place.options)
    number = before.number + 1 if before else 1
    name = f"{number:06d}-{commit[:12]}-{time.time_ns():x}"
    keys = f"{PACKED_FOLDER}/{name}-index.zip", f"{PACKED_FOLDER}/{name}-files.zip"
    with tempfile.TemporaryDirectory(dir=tree.parent) as temporary:
        packed = Path(temporary) / "packed.zip"
        pack_index(index.folder, packed)
        place.upload(packed, keys[0])
        pack_files(tree, store.paths(), packed)
        place.upload(packed, keys[1])
    totals = [store.totals(kind) for kind in KINDS]
    return SharedVersion(
        tree.name, commit, number, datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"), *keys,
        asdict(tables), sum(total.documents for total in totals),
        sum(total.chunks for total in totals), RECIPE, store.catalog.encoders(),
    )  # fmt: skip


def _remove_old_objects(place: ObjectPlace, version: SharedVersion) -> None:
    """Remove packed objects that no reader needs any more. The next version removes those that cannot be removed now."""
    with contextlib.suppress(DowseError):
        for key in sorted(place.keys(PACKED_FOLDER))[:-KEPT_OBJECTS]:
            if key not in (version.packed_index, version.packed_files):
                place.remove(key)


LOCK_SECONDS = 60.0
"""How long to wait for another publisher that removes leftovers."""
_OWNER_LOCK = "publisher.lock"
"""In the folder of a publisher, which holds it for as long as it runs."""


@contextlib.contextmanager
def working_folder() -> Iterator[Path]:
    """Give a block an empty folder; at its end the folder is removed, with the indexes of the folders in it."""
    storage = storage_root()  # which is never a project: the files lie beside it
    base = storage.with_name(f"{storage.name}-publishing")
    make_private_folder(base)
    with Lock(base / "folders.lock").held(LOCK_SECONDS), disk_errors(base):  # a folder without its lock looks left over
        _remove_leftovers(base)
        folder = Path(tempfile.mkdtemp(dir=base)).resolve()
        owner = Lock(folder / _OWNER_LOCK)
        owner.acquire(0)
    try:
        yield folder
    finally:
        owner.release()
        _remove(folder)


def _remove_leftovers(base: Path) -> None:
    """Remove the folders of publishers that were killed: the system has released their locks."""
    for folder in filter(Path.is_dir, list(base.iterdir())):
        with contextlib.suppress(DowseError, OSError):  # what cannot be removed now is removed next time
            if not Lock(folder / _OWNER_LOCK).is_taken():
                _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, and before it the indexes of the folders in it, which are not found without them."""
    for root in filter(Path.is_dir, folder.glob("*")):
        shutil.rmtree(index_folder(root), ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
