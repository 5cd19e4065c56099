"""Answers of an index whose catalog turns out to be damaged: it is set aside, and built again from the files."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeVar

from dowse.errors import StoreDamaged
from dowse.indexes.index import ProjectIndex
from dowse.store.storage_layout import read_project
from dowse.types import Finding, Progress

Answer = TypeVar("Answer")


def was_indexed(index: ProjectIndex) -> bool:
    """Return whether there is an index, or the other files of one whose catalog was lost."""
    return index.has_catalog or read_project(index.folder) is not None


def check_whole(index: ProjectIndex, progress: Progress | None = None) -> list[Finding]:
    """Return everything that is wrong with an index, even if its catalog was lost; change nothing."""
    if not index.has_catalog and was_indexed(index):
        return [Finding("catalog", "catalog.sqlite is missing")]
    return index.check(progress)


def answer_or_rebuild(index: ProjectIndex, answer: Callable[[], Answer]) -> Answer:
    """Return an answer that brings the index up to date first; ask again for it if the catalog had to be set aside."""
    try:
        with setting_damage_aside(index):
            return answer()
    except StoreDamaged:
        return answer()


@contextlib.contextmanager
def setting_damage_aside(index: ProjectIndex) -> Iterator[None]:
    """Set the catalog aside if it turns out to be damaged in a block, which then ends with StoreDamaged."""
    try:
        yield
    except StoreDamaged as error:
        index.set_damaged_aside(error)
        raise
