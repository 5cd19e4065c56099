"""The index of one archive: that of any other root, of documents that may have several files, and without vectors."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dowse.archives.archive_files import ArchiveFiles
from dowse.archives.archive_locations import Archive, ArchiveLocations
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_lookup import open_or_find
from dowse.settings import Settings
from dowse.store.storage_layout import index_folder
from dowse.types import View


class ArchiveIndex(ProjectIndex):
    """The index of one archive."""

    def __init__(self, root: Path, view: View = View.DOCUMENTS) -> None:
        super().__init__(root, view)

    @classmethod
    def folder_of(cls, root: Path) -> Path:
        """Return the folder of the index of an archive, whether or not it exists."""
        return index_folder(root, "archives")

    def _require_root(self, root: Path) -> None:
        """Accept a folder that is missing, if it has an index: it may be on a disk that is not plugged in."""
        if not has_index(root):
            super()._require_root(root)

    def _load_settings(self) -> tuple[Settings, list[str]]:
        settings, warnings = super()._load_settings()
        return replace(settings, encoder="none", store="local", shared_index=None), warnings

    def _write_settings(self) -> None:
        """Write nothing: most settings are not about archives."""

    def _make_source(self, views: View) -> ArchiveFiles:  # noqa: ARG002 - an archive has one view
        return ArchiveFiles(self.root, self.settings)


def has_index(root: Path) -> bool:
    """Return whether an archive is indexed."""
    return (ArchiveIndex.folder_of(root) / "catalog.sqlite").exists()


def searchable_roots(locations: ArchiveLocations) -> dict[Archive, Path]:
    """Return the folders of the archives that can be searched: those that exist, and missing ones that are indexed."""
    return {archive: root for archive, root in locations.roots.items() if root.is_dir() or has_index(root)}


def find_index(folder: Path | None) -> ProjectIndex:
    """Return the index of a folder that is an archive alone, else that of the project which contains it."""
    is_project = folder is None or (index_folder(folder) / "catalog.sqlite").exists()
    return ArchiveIndex(folder) if folder and not is_project and has_index(folder) else open_or_find(folder)


@contextlib.contextmanager
def open_indexes(locations: ArchiveLocations, *, with_missing: bool = False) -> Iterator[dict[Archive, ArchiveIndex]]:
    """Give a block the indexes of the archives that exist, or of those that can be searched."""
    roots = searchable_roots(locations) if with_missing else locations.present
    with contextlib.ExitStack() as stack:
        yield {archive: stack.enter_context(contextlib.closing(ArchiveIndex(root))) for archive, root in roots.items()}
