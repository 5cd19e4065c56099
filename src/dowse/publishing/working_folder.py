"""The folder of a publisher on its machine, with the files of the commit; the next publisher removes it after a kill."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import DowseError
from dowse.platform import Lock, disk_errors, make_private_folder, storage_root
from dowse.store.storage_layout import index_folder

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
