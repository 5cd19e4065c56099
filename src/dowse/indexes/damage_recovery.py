"""Errors of an index in the words of users, and answers of one that turns out to be damaged: it is built again."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from dowse.column_types import ODD_VALUES
from dowse.error_catalog import CATALOG
from dowse.errors import CatalogError, DiskFull, DowseError, StoreDamaged, UsageError
from dowse.indexes.index import ProjectIndex
from dowse.store.storage_layout import read_project
from dowse.types import Entry, Finding, Progress

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
    except ODD_VALUES as error:
        problems = _problems_of(index)
        if not problems:  # it is a mistake of ours
            raise
        damage = StoreDamaged(f"The catalog is damaged: {problems[0]}.")
        index.set_damaged_aside(damage)
        raise damage from error


def _problems_of(index: ProjectIndex) -> list[str]:
    try:
        return index.whole.catalog.problems() if index.has_catalog else []
    except DowseError as error:
        return [str(error)]


INDEX_SHARE = 1.5
"""Bytes of an index for each byte of text, for the message about a full disk: 0.8 to 1.4 on projects of 1 to 13 MB."""


def with_index_facts(error: DowseError, project: ProjectIndex) -> DowseError:
    """Return the error with what its messages say of the index it is about."""
    if isinstance(error, CatalogError | UsageError) or error.code not in CATALOG:
        return error
    facts: dict[str, Any] = {"detail": str(error), "index": shown_folder(project.folder), **error.facts}
    if error.code == DiskFull.code:
        free = shutil.disk_usage(_existing(project.folder)).free
        facts |= {"needed": _needed_mb(project), "available": free // 10**6}
    return CatalogError(error.code, **facts)


def shown_folder(folder: Path) -> str:
    """Return a folder as messages for developers name it: below the home directory as `~/…`."""
    home = Path.home()
    return f"~/{folder.relative_to(home)}/" if folder.is_relative_to(home) else f"{folder}/"


def _needed_mb(project: ProjectIndex) -> int:
    try:
        size = sum(found.stat.size for found in project.source.entries() if isinstance(found, Entry))
        return max(1, round(size * INDEX_SHARE / 10**6))
    except DowseError:
        return 1


def _existing(folder: Path) -> Path:
    return next(candidate for candidate in (folder, *folder.parents) if candidate.exists())
