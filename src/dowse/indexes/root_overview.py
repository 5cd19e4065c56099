"""What a folder has: its size, its languages, the files that changed last, and the files of one of its folders."""

from typing import NamedTuple

from dowse.indexes.index import ProjectIndex
from dowse.reading.languages import detect_language
from dowse.store.listings import LanguageTotal, ListedFile, files_below, language_totals, newest_files
from dowse.types import Entry

NEWEST_FILES = 8


class RootOverview(NamedTuple):
    """What the index of a root has."""

    languages: tuple[LanguageTotal, ...] = ()
    """The languages, those with the most bytes first."""
    newest: tuple[ListedFile, ...] = ()

    @property
    def size_bytes(self) -> int:
        """The size of all files together."""
        return sum(one.size for one in self.languages)


def root_overview(index: ProjectIndex) -> RootOverview:
    """Return what an index has; nothing while there is none."""
    if not index.exists:
        return RootOverview()
    catalog = index.store.catalog
    newest = (one for one in newest_files(catalog, index.view, NEWEST_FILES) if index.shows(one.path))
    return RootOverview(tuple(language_totals(catalog, index.view)), tuple(newest))


def folder_files(index: ProjectIndex, folder: str) -> list[ListedFile]:
    """Return the files below a folder, whose path ends in a slash or is empty: of the index, or while it grows of the disk."""
    if index.exists and index.is_ready():
        hidden = index.hidden_paths(folder.rstrip("/"))
        return [one for one in files_below(index.store.catalog, index.view, folder) if one.path not in hidden]
    entries = (entry for entry in index.source.entries(folder) if isinstance(entry, Entry) and entry.views & index.view)
    return [
        ListedFile(one.path, detect_language(one.path, b""), "", one.stat.size, one.stat.mtime_ns) for one in entries
    ]
