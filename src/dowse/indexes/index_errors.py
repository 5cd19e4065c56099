"""Errors of an index, with the facts that the messages of the error catalog name."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.error_catalog import CATALOG
from dowse.errors import CatalogError, DiskFull, DowseError, UsageError
from dowse.types import Entry

if TYPE_CHECKING:
    from dowse.indexes.index import ProjectIndex

INDEX_SHARE = 1.5
"""Bytes of an index for each byte of text, for the message about a full disk: 0.8 to 1.4 on projects of 1 to 13 MB."""


def with_index_facts(error: DowseError, project: "ProjectIndex") -> DowseError:
    """Return the error with what its messages say of the index it is about."""
    if isinstance(error, CatalogError | UsageError) or error.code not in CATALOG:
        return error
    facts: dict[str, Any] = {"detail": str(error), "index": shown_folder(project.folder)}
    if error.code == DiskFull.code:
        free = shutil.disk_usage(_existing(project.folder)).free
        facts |= {"needed": _needed_mb(project), "available": free // 10**6}
    return CatalogError(error.code, **facts)


def shown_folder(folder: Path) -> str:
    """Return a folder as messages for developers name it: below the home directory as `~/…`."""
    home = Path.home()
    return f"~/{folder.relative_to(home)}/" if folder.is_relative_to(home) else f"{folder}/"


def _needed_mb(project: "ProjectIndex") -> int:
    try:
        size = sum(found.stat.size for found in project.source.entries() if isinstance(found, Entry))
        return max(1, round(size * INDEX_SHARE / 10**6))
    except DowseError:
        return 1


def _existing(folder: Path) -> Path:
    return next(candidate for candidate in (folder, *folder.parents) if candidate.exists())
