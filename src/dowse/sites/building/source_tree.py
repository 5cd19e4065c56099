"""The files of a site, read as far as they may be."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dowse.platform import open_beneath
from dowse.sources.denylist import DenyList

MAX_FILE_BYTES = 16 << 20
"""No page is longer; what is, is data under the name of one."""
_SKIPPED_FOLDERS = frozenset({"node_modules", "bower_components", "vendor", "__pycache__"})
"""Folders of other people's files."""


@dataclass(frozen=True, slots=True)
class SourceTree:
    """A folder with the pages of a site; nothing outside it is read, whatever links in it say."""

    root: Path

    def files(self, folder: str, endings: tuple[str, ...]) -> Iterator[str]:
        """Paths below the root of all files in a folder with these endings, in order; hidden ones are not seen."""
        denied = DenyList(())
        for path in self._walk(folder.strip("/")):
            if path.lower().endswith(endings) and not denied.rule_against(path):
                yield path

    def read(self, path: str) -> bytes | None:
        """A file's content; None where it cannot be read or is too long to be a page."""
        try:
            with open_beneath(self.root, path) as descriptor, open(descriptor, "rb", closefd=False) as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError:
            return None
        return data if len(data) <= MAX_FILE_BYTES else None

    def text(self, path: str) -> str:
        """A settings file as text; empty where there is none."""
        return (self.read(path) or b"").decode("utf-8", "replace").removeprefix("\ufeff")

    def has_folder(self, path: str) -> bool:
        """Whether there is a folder of this name."""
        return (self.root / path).is_dir() and not (self.root / path).is_symlink()

    def has_file(self, path: str) -> bool:
        """Whether there is a file of this name."""
        return (self.root / path).is_file()

    def _walk(self, folder: str) -> Iterator[str]:
        try:
            entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED_FOLDERS:
                    yield from self._walk(path)
            elif entry.is_file(follow_symlinks=False):
                yield path
