"""Replacing a whole store: the old one is kept until the new one is built."""

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from dowse.platform import make_private_folder
from dowse.store.storage_layout import remove_forgotten_folders
from dowse.store.store_files import remove_store, store_files

_FOLDER_PREFIX = "replaced-"
FETCHED_PREFIX, SHARED_PREFIX = "fetched-", "shared-"
"""How the names of folders begin that hold a packed index, and a shared index whose vectors are taken."""


@contextlib.contextmanager
def replaced_store(folder: Path) -> Iterator[None]:
    """Build a new store in a block. If that fails, for example because the disk is full, the old one comes back."""
    kept = folder / f"{_FOLDER_PREFIX}{os.urandom(4).hex()}"
    make_private_folder(kept)
    _link(folder.glob("*.json"), kept)
    _move(store_files(folder), kept)
    try:
        yield
    except BaseException:
        remove_store(folder)
        _move(kept.iterdir(), folder)
        shutil.rmtree(kept, ignore_errors=True)
        raise
    shutil.rmtree(kept, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove folders of processes that were killed; only the caller may replace or fetch a store of `folder`."""
    for prefix in (_FOLDER_PREFIX, FETCHED_PREFIX, SHARED_PREFIX):
        for left in filter(Path.is_dir, folder.glob(f"{prefix}*")):
            shutil.rmtree(left, ignore_errors=True)
    remove_forgotten_folders()


def _link(files: Iterable[Path], target: Path) -> None:
    """Link files that the new store replaces; where there are no links, the next update renews them."""
    for file in files:
        with contextlib.suppress(OSError):
            (target / file.name).hardlink_to(file)


def _move(files: Iterable[Path], target: Path) -> None:
    for file in files:
        file.replace(target / file.name)
