"""Paths that another process has overtaken: it changed the store after they were compared with it."""

import contextlib
from collections.abc import Iterator

from dowse.errors import StoreBusy
from dowse.freshness.indexer import OpenTable, reindex
from dowse.sources.project_files import ProjectFiles
from dowse.store.local import LocalStore

_ATTEMPTS = 5
"""How often files are read again that other processes write to the index at the same time."""


@contextlib.contextmanager
def comparing(source: ProjectFiles, store: LocalStore, table: OpenTable) -> Iterator[None]:
    """Compare files with the store and apply what differs in this block; overtaken paths are compared again after it."""
    store.begin_work()
    yield
    for _ in range(_ATTEMPTS):
        lost = store.take_lost_paths()
        if not lost:
            return
        store.begin_work()
        reindex(source, store, lost, table)
    raise StoreBusy("Other processes keep changing the index. Try again.")
