"""Folders as a running program has them: answered at once, kept fresh while they are open, and left without a process."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.api.folder_target import FolderTarget
from dowse.api.results import Status
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_lookup import open_each
from dowse.indexes.project_search import Update, update_if_quick
from dowse.types import Progress, View

if TYPE_CHECKING:
    from dowse.keeping.indexing_run import IndexingRun
    from dowse.keeping.keeper import Keeper


class KeptFolders(FolderTarget):
    """Folders whose long indexing runs in a process that ends with them.

    The first question compares the files with the index, as a command does. From the third on, a thread watches them:
    it starts in the time of two searches, which a program of one question need not spend.
    """

    def __init__(self, indexes: Sequence[ProjectIndex]) -> None:
        super().__init__(indexes)
        self._runs: dict[Path, IndexingRun] = {}
        self._keepers: dict[Path, Keeper] = {}
        self._asked: set[Path] = set()

    def _updating(self, progress: Progress | None) -> Update:
        return partial(self._update, progress)

    def _update(self, progress: Progress | None, index: ProjectIndex, first: str) -> int:
        if keeper := self._keepers.get(index.root):
            return len(keeper.catch_up(index))
        left = update_if_quick(index, first, progress=progress, start=self._start)
        if index.root in self._asked and not left and index.is_ready():
            from dowse.keeping.keeper import Keeper  # a program of one question need not import it

            self._keepers[index.root] = Keeper(index.root)
        self._asked.add(index.root)
        return left

    def _start(self, index: ProjectIndex, first: str = "", how: str | None = None) -> None:  # noqa: ARG002 - the process chooses the order
        from dowse.keeping.indexing_run import start_run  # as above

        run = self._runs.get(index.root)
        if run is None or not run.is_running:
            self._runs[index.root] = start_run(index.root, index.view, how)

    def start_missing(self, *, rebuilds: bool = False) -> list[ProjectIndex]:
        """Bring small changes into the indexes and start a process for large ones; return the indexes that wait for one."""
        waiting = []
        for index in self.indexes.values():
            if rebuilds:
                from dowse.keeping.indexing_run import REBUILD

                self._start(index, how=REBUILD)
            elif not index.exists and not index.is_being_updated():
                self._start(index)
            elif (
                not index.is_being_updated() and not update_if_quick(index, "", start=self._start) and index.is_ready()
            ):
                continue
            waiting.append(index)
        return waiting

    def progress_of(self, index: ProjectIndex) -> tuple[int, int, bool]:
        """Return how many files of how many a process has indexed, and whether it goes on; raise its error."""
        run = self._runs.get(index.root)
        if run is None:
            found = index.status()
            return found.files, found.expected_files, index.is_being_updated()
        if run.error:
            raise run.error
        return run.done, run.total, run.is_running

    def status(self) -> list[Status]:
        """Return the state of each index."""
        return list(map(self._with_run, super().status()))

    def _with_run(self, status: Status) -> Status:
        """Return a state; that of an index whose process has just begun says so."""
        run = self._runs.get(self.indexes[status.name].root)
        if run is None or not run.is_running or status.state != "not_found":
            return status
        return replace(status, state="indexing", files=run.done, expected_files=run.total)

    def encode(self, progress: Progress) -> None:
        """Encode the chunks that lack a vector of the model."""
        from dowse.keeping.encoding_worker.encode_now import encode_now

        for index in self.indexes.values():
            encode_now(index, progress, lambda _text: None)

    def close(self) -> None:
        """End every process and thread, and close the indexes."""
        for run in self._runs.values():
            if run.is_running:
                run.stop()
        for keeper in self._keepers.values():
            keeper.stop()
        super().close()
        if "dowse.parsing.parser_pool" in sys.modules:
            from dowse.parsing.parser_pool import shared_pool

            shared_pool().release()


def open_folders(locations: Sequence[str | os.PathLike[str]], view: View) -> KeptFolders:
    """Open folders, and clones of the repositories whose addresses are given."""
    roots, warnings = list[Path](), list[str]()
    for text in map(str, locations):
        if "://" in text:
            from dowse.indexes.cloned_repositories import clone_or_fetch, parse_address  # most programs need it not

            root, warning = clone_or_fetch(parse_address(text))
            warnings += [warning] if warning else []
        else:
            root = Path(text).expanduser().absolute()
        roots.append(root)
    indexes = open_each(roots)
    indexes[0].warnings += warnings
    return KeptFolders([index.seen_as(view) for index in indexes])
